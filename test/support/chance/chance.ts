/** Chance that can be had again: the same seed makes the same choices in the same order. */

export interface Chance {
  /** A whole number from 0 to below `end`. */
  below(end: number): number
  /** True in so many of a hundred cases. */
  percent(of: number): boolean
}

/** Mulberry32: small, and good enough to choose by. */
export function chance(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return { below, percent: (of) => below(100) < of }
}
