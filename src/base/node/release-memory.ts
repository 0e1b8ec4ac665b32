/**
 * Gives memory back that only the start of a process needed (D-275). V8 would keep it: an idle process allocates too
 * little to make it collect garbage.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Duration, seconds } from '../time/duration.ts'

const LOOK_EVERY: Duration = seconds(2)
/** Ten seconds. */
const QUIET_LOOKS = 5

/** If the event loop was busy for less than this part of the time, a pause of a tenth of a second delays no caller. */
const IDLE_BELOW = 0.02

/** Waits for ten quiet seconds, so that no request waits for it. A process that is never quiet needs its memory. */
export function releaseMemoryWhenIdle(): void {
  let before = performance.eventLoopUtilization()
  let quietLooks = 0
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    quietLooks = utilization < IDLE_BELOW ? quietLooks + 1 : 0
    if (quietLooks < QUIET_LOOKS) return
    clearInterval(timer)
    releaseMemory()
  }, LOOK_EVERY).unref()
}

export function releaseMemory(): void {
  // Only a context that is created while the flag is set has the function; the code of the service never sees it.
  setFlagsFromString('--expose-gc')
  const collect: NodeJS.GCFunction = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  // The only kind that also shrinks the space for new objects, which a start makes large.
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
