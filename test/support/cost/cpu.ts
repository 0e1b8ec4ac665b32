/** How much processor time a process has used so far, all its threads together, to the nanosecond. Linux. */
import { readdirSync, readFileSync } from 'node:fs'
import type { Child } from '../process/child-service.ts'

/**
 * Milliseconds. Of `schedstat` and not of `stat`, whose clock ticks every 10 ms: a request takes a tenth of that. A thread
 * that has ended does not count any more. Synchronous, because a dozen reads in the thread pool cost more than a request.
 */
export function cpuMilliseconds({ process: { pid } }: Pick<Child, 'process'>): number {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1')
    nanoseconds += Number(text.split(' ')[0])
  }
  return nanoseconds / 1e6
}
