/** How much processor time a process has used so far, all its threads together, to the nanosecond. Linux. */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import type { Child } from '../process/child-service.ts'

/** The files of each process, by thread. To open and close them takes several times as long as to read them. */
const opened = new Map<Child['process'], Map<string, number>>()
const text = Buffer.alloc(64)

/**
 * Milliseconds. Of `schedstat` and not of `stat`, whose clock ticks every 10 ms: a request takes a tenth of that. A thread
 * that has ended does not count any more. Synchronous, because a dozen reads in the thread pool cost more than a request.
 */
export function cpuMilliseconds({ process: child }: Pick<Child, 'process'>): number {
  const files = opened.get(child) ?? filesOf(child)
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${child.pid}/task`)) {
    const file = files.get(thread) ?? openSync(`/proc/${child.pid}/task/${thread}/schedstat`, 'r')
    files.set(thread, file)
    const length = readSync(file, text, 0, text.length, 0)
    nanoseconds += Number(text.toString('latin1', 0, length).split(' ')[0])
  }
  return nanoseconds / 1e6
}

/** Closed when the process has ended. */
function filesOf(child: Child['process']): Map<string, number> {
  const files = new Map<string, number>()
  opened.set(child, files)
  child.once('exit', () => {
    opened.delete(child)
    for (const file of files.values()) closeSync(file)
  })
  return files
}
