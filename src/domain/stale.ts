/** D-34: an instance whose copies of what the database says are older than this refuses calls rather than guess. */
import { type Duration, seconds } from '../base/time/duration.ts'

export const STALE_AFTER: Duration = seconds(5)
