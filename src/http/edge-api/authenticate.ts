/**
 * POST /authenticate and POST /authenticate/mfa, on both APIs: SPEC Legacy authentication; D-51. Returns the session.
 * Its token is returned only here, in the body and in the header `zt-session`.
 */

import { Authenticate, Code } from '../../contract/authenticate.ts'
import { AuthenticateReply, type LegacyApiSession } from '../../contract/current-api-session.ts'
import { PRIMARY_METHODS, type PrimaryMethod } from '../../domain/identities/primary-methods.ts'
import type { PrimaryCredential } from '../../domain/login/prove-primary.ts'
import { invalid } from '../../domain/refusals.ts'
import { authenticateLegacy } from '../../domain/sessions/authenticate-legacy.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import { proveInSession } from '../../domain/sessions/session-factors.ts'
import { ZT_SESSION_HEADER } from '../../protocol/headers.ts'
import { json, withCookies } from '../answer.ts'
import type { Call } from '../call.ts'
import { totpRequired } from '../faces/challenge-header.ts'
import { bearersOf } from '../reading/bearers.ts'
import { bodyFields } from '../reading/body.ts'
import { fieldsBody } from '../reading/declared-body.ts'
import { codeField, type Fields, passwordCredentials, textList } from '../reading/fields.ts'
import { deviceCookie, shownDevice } from '../reading/known-device.ts'
import { expiryHeaders } from '../router.ts'
import type { Api } from './api.ts'
import { readClient } from './client-info.ts'
import { sessionBody } from './current/current-api-session.ts'

export function addAuthenticate(api: Api, ports: SessionPorts): void {
  api.add(
    {
      method: 'POST',
      path: '/authenticate',
      access: 'login',
      summary: 'Log in and begin a legacy session',
      description:
        'With username and password in the body, with the client certificate of the connection, or with an external JWT ' +
        'as bearer token. While `authQueries` in the response is not empty, the session is partial: it may only complete ' +
        'its login or end.',
      query: {
        method:
          '`password`, `cert` or `ext-jwt`. Default: what the request contains, in this order: a username, a bearer ' +
          'token, a client certificate.',
      },
      body: fieldsBody(Authenticate),
      answers: { 200: AuthenticateReply },
      answerHeaders: [ZT_SESSION_HEADER],
      codes: ['INVALID_AUTH', 'UNAUTHORIZED', 'RATE_LIMITED', 'SERVER_TOO_BUSY'],
    },
    async (call) => {
      const fields = bodyFields(call.body)
      const { session, identity, token, authQueries, device } = await authenticateLegacy(ports, {
        credential: readCredential(call, fields),
        bearers: bearersOf(call),
        configTypes: textList(fields, 'configTypes'),
        client: readClient(fields),
        caller: call.caller,
        device: shownDevice(call, fields),
      })
      call.isFrom({ identityId: identity.id })
      const isMfaComplete = authQueries.length === 0
      const detail = { session, identity, authQueries, isMfaComplete }
      const data: LegacyApiSession = {
        ...sessionBody(
          { ...detail, isMfaRequired: session.demanded.size > 0 },
          session.expiresAt,
          ports.clock,
        ),
        token: token.reveal(),
      }
      const answer = json(
        200,
        { data, meta: {} },
        {
          [ZT_SESSION_HEADER]: token.reveal(),
          ...expiryHeaders(session.expiresAt, ports.clock),
          ...totpRequired(authQueries),
        },
      )
      return device === undefined ? answer : withCookies(answer, [deviceCookie(device)])
    },
  )

  api.act(
    {
      method: 'POST',
      path: '/authenticate/mfa',
      access: 'partial',
      summary: 'Prove the TOTP code of a partial session',
      body: fieldsBody(Code),
      codes: ['MFA_INVALID_TOKEN', 'MFA_NOT_ENROLLED', 'RATE_LIMITED'],
    },
    async ({ body, session, caller }) => {
      const answer = codeField(bodyFields(body))
      await proveInSession(ports, { factor: 'totp', session }, { answer, caller })
    },
  )
}

type Shown = Pick<Call, 'query' | 'rawHeaders' | 'certificateChain'>

function readCredential(call: Shown, fields: Fields): PrimaryCredential {
  const method = readMethod(call) ?? inferMethod(call, fields)
  switch (method) {
    case 'password':
      return { method, credentials: passwordCredentials(fields) }
    case 'cert':
      return { method, chain: call.certificateChain() }
    case 'ext-jwt':
      return { method }
  }
}

/** A passkey answers a challenge of an OIDC login, and there is none here (D-431). */
type LegacyMethod = Exclude<PrimaryMethod, 'passkey'>
const METHODS = PRIMARY_METHODS.filter((method) => method !== 'passkey')

function readMethod({ query }: Shown): LegacyMethod | undefined {
  const [asked, ...others] = query.get('method') ?? []
  if (asked === undefined) return undefined
  const method = METHODS.find((known) => known === asked)
  if (method !== undefined && others.length === 0) return method
  throw invalid('method', `must be one of ${METHODS.join(', ')}`)
}

/** D-51: username in the body, else bearer, else client certificate. */
function inferMethod(call: Shown, fields: Fields): LegacyMethod {
  if (fields.has('username')) return 'password'
  return bearersOf(call).length > 0 ? 'ext-jwt' : 'cert'
}
