/**
 * Whether a user signed in a moment ago. A second factor that is added opens the account from then on, so a session or a
 * login that reuses one adds none later (D-437, D-465).
 */
import { minutes } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import type { ProvenPrimary } from './proven.ts'

/** As long as the user is certainly still there, and as long as a login lives (D-7). */
const RECENT = minutes(10)

export function isRecentLogin({ at }: Pick<ProvenPrimary, 'at'>, now: Instant): boolean {
  return plus(at, RECENT) > now
}
