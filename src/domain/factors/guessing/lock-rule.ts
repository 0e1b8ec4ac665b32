/**
 * When wrong passwords in a row shut out where they come from, and for how long: D-22. The fields of the policy keep
 * their names: `maxAttempts` from one network shut that network out for `lockoutDurationMinutes`, and every further
 * time for twice as long. The ceiling for all networks together is NIST's (SP 800-63B-4 §3.2.2).
 */
import { days, hours, milliseconds, minutes } from '../../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../../base/time/instant.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import type { LockRule } from '../stores.ts'

/** R078: wrong passwords in a row, wherever they come from. */
export const CEILING = 100

/** A network that guesses on and on is shut out for a day at a time, or as long as the policy says. */
const LONGEST_GROWN = hours(24)

/** The count of a network that has been quiet for so long begins anew. */
const KEEP_NETWORK = hours(24)

/** D-216: as long as a device cookie. A device that guessed too often stays like any other for as long. */
export const DEVICE_LIFE = days(90)

/** A lock without an end of its own. The last moment that RFC 3339 can write. */
const UNTIL_UNLOCKED: Instant = instant(Date.UTC(9999, 11, 31, 23, 59, 59, 999))

type LockPolicy = Pick<AuthPolicy['primary']['updb'], 'maxAttempts' | 'lockoutDurationMinutes'>

export function lockRule(
  { maxAttempts, lockoutDurationMinutes }: LockPolicy,
  now: Instant,
): LockRule {
  const first = minutes(lockoutDurationMinutes)
  return {
    maxAttempts,
    ceiling: CEILING,
    lockUntil: (nth) => {
      if (first === 0) return UNTIL_UNLOCKED
      const grown = Math.min(first * 2 ** (nth - 1), LONGEST_GROWN)
      return plus(now, milliseconds(Math.max(first, grown)))
    },
    keepNetwork: KEEP_NETWORK,
    keepDevice: DEVICE_LIFE,
  }
}
