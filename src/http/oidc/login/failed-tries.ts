/**
 * Counts refused passwords within one login, only for the text of the page: after several failures it advises the user
 * to wait or to ask an administrator. It counts what was typed into this login, so the text is the same for every name,
 * existing or not, locked or not (R077, D-218). In memory: after a restart the page is only less helpful.
 */
import type { AuthRequestKey } from '../../../domain/login/request/auth-request.ts'

const SEVERAL = 3

/** The most logins to remember; the one whose last failure is the oldest is removed first. */
const MOST_LOGINS = 10_000

export function createFailedTries() {
  const tries = new Map<AuthRequestKey, number>()
  return {
    /** Counts one more failure, and returns whether there were several. */
    add(key: AuthRequestKey): boolean {
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
