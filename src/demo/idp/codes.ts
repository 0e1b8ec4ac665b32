/** Authorization codes of the demo's IdP: each works once, for a minute, for the request that it was made for. */

import { base64url } from '../../base/encoding.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'

export interface Approved {
  readonly account: string
  readonly redirectUri: string
  readonly codeChallenge: string
  readonly nonce: string | undefined
  /** When the user authenticated. */
  readonly at: Instant
}

/** As our own: D-7. */
const LIFETIME_MILLISECONDS = 60_000
/** More than a user can click in a minute; the oldest are dropped. */
const MOST_CODES = 1_000

export function createCodes(clock: Pick<Clock, 'uptime'>, random: Random) {
  const codes = new Map<string, { readonly approved: Approved; readonly until: number }>()
  return {
    issue(approved: Approved): string {
      const code = base64url(random.bytes(32))
      codes.set(code, { approved, until: clock.uptime() + LIFETIME_MILLISECONDS })
      const [oldest] = codes.keys()
      if (codes.size > MOST_CODES && oldest !== undefined) codes.delete(oldest)
      return code
    },
    /** Returns what it was issued for, once; undefined if there is no such code, or no longer. */
    take(code: string): Approved | undefined {
      const found = codes.get(code)
      codes.delete(code)
      return found !== undefined && clock.uptime() < found.until ? found.approved : undefined
    },
  }
}
