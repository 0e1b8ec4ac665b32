/** Limits on guessing the answer of a second factor, whichever it is: D-18, D-108. */
import type { IdentityId } from '../../../base/ids.ts'
import { hours, milliseconds, seconds } from '../../../base/time/duration.ts'
import { type Instant, plus } from '../../../base/time/instant.ts'
import type { Blocked } from '../second-factor.ts'
import type { CodeGuesses, SecondFactorStores } from '../stores.ts'

/** Counts a guess. Returns the refusal if no guess is accepted now, otherwise undefined. */
export async function countGuess(
  codeGuesses: Pick<CodeGuesses, 'take'>,
  identityId: IdentityId,
  now: Instant,
): Promise<Blocked | undefined> {
  const taken = await codeGuesses.take(identityId, now, (guesses) => blockedUntil(guesses, now))
  if (!('blockedUntil' in taken)) return undefined
  const left = Math.ceil((taken.blockedUntil - now) / 1_000)
  return { verdict: 'blocked', retryAfterSeconds: Math.max(1, left) }
}

/** Returns a `take` that spends a correct answer, and clears the count of guesses unless it was spent before. */
export function spending(
  identityId: IdentityId,
  spend: (tx: SecondFactorStores) => Promise<boolean>,
): (tx: SecondFactorStores) => Promise<boolean> {
  return async (tx) => {
    if (!(await spend(tx))) return false
    await tx.codeGuesses.clear(identityId)
    return true
  }
}

/** D-18: the first ten wrong codes in a row cause no delay. */
const FREE_GUESSES = 10
const FIRST_BLOCK = seconds(30)
const LONGEST_BLOCK = hours(1)

/**
 * D-108. Returns until when the next guess is refused after this many in a row; undefined if it is not refused. 30 s is
 * one step of the app, so a user who types slowly waits for one code. The delay doubles up to an hour: a hundred
 * guesses (NIST SP 800-63B-4 §3.2.2) take more than three days and hit one of three codes in a million with 0.03 %. An
 * attacker with the stolen password can block the owner in this way, but never for longer than an hour at a time.
 */
export function blockedUntil(guesses: number, now: Instant): Instant | undefined {
  if (guesses < FREE_GUESSES) return undefined
  const block = FIRST_BLOCK * 2 ** (guesses - FREE_GUESSES)
  return plus(now, milliseconds(Math.min(block, LONGEST_BLOCK)))
}
