/**
 * When consecutive wrong passwords lock their origin out, and for how long: D-22. The fields of the policy keep their
 * names: `maxAttempts` from one network lock that network out for `lockoutDurationMinutes`, and each further lock lasts
 * twice as long. The ceiling for all networks together is the one of NIST (SP 800-63B-4 §3.2.2).
 */
import { days, hours, milliseconds, minutes } from '../../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../../base/time/instant.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import type { LockRule } from '../stores.ts'

/** R078: the most consecutive wrong passwords from all networks together. */
const CEILING = 100

/** The longest lock of a network that keeps guessing: one day, or the duration in the policy if that is longer. */
const LONGEST_GROWN = hours(24)

/** After this long without a failure, the count of a network starts again. */
const KEEP_NETWORK = hours(24)

/** D-216: as long as a device cookie lives. A device that guessed too often is treated as unknown for that long. */
export const DEVICE_LIFE = days(90)

/** For a lock that does not expire: the last moment that RFC 3339 can express. */
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
