/** The first credential of a login: SPEC Primary login. */
import type { ClientCertificate } from '../wire/https-wire.ts'
import type { Method } from './authorization.ts'
import { checkedJwt } from './factors.ts'

export type Credential =
  | { readonly method: 'password'; readonly username: string; readonly password: string }
  /** Presented in the handshake. The session's calls present it too, for policies that require it (API 4.4). */
  | ({ readonly method: 'cert' } & ClientCertificate)
  /** Of an External JWT Signer that the server knows. */
  | { readonly method: 'ext-jwt'; readonly jwt: string }

/** The endpoint of each: D-4. */
export const LOGIN_PATHS = {
  password: 'username',
  cert: 'cert',
  'ext-jwt': 'ext-jwt',
} as const satisfies Record<Method, string>

export function certificateOf(credential: Credential): ClientCertificate | undefined {
  return credential.method === 'cert' ? { cert: credential.cert, key: credential.key } : undefined
}

/** Returns the part that goes into the body. */
export function bodyOf(credential: Credential): Readonly<Record<string, string>> {
  if (credential.method !== 'password') return {}
  return { username: credential.username, password: credential.password }
}

/** D-14: its own JWT first, then the secondary one, each in a separate field. */
export function bearersOf(
  credential: Credential,
  secondaryJwt: string | undefined,
): readonly string[] {
  const own = credential.method === 'ext-jwt' ? [checkedJwt(credential.jwt)] : []
  return [...own, ...(secondaryJwt === undefined ? [] : [secondaryJwt])]
}

/** A token that is bound to a key has a scheme of its own (RFC 9449 §7.1); a secondary JWT beside it has not. */
export function sessionFields(
  token: string,
  isBound: boolean,
  secondaryJwt: string | undefined,
): Readonly<Record<string, readonly string[]>> {
  const own = `${isBound ? 'DPoP' : 'Bearer'} ${token}`
  return { authorization: secondaryJwt === undefined ? [own] : [own, `Bearer ${secondaryJwt}`] }
}

export function authorizationFields(
  tokens: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  return tokens.length === 0 ? {} : { authorization: tokens.map((token) => `Bearer ${token}`) }
}
