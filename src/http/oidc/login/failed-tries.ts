/**
 * How often a password was refused in one login, for the words of the page alone: after several failures it advises to
 * wait or to ask an administrator. It counts what was typed into this login, so it says the same for every name, known
 * or not, locked or not (R077, D-218). In memory: after a restart the page is merely less helpful.
 */
import type { AuthRequestKey } from '../../../domain/login/request/auth-request.ts'

export interface FailedTries {
  /** Counts one more; answers whether these are several. */
  add(key: AuthRequestKey): boolean
}

const SEVERAL = 3

/** Logins that are remembered at most; the one that has not failed for the longest time goes first. */
const MOST_LOGINS = 10_000

export function createFailedTries(): FailedTries {
  const tries = new Map<AuthRequestKey, number>()
  return {
    add(key) {
      const count = (tries.get(key) ?? 0) + 1
      tries.delete(key)
      tries.set(key, count)
      if (tries.size > MOST_LOGINS) {
        const [oldest] = tries.keys()
        if (oldest !== undefined) tries.delete(oldest)
      }
      return count >= SEVERAL
    },
  }
}
