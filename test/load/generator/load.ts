/** A closed loop: every connection sends its next operation when the previous one is answered. */
import { median } from '../statistics.ts'

/** One operation on one connection. Answers false when it has used up what was prepared. */
export type Work = () => Promise<boolean>

export interface LoadResult {
  readonly count: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
}

/** Rejects with the first failure: a bench whose operations fail measures something else. */
export async function runLoad(
  works: readonly Work[],
  milliseconds: number,
  isOver: () => boolean = () => false,
): Promise<LoadResult> {
  const begun = performance.now()
  const deadline = begun + milliseconds
  const times: number[] = []
  await Promise.all(
    works.map(async (work) => {
      let start = performance.now()
      while (start < deadline && !isOver()) {
        if (!(await work())) return
        const end = performance.now()
        times.push(end - start)
        start = end
      }
    }),
  )
  const seconds = (performance.now() - begun) / 1000
  return { count: times.length, perSecond: times.length / seconds, p50: median(times) }
}
