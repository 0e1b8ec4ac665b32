/** Begins a session with an authorization code, or with tokens. */
import { Refused } from './errors.ts'
import type { Wishes } from './login/authorization.ts'
import type { Code } from './login/log-in.ts'
import { newProofKey, type ProofKey } from './proof-key.ts'
import type { SavedSession } from './saved-session.ts'
import { createSession, type Server, type Session, type SessionOptions } from './session.ts'
import type { TokenAnswer, TokenEndpoint } from './tokens.ts'

type Exchange = Wishes & { readonly signal?: AbortSignal | undefined }

/** Exchanges the code, and begins a session with the tokens. */
export async function beginSession(
  server: Server,
  { code, proof, secondaryJwt }: Code,
  options: SessionOptions & Exchange,
): Promise<Session> {
  const { got, key } = await exchanged(server, { code, ...proof }, options)
  return beginWithTokens(server, got, key, {
    ...options,
    nonce: proof.nonce,
    firstSecondaryJwt: secondaryJwt,
  })
}

/** `nonce`: undefined if the tokens did not come through a browser. */
export async function beginWithTokens(
  server: Server,
  got: TokenAnswer,
  key: ProofKey | undefined,
  options: Parameters<typeof createSession>[2] & { readonly nonce: string | undefined },
): Promise<Session> {
  const expected = { accessToken: got.accessToken, nonce: options.nonce, before: undefined }
  const claims = await server.idTokens.verify(got.idToken, expected)
  const dpop = key === undefined ? {} : { dpopKey: key.jwk }
  const saved: SavedSession = { version: 1, ...server.place, ...got, ...dpop, claims }
  const { session, keep } = createSession({ ...server, key }, saved, options)
  await keep()
  return session
}

/** Without a key, the code is not spent if the policy requires one (D-454). */
async function exchanged(
  { tokens, keyTools }: Server,
  code: Parameters<TokenEndpoint['exchange']>[0],
  { dpop, signal }: Exchange,
): Promise<{ readonly got: TokenAnswer; readonly key: ProofKey | undefined }> {
  try {
    return { got: await tokens.exchange(code, signal), key: code.key }
  } catch (error) {
    const isRequired = error instanceof Refused && error.code === 'invalid_dpop_proof'
    if (!isRequired || code.key !== undefined || dpop === 'never') throw error
    const key = newProofKey(keyTools)
    return { got: await tokens.exchange({ ...code, key }, signal), key }
  }
}
