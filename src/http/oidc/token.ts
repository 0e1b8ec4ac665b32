/**
 * POST /oidc/token: SPEC Token, D-28. Only reads the parameters; the use case of each grant validates them.
 */

import type { FormFields } from '../../base/form.ts'
import type { IdentityId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { Caller } from '../../domain/audit/events.ts'
import { exchangeDeviceCode } from '../../domain/device/exchange-device-code.ts'
import type { DevicePorts } from '../../domain/device/ports.ts'
import { invalid } from '../../domain/refusals.ts'
import { exchangeCode } from '../../domain/tokens/exchange-code.ts'
import type { IssuedTokens } from '../../domain/tokens/issue.ts'
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import { type ProvenKey, readProvenKey } from '../../domain/tokens/possession/proven-key.ts'
import { refresh } from '../../domain/tokens/refresh.ts'
import { Failure } from '../../errors/catalogue.ts'
import { DEVICE_CODE_GRANT, GRANT_TYPES, type GrantType } from '../../protocol/oauth.ts'
import type { RedirectPattern } from '../../protocol/redirect-uri.ts'
import { json } from '../answer.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Body } from '../reading/body.ts'
import { type RequestHead, rawValues } from '../reading/header-fields.ts'
import type { Router } from '../router.ts'
import { PATHS } from './paths.ts'

type Counters = Pick<ListenerParts, 'counters'>

interface TokenListener extends Counters {
  readonly allowedRedirects: readonly RedirectPattern[]
}

/** A grant that only some installations have: returns the whole response. */
export type OtherGrant = (ports: TokenPorts, asked: Asked, listener: Counters) => Promise<Granted>

export interface Granted {
  readonly identityId: IdentityId
  readonly body: object
}

export function addToken(
  router: Router,
  ports: DevicePorts,
  listener: TokenListener,
  also: {
    readonly url?: string
    readonly grants?: Readonly<Record<string, OtherGrant>>
  } = {},
): void {
  const grants = new Map(Object.entries(also.grants ?? {}))
  router.add(
    {
      method: 'POST',
      url: also.url ?? PATHS.token,
      access: 'login',
      face: { json: 'oauth', pages: false },
      cors: 'listed',
      reads: ['form'],
      replies: [200, 401],
    },
    async (call) => {
      const one = singleFields(call.body)
      const grantType = required(one, 'grant_type')
      const known = GRANT_TYPES.find((type) => type === grantType)
      const other = grants.get(grantType)
      if (known === undefined && other === undefined) throw new Failure('UNSUPPORTED_GRANT_TYPE')
      const clientId = readClientId(call, one('client_id'), one('client_secret'))
      // RFC 9449 §5: with any grant. Before the grant is looked at, so that a missing nonce spends nothing.
      const key = await readProvenKey(ports, call.presentedProof())
      const asked: Asked = { one, clientId, key, caller: call.caller }
      if (other !== undefined) {
        const granted = await other(ports, asked, listener)
        call.isFrom(granted)
        return json(200, granted.body)
      }
      const tokens = await GRANTS[known as GrantType](ports, asked, listener)
      call.isFrom(tokens)
      const { refreshToken } = tokens
      return json(200, {
        access_token: tokens.accessToken,
        id_token: tokens.idToken,
        ...(refreshToken === undefined ? {} : { refresh_token: refreshToken.reveal() }),
        token_type: tokens.tokenType,
        expires_in: tokens.expiresInSeconds,
        // D-324: only where there is something to refresh with.
        ...(refreshToken === undefined ? {} : { refresh_after: tokens.refreshAfterSeconds }),
        scope: tokens.scope,
      })
    },
  )
}

type One = (name: string) => string | undefined

export interface Asked {
  readonly one: One
  readonly clientId: string
  /** The key that the client proved, if it did. */
  readonly key: ProvenKey | undefined
  readonly caller: Caller
}

/** Each grant reads its own parameters. */
const GRANTS: Readonly<
  Record<
    GrantType,
    (ports: DevicePorts, asked: Asked, listener: TokenListener) => Promise<IssuedTokens>
  >
> = {
  authorization_code(ports, { one, clientId, key, caller }, { allowedRedirects }) {
    const code = required(one, 'code')
    const codeVerifier = one('code_verifier')
    return exchangeCode(ports, {
      clientId,
      code: new Secret(code),
      redirectUri: one('redirect_uri'),
      allowedRedirects,
      codeVerifier: codeVerifier === undefined ? undefined : new Secret(codeVerifier),
      key,
      caller,
    })
  },

  refresh_token(ports, { one, clientId, key, caller }, { counters }) {
    const refreshed = refresh(ports, {
      clientId,
      refreshToken: new Secret(required(one, 'refresh_token')),
      scope: one('scope'),
      key,
      caller,
    })
    return counters.countRefresh(refreshed)
  },

  [DEVICE_CODE_GRANT](ports, { one, clientId, key, caller }) {
    const deviceCode = new Secret(required(one, 'device_code'))
    return exchangeDeviceCode(ports, { clientId, deviceCode, key, caller })
  },
}

/** Reads the form fields. RFC 6749 §3.2: a parameter must not be sent more than once (R014). */
export function singleFields(body: Body): One {
  const fields: FormFields = body.kind === 'form' ? body.fields : new Map()
  for (const [field, values] of fields) {
    if (values.length > 1) throw invalid(field.slice(0, 64), 'is repeated')
  }
  return (name) => fields.get(name)?.[0]
}

/** Throws COULD_NOT_VALIDATE if the form does not have it. */
export function required(one: One, name: string): string {
  const value = one(name)
  if (value === undefined) throw invalid(name, 'is missing')
  return value
}

/** From the form, or from the user name of HTTP Basic with an empty password (D-28). */
export function readClientId(
  head: RequestHead,
  inForm: string | undefined,
  secret: string | undefined,
): string {
  const basic = readBasic(head)
  if (secret !== undefined || (basic !== undefined && basic.password !== '')) {
    throw new Failure('CLIENT_HAS_NO_SECRET')
  }
  if (inForm !== undefined && basic !== undefined && inForm !== basic.user) {
    throw invalid('client_id', 'is given with two different values')
  }
  const clientId = inForm ?? basic?.user
  if (clientId === undefined) throw new Failure('INVALID_CLIENT')
  return clientId
}

/** RFC 6749 §2.3.1: user and password are form-encoded inside the base64. */
function readBasic(head: RequestHead): { user: string; password: string } | undefined {
  const fields = rawValues(head, 'authorization')
  const encoded = fields.map((field) => /^basic +(\S+) *$/i.exec(field)?.[1]).find(Boolean)
  if (encoded === undefined) return undefined
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  try {
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', ' '))
    return colon < 0
      ? { user: decode(text), password: '' }
      : { user: decode(text.slice(0, colon)), password: decode(text.slice(colon + 1)) }
  } catch {
    throw new Failure('INVALID_CLIENT')
  }
}
