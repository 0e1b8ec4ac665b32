/**
 * The metrics of all processes together: D-291. The counts of a worker that has ended stay in the sums, as far as they
 * were read, because a sum that falls looks like a restart.
 */
import { type Duration, seconds } from '../../base/time/duration.ts'
import { endsWithin } from '../../base/time/within.ts'
import {
  type Family,
  lastingFamilies,
  mergeFamilies,
  renderFamilies,
} from '../../telemetry/families.ts'
import type { Limits } from '../compose/limits.ts'
import type { Core } from '../core.ts'
import type { RunningWorker } from './pool.ts'

/** A worker that hangs must not block a scrape; its last known counts are shown. */
const WORKER_LIMIT: Duration = seconds(2)

export function createSharedMetrics(running: () => readonly RunningWorker[]) {
  const known = new Map<number, readonly Family[]>()
  let retired: readonly Family[] = []
  let own: () => Promise<readonly Family[]> = async () => []

  async function read({ number, channel }: RunningWorker): Promise<readonly Family[]> {
    const before = known.get(number)
    let now: readonly Family[] | undefined
    const reading = channel.ask('snapshot', null).then((families) => {
      now = families
    })
    await endsWithin(WORKER_LIMIT, reading)
    if (now === undefined) return lastingFamilies(before ?? [])
    // If it has ended meanwhile, its counts are among the retired already.
    if (known.get(number) === before) known.set(number, now)
    return now
  }

  return {
    /** From now on, the values of this process are included. */
    begin(
      core: Core,
      { limits, restarts }: { readonly limits: Limits; readonly restarts: () => number },
    ): void {
      const { metrics, ports, build, tracing } = core
      metrics.watch({
        build,
        endedSessions: ports.endedSessions,
        apiSessions: ports.apiSessions,
        hashing: limits.hashingTurns,
        expiry: ports,
        spans: tracing?.spans,
        workers: () => ({ running: running().length, restarts: restarts() }),
      })
      own = () => metrics.snapshot()
    },

    /** The last values of a worker, if it could still tell. */
    keep(number: number, last: readonly Family[]): void {
      known.set(number, last)
    },

    retire(number: number): void {
      retired = mergeFamilies([retired, lastingFamilies(known.get(number) ?? [])])
      known.delete(number)
    },

    async render(): Promise<string> {
      const workers = await Promise.all(running().map(read))
      return renderFamilies(mergeFamilies([await own(), ...workers, retired]))
    },
  }
}
