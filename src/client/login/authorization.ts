/**
 * Both ends of an authorization request: the parameters that a login begins with, and the response that must belong to
 * it. SPEC Authorization; PKCE (RFC 7636), state (RFC 6749 §10.12), nonce (OIDC Core §15.5.2), iss (RFC 9207).
 */
import { base64url, sha256 } from '../../base/encoding.ts'
import { parseForm } from '../../base/form.ts'
import type { Random } from '../../base/secrets/random.ts'
import { LoginRefused, UnexpectedAnswer } from '../errors.ts'
import type { ProofKey } from '../proof-key.ts'
import type { Provider } from '../wire/provider.ts'

/** What to request in addition to the login itself. */
export interface Wishes {
  /** In addition to `openid`. Default: `offline_access`, without which nothing can be refreshed. */
  readonly scopes?: readonly ('profile' | 'offline_access')[] | undefined
  /** SPEC Access token: configuration type ids for `z_ct`. */
  readonly configTypes?: readonly string[] | undefined
  /**
   * Whether the tokens are bound to a key of this session, so that a copy of a token is worth nothing (RFC 9449): if the
   * server offers it, or only if the policy of the identity requires it, or not at all. Default: `when-offered`. A login
   * with a certificate binds its tokens to that, and only uses a key if the policy requires one.
   */
  readonly dpop?: 'when-offered' | 'when-required' | 'never' | undefined
}

export type Method = 'password' | 'cert' | 'ext-jwt'

/** One login, from its first request to its code. Nothing in it is used twice. */
export interface Proof {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly redirectUri: string
  /** What the code, and the session, are bound to. */
  readonly key?: ProofKey | undefined
}

const DRAWN_BYTES = 32

export function newProof(random: Random, redirectUri: string, key?: ProofKey): Proof {
  const draw = () => base64url(random.bytes(DRAWN_BYTES))
  return { state: draw(), nonce: draw(), verifier: draw(), redirectUri, key }
}

export function authorizationUrl(
  provider: Pick<Provider, 'authorization'>,
  clientId: string,
  { state, nonce, verifier, redirectUri, key }: Proof,
  wishes: Wishes & { readonly method?: Method | undefined },
): URL {
  const { scopes = ['offline_access'], configTypes = [], method } = wishes
  const url = new URL(provider.authorization)
  const parameters: readonly (readonly [string, string])[] = [
    ['response_type', 'code'],
    ['client_id', clientId],
    ['redirect_uri', redirectUri],
    ['scope', ['openid', ...scopes].join(' ')],
    ['state', state],
    ['nonce', nonce],
    ['code_challenge', base64url(sha256(verifier))],
    ['code_challenge_method', 'S256'],
    ...(key === undefined ? [] : [['dpop_jkt', key.jkt] as const]),
    ...(method === undefined ? [] : [['method', method] as const]),
    ...configTypes.map((id) => ['configTypes', id] as const),
  ]
  for (const [name, value] of parameters) url.searchParams.append(name, value)
  return url
}

/** What came back: something that is not for this login, the code, or why there is none. */
export type ClientAnswer =
  | { readonly outcome: 'not-ours' }
  | { readonly outcome: 'code'; readonly code: string }
  | { readonly outcome: 'failed'; readonly error: UnexpectedAnswer | LoginRefused }

/** Parses the query of the redirect URI. It belongs to this login only if the state is right. */
export function readClientAnswer(
  query: string,
  { state }: Pick<Proof, 'state'>,
  { issuer, namesIssuer }: Pick<Provider, 'issuer' | 'namesIssuer'>,
): ClientAnswer {
  const fields = parseForm(query)
  if (fields?.get('state')?.length !== 1 || fields.get('state')?.[0] !== state) {
    return { outcome: 'not-ours' }
  }
  const failed = (message: string): ClientAnswer => ({
    outcome: 'failed',
    error: new UnexpectedAnswer(message),
  })
  if ([...fields.values()].some(({ length }) => length > 1)) {
    return failed('the answer to the login names something twice')
  }
  const one = (name: string) => fields.get(name)?.[0]
  const iss = one('iss')
  if (iss === undefined ? namesIssuer : iss !== issuer) {
    return failed('the answer to the login comes from another issuer')
  }
  const error = one('error')
  if (error !== undefined) {
    const code = /^[a-z_]{1,64}$/.test(error) ? error : 'unknown_error'
    const refused = new LoginRefused(code, `the login was refused (${code})`, { status: 302 })
    return { outcome: 'failed', error: refused }
  }
  const code = one('code')
  if (code === undefined) return failed('the answer to the login has no code')
  return { outcome: 'code', code }
}
