/** A length of time in milliseconds, and its text form: `90s`, `30m`, `24h`, `1h30m`, `7d` (D-43). */
import type { Brand } from '../brand.ts'

export type Duration = Brand<number, 'Duration'>

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

export const milliseconds = (count: number): Duration => count as Duration
export const seconds = (count: number): Duration => (count * 1_000) as Duration
export const minutes = (count: number): Duration => (count * 60_000) as Duration
export const hours = (count: number): Duration => (count * 3_600_000) as Duration
export const days = (count: number): Duration => (count * 86_400_000) as Duration

export function inSeconds(duration: Duration): number {
  return duration / 1_000
}

const SHAPE = /^(-)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/

/**
 * Parses a duration; undefined if the text is not valid. Zero and negative durations are valid (the rules for a key
 * decide whether they are too small), and so is `0` without a unit. Numbers that are too large to be exact are not.
 */
export function parseDuration(text: string): Duration | undefined {
  if (text === '0') return milliseconds(0)
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const [, sign, ...counts] = match
  if (counts.every((count) => count === undefined)) return undefined
  const total = UNITS.reduce((sum, [, size], i) => sum + Number(counts[i] ?? 0) * size, 0)
  if (!Number.isSafeInteger(total)) return undefined
  return milliseconds(sign === undefined || total === 0 ? total : -total)
}

/** Returns the shortest text that `parseDuration` parses back to the same whole seconds. */
export function formatDuration(duration: Duration): string {
  let rest = Math.abs(Math.trunc(duration / 1_000)) * 1_000
  if (rest === 0) return '0s'
  let text = duration < 0 ? '-' : ''
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    if (count > 0) text += `${count}${unit}`
    rest -= count * size
  }
  return text
}
