/** How long a username may be: API 4.2. Also after folding, which can make a text many times as long. */
import { invalid } from '../refusals.ts'
import { usernameKey } from './authenticator.ts'

const LONGEST_USERNAME = 256

/** Thrown: COULD_NOT_VALIDATE. */
export function refuseLongUsername(username: string): void {
  if (usernameKey(username).length <= LONGEST_USERNAME) return
  throw invalid('username', `must have at most ${LONGEST_USERNAME} characters`)
}
