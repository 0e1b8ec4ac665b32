/** How much processor time a process has used so far, all its threads together, to the nanosecond. Linux. */
import { readdir, readFile } from 'node:fs/promises'
import type { Child } from '../process/child-service.ts'

/**
 * Milliseconds. Of `schedstat` and not of `stat`, whose clock ticks every 10 ms: a request takes a tenth of that. A thread
 * that has ended does not count any more.
 */
export async function cpuMilliseconds({
  process: { pid },
}: Pick<Child, 'process'>): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const times = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8')),
  )
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6
}
