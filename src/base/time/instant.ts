/**
 * A point in time, as milliseconds since the Unix epoch. Two instants are compared with < and >;
 * only `plus` and `instant` make new ones.
 */
import type { Brand } from '../brand.ts'
import type { Duration } from './duration.ts'

export type Instant = Brand<number, 'Instant'>

export function instant(epochMilliseconds: number): Instant {
  return epochMilliseconds as Instant
}

export function plus(start: Instant, duration: Duration): Instant {
  return (start + duration) as Instant
}

export function minus(end: Instant, duration: Duration): Instant {
  return (end - duration) as Instant
}

export function earlier(a: Instant, b: Instant): Instant {
  return a < b ? a : b
}

export function later(a: Instant, b: Instant): Instant {
  return a > b ? a : b
}

/** Whole seconds since the epoch, as JWTs carry them (RFC 7519 §2 NumericDate). */
export function epochSeconds(at: Instant): number {
  return Math.floor(at / 1000)
}

/** Returns the instant without its milliseconds, as certificates and JWTs write it. */
export function wholeSeconds(at: Instant): Instant {
  return (epochSeconds(at) * 1000) as Instant
}

const DAY = 86_400_000
const KEPT_DAYS = 1_000
/** `2026-11-17T` by the number of the day. */
const days = new Map<number, string>()
const padded = (digits: number) =>
  Array.from({ length: 10 ** digits }, (_, n) => String(n).padStart(digits, '0'))
const TWO_DIGITS = padded(2)
const THREE_DIGITS = padded(3)

/**
 * RFC 3339 in UTC with milliseconds, as the APIs write every time (API 1, D-39). Every answer and every log line has
 * some, and `Date.prototype.toISOString` takes six times as long.
 */
export function toRfc3339(at: Instant): string {
  const whole = Math.trunc(at)
  const day = Math.floor(whole / DAY)
  const milliseconds = whole - day * DAY
  const seconds = Math.floor(milliseconds / 1_000)
  const minutes = Math.floor(seconds / 60)
  const time = `${TWO_DIGITS[Math.floor(minutes / 60)]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`
  return `${dateOf(day)}${time}.${THREE_DIGITS[milliseconds % 1_000]}Z`
}

function dateOf(day: number): string {
  let date = days.get(day)
  if (date === undefined) {
    const text = new Date(day * DAY).toISOString()
    date = text.slice(0, text.indexOf('T') + 1)
    if (days.size >= KEPT_DAYS) days.clear()
    days.set(day, date)
  }
  return date
}

const RFC3339 = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Parses an RFC 3339 time with any offset; digits beyond milliseconds are cut off. */
export function fromRfc3339(text: string): Instant | undefined {
  const date = RFC3339.exec(text)?.[1]
  const at = date === undefined ? Number.NaN : Date.parse(text)
  if (date === undefined || Number.isNaN(at)) return undefined
  // The platform accepts 30 February as a day in March.
  const isDay = new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
  return isDay ? instant(at) : undefined
}
