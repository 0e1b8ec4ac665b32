/**
 * The threads of the pool (password hashes, RSA signatures, syncs) give way to the event loop where all cores are busy
 * (D-374).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'

const TASKS = '/proc/self/task'
/** The name that libuv gives to its threads. */
const POOL_THREAD = 'libuv-worker'
/** A tenth of the share that the event loop has: enough that nothing in the pool waits for ever. */
const NICER_BY = 10

/** Only Linux has priorities of threads. The pool has started with the first file that was read. */
export function lowerPoolPriority(): void {
  if (process.platform !== 'linux') return
  try {
    const niceness = Math.min(getPriority() + NICER_BY, constants.priority.PRIORITY_LOW)
    for (const thread of readdirSync(TASKS)) {
      const name = readFileSync(`${TASKS}/${thread}/comm`, 'utf8').trim()
      if (name === POOL_THREAD) setPriority(Number(thread), niceness)
    }
  } catch {
    // A sandbox without /proc, or that forbids it: everything works, only less evenly under load.
  }
}
