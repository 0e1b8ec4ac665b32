/**
 * The lengths of time in the file: how one is read, and the specification's rule that a value that is too short is
 * raised, not refused (SPEC Limits, D-43). Which keys are durations, with their defaults and bounds, stands in schema.ts
 * alone. Pure; the log and `config check` show what was adjusted.
 */
import { type Duration, days, formatDuration, parseDuration } from '../base/time/duration.ts'

export interface DurationRule {
  /** The default. */
  readonly usual: string
  /** Smaller values are raised to this, with a warning. */
  readonly minimum: Duration
  /** Instead of `minimum`: longer by this than another duration, which comes before it in the same section. */
  readonly longerThan?: { readonly key: string; readonly by: Duration }
  /** Larger values are refused. Default: ten years. */
  readonly maximum?: Duration
}

// D-43: larger values are mistakes.
const TEN_YEARS = days(3650)

export type DurationReading =
  | { readonly ok: true; readonly value: Duration }
  | { readonly ok: false; readonly problem: string }

/** Reads one value of the file. Too small is no problem here: `adjustDurations` raises it. */
export function readDuration(text: string, rule: Pick<DurationRule, 'maximum'>): DurationReading {
  const value = parseDuration(text)
  if (value === undefined) {
    return { ok: false, problem: 'is not a duration; write it like 90s, 30m, 24h, 1h30m or 7d' }
  }
  const { maximum = TEN_YEARS } = rule
  if (value > maximum) {
    return { ok: false, problem: `is too long; ${formatDuration(maximum)} at most` }
  }
  return { ok: true, value }
}

/** One value that was too small, in words that an operator can search for in the file. */
export interface Adjustment {
  readonly path: string
  readonly given: string
  readonly used: string
}

export function describeAdjustment({ path, given, used }: Adjustment): string {
  return `${path}: ${given} is too short; using ${used}`
}
