/**
 * The login of a browser for a web server: the browser goes to the login and comes back with a code. What belongs to
 * the login is stored with that browser, because a response is accepted only in the browser that began it (RFC 6749
 * §10.12).
 */
import { UnexpectedAnswer } from '../errors.ts'
import type { Provider } from '../wire/provider.ts'
import { type Proof, readClientAnswer } from './authorization.ts'
import type { Code } from './log-in.ts'

export interface RedirectLogin {
  /** Where the browser goes. */
  readonly url: string
  /** Store it where only this browser brings it back, and use it once. It is secret. */
  readonly proof: Proof
}

/** Returns the code. Throws LoginRefused, or UnexpectedAnswer if the query belongs to another login. */
export function codeOfRedirect(
  proof: Proof,
  query: string,
  provider: Pick<Provider, 'issuer' | 'namesIssuer'>,
): Code {
  const answer = readClientAnswer(query, proof, provider)
  if (answer.outcome === 'failed') throw answer.error
  if (answer.outcome === 'not-ours') {
    throw new UnexpectedAnswer('the answer belongs to another login')
  }
  return { code: answer.code, proof, secondaryJwt: undefined }
}
