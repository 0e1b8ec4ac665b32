/**
 * Which endings a copy in memory contains: every number up to `upTo`, except those in `missing`. D-381.
 *
 * One number is not enough: a number is assigned before its transaction commits, so a lower one can appear after a
 * higher one. A copy that claimed everything below its highest number would claim an ending that it has not seen.
 */

/** Both ends are included. */
export type Range = readonly [first: number, last: number]

export interface Position {
  readonly upTo: number
  /** Sorted, and without overlaps. */
  readonly missing: readonly Range[]
}

/** So that a position stays small, whatever happens: a mark of the feed and a row of the store contain one. */
const MOST_RANGES = 16

/** Returns the numbers as sorted ranges, as few as possible. */
export function rangesOf(numbers: readonly number[]): readonly Range[] {
  const ranges: [number, number][] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && number <= last[1] + 1) last[1] = Math.max(last[1], number)
    else ranges.push([number, number])
  }
  return ranges
}

/**
 * Joins the lowest ranges until there are few. They then contain more numbers: a position claims less, and a caller that
 * waits for them waits for more. Neither makes a wrong claim.
 */
export function fewRanges(ranges: readonly Range[]): readonly Range[] {
  if (ranges.length <= MOST_RANGES) return ranges
  const joined = ranges.slice(0, ranges.length - MOST_RANGES + 1)
  const [first] = joined[0] ?? [0]
  const [, last] = joined.at(-1) ?? [0, 0]
  return [[first, last], ...ranges.slice(joined.length)]
}

/** `seen`: the numbers above `complete`, up to which certainly nothing is missing. */
export function positionOf(complete: number, seen: Iterable<number>): Position {
  const missing: Range[] = []
  let upTo = complete
  for (const [first, last] of rangesOf([...seen].filter((number) => number > complete))) {
    if (first > upTo + 1) missing.push([upTo + 1, first - 1])
    upTo = last
  }
  return { upTo, missing: fewRanges(missing) }
}

/** Whether the copy contains all of these. */
export function covers({ upTo, missing }: Position, wanted: readonly Range[]): boolean {
  return wanted.every(
    ([first, last]) => last <= upTo && missing.every(([from, to]) => to < first || last < from),
  )
}

/** `17`, or `17!3-5,9-9`. */
export function writePosition({ upTo, missing }: Position): string {
  return missing.length === 0 ? String(upTo) : `${upTo}!${writeRanges(missing)}`
}

export function writeRanges(ranges: readonly Range[]): string {
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',')
}

/** Undefined unless `writePosition` may have written it. */
export function readPosition(text: string): Position | undefined {
  const [upTo = '', missing, ...more] = text.split('!')
  if (!NUMBER.test(upTo) || more.length > 0) return undefined
  const ranges = missing === undefined ? [] : readRanges(missing)
  return ranges === undefined ? undefined : { upTo: Number(upTo), missing: ranges }
}

export function readRanges(text: string): readonly Range[] | undefined {
  const parts = text.split(',')
  if (parts.length > MOST_RANGES) return undefined
  const ranges: Range[] = []
  for (const part of parts) {
    const [first = '', last = first, ...more] = part.split('-')
    if (!NUMBER.test(first) || !NUMBER.test(last) || more.length > 0) return undefined
    ranges.push([Number(first), Number(last)])
  }
  return ranges.every(([first, last]) => first <= last) ? ranges : undefined
}

const NUMBER = /^\d{1,15}$/
