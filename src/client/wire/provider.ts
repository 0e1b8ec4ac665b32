/**
 * The metadata of a server: SPEC Discovery; OIDC Discovery §4.3, RFC 8414 §3.3. The issuer must be the requested
 * address, and every endpoint must be there too, so that a foreign document cannot redirect credentials.
 */
import type { JsonObject } from '../../base/json.ts'
import { PROVIDER_PREFIX } from '../../protocol/oidc.ts'
import { Refused, UnexpectedAnswer } from '../errors.ts'
import { codeOf, jsonOf, refusalIn, refusalOf } from './answers.ts'
import type { Wire } from './https-wire.ts'

export interface Provider {
  readonly issuer: string
  readonly authorization: URL
  readonly token: URL
  readonly keys: URL
  /** RFC 8628 §4; undefined if the server does not have it. */
  readonly deviceAuthorization?: URL
  readonly endSession: URL
  /** RFC 9207 §3: whether an authorization response must contain its issuer. */
  readonly namesIssuer: boolean
  /** RFC 9449 §5.1: whether tokens can be bound to a key as we make it. */
  readonly bindsTokens: boolean
  /** SPEC Primary login, SPEC Secondary factors and TOTP: their paths are fixed. */
  loginUrl(path: LoginPath): URL
}

export type LoginPath =
  | 'username'
  | 'cert'
  | 'ext-jwt'
  | 'totp'
  | 'totp/enroll'
  | 'totp/enroll/verify'

/** Accepts exactly `https://HOST[:PORT]`. Throws a TypeError. */
export function parseOrigin(text: string, name = 'url'): URL {
  const url = URL.parse(text)
  const isPlain =
    url?.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    url.pathname === '/' &&
    url.search === '' &&
    url.hash === ''
  if (url === null || !isPlain) throw new TypeError(`${name} is not https://HOST:PORT`)
  return url
}

/** A server may name anything as its issuer; only what can be an address is repeated. */
const ADDRESS = /^https:\/\/[\w.:[\]-]{1,261}$/

export async function discover(
  wire: Pick<Wire, 'send'>,
  origin: URL,
  signal: AbortSignal | undefined,
): Promise<Provider> {
  const url = new URL(`${PROVIDER_PREFIX}/.well-known/openid-configuration`, origin)
  const headers = { accept: 'application/json' }
  const answer = await wire.send({ method: 'GET', url, headers, signal })
  if (answer.status === 421) {
    const code = codeOf(answer) ?? 'MISDIRECTED_REQUEST'
    const sentence = `${origin.origin} is not an address of this server (${code})`
    throw new Refused(code, sentence, refusalIn(answer))
  }
  if (answer.status !== 200) throw refusalOf(answer, 'discovery')
  const document = jsonOf(answer)
  if (document === undefined) throw new UnexpectedAnswer('the discovery document is not JSON')

  const issuer = document['issuer']
  if (issuer !== `${origin.origin}${PROVIDER_PREFIX}`) {
    const other = (typeof issuer === 'string' && URL.parse(issuer)?.origin) || ''
    throw new UnexpectedAnswer(
      !ADDRESS.test(other) || other === origin.origin
        ? 'the discovery document is that of another issuer'
        : `the discovery document is that of ${other}, not of ${origin.origin}`,
    )
  }
  return {
    issuer,
    authorization: endpoint(document, 'authorization_endpoint', origin),
    token: endpoint(document, 'token_endpoint', origin),
    keys: endpoint(document, 'jwks_uri', origin),
    ...(document['device_authorization_endpoint'] === undefined
      ? {}
      : { deviceAuthorization: endpoint(document, 'device_authorization_endpoint', origin) }),
    endSession: endpoint(document, 'end_session_endpoint', origin),
    namesIssuer: document['authorization_response_iss_parameter_supported'] === true,
    bindsTokens: isES256Offered(document['dpop_signing_alg_values_supported']),
    loginUrl: (path) => new URL(`${PROVIDER_PREFIX}/login/${path}`, origin),
  }
}

function isES256Offered(algorithms: unknown): boolean {
  return Array.isArray(algorithms) && algorithms.includes('ES256')
}

function endpoint(document: JsonObject, name: string, { origin }: URL): URL {
  const text = document[name]
  const url = typeof text === 'string' ? URL.parse(text) : null
  if (url === null || url.origin !== origin || url.username !== '' || url.hash !== '') {
    throw new UnexpectedAnswer(`the discovery document names no ${name} at its own address`)
  }
  return url
}
