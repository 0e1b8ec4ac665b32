/**
 * POST /authenticate and POST /authenticate/mfa, on both APIs: SPEC Legacy authentication; D-51. The answer is the
 * session, with its token once, in the body and in the header `zt-session`.
 */
import type { FastifyRequest } from 'fastify'
import type { FormFields } from '../../base/form.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { LegacyApiSession } from '../../contract/current-api-session.ts'
import type { PrimaryCredential } from '../../domain/login/prove-primary.ts'
import { PRIMARY_METHODS, type PrimaryMethod } from '../../domain/login/proven.ts'
import type { AuthenticateLegacy } from '../../domain/sessions/authenticate-legacy.ts'
import type { SessionMfa } from '../../domain/sessions/session-mfa.ts'
import { ZT_SESSION_HEADER } from '../../protocol/headers.ts'
import { json, withCookies } from '../answer.ts'
import { totpRequired } from '../faces/challenge-header.ts'
import { bearersOf } from '../reading/bearers.ts'
import { bodyFields } from '../reading/body.ts'
import { codeField, type Fields, invalid, textList } from '../reading/fields.ts'
import { deviceCookie, shownDevice } from '../reading/known-device.ts'
import { passwordCredentials } from '../reading/password-fields.ts'
import { presentedChain } from '../reading/peer-certificate.ts'
import { expiryHeaders, type Router } from '../route.ts'
import { readClient } from './client-info.ts'
import { sessionBody } from './current/current-api-session.ts'
import { API_ROUTE } from './route-defaults.ts'

export function addAuthenticate(
  router: Router,
  prefix: string,
  use: {
    readonly authenticateLegacy: AuthenticateLegacy
    readonly sessionMfa: Pick<SessionMfa, 'prove'>
    readonly clock: Clock
  },
): void {
  const url = `${prefix}/authenticate`
  router.add(
    {
      ...API_ROUTE,
      access: 'login',
      method: 'POST',
      url,
      reads: ['json', 'form'],
      replies: [200, 401, 429],
    },
    async ({ request, query, body, caller }) => {
      const fields = bodyFields(body)
      const { session, identity, token, authQueries, device } = await use.authenticateLegacy({
        credential: readCredential(request, query, fields),
        bearers: bearersOf(request),
        configTypes: textList(fields, 'configTypes'),
        client: readClient(fields),
        caller,
        device: shownDevice(request, fields),
      })
      request.identity = identity.id
      const isMfaComplete = authQueries.length === 0
      const detail = { session, identity, authQueries, isMfaComplete }
      const data: LegacyApiSession = {
        ...sessionBody(
          { ...detail, isMfaRequired: session.isTotpDemanded },
          session.expiresAt,
          use.clock,
        ),
        token: token.reveal(),
      }
      const answer = json(
        200,
        { data, meta: {} },
        {
          [ZT_SESSION_HEADER]: token.reveal(),
          ...expiryHeaders(session.expiresAt, use.clock),
          ...totpRequired(authQueries),
        },
      )
      return device === undefined ? answer : withCookies(answer, [deviceCookie(device)])
    },
  )

  router.add(
    {
      ...API_ROUTE,
      access: 'partial',
      method: 'POST',
      url: `${url}/mfa`,
      reads: ['json', 'form'],
      replies: [200, 401, 409, 429],
    },
    async ({ body, session, caller }) => {
      await use.sessionMfa.prove(session, codeField(bodyFields(body)), caller)
      return json(200, { data: {}, meta: {} })
    },
  )
}

function readCredential(
  request: FastifyRequest,
  query: FormFields,
  fields: Fields,
): PrimaryCredential {
  const method = readMethod(query) ?? inferMethod(request, fields)
  switch (method) {
    case 'password':
      return { method, credentials: passwordCredentials(fields) }
    case 'cert':
      return { method, chain: presentedChain(request) }
    case 'ext-jwt':
      return { method }
  }
}

function readMethod(query: FormFields): PrimaryMethod | undefined {
  const [asked, ...others] = query.get('method') ?? []
  if (asked === undefined) return undefined
  const method = PRIMARY_METHODS.find((known) => known === asked)
  if (method !== undefined && others.length === 0) return method
  throw invalid('method', `must be one of ${PRIMARY_METHODS.join(', ')}`)
}

/** D-51: username in the body, else bearer, else client certificate. */
function inferMethod(request: FastifyRequest, fields: Fields): PrimaryMethod {
  if (fields.has('username')) return 'password'
  return bearersOf(request).length > 0 ? 'ext-jwt' : 'cert'
}
