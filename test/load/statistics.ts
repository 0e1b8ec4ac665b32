/** The few numbers that describe several measurements of one thing. */

/** Several measurements: the middle one, and the smallest and the largest. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** Throws if there are none: nothing was measured, and a number would hide that. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('nothing was measured')
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) }
}

/** Of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]]
  return low === undefined || high === undefined ? Number.NaN : (low + high) / 2
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
