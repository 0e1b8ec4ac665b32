/**
 * Work that repeats while the service runs: one round after the other, never two at a time. If a round fails, it is
 * retried; the log has a line when the failures begin and when they end.
 */

import type { Log } from '../base/log.ts'
import type { Duration } from '../base/time/duration.ts'

export interface RepeatedWork {
  readonly name: string
  readonly every: Duration
  readonly round: () => Promise<unknown>
}

export interface Background {
  /** Waits for running rounds; no new round begins after this. */
  stop(): Promise<void>
}

export function runInBackground(works: readonly RepeatedWork[], log: Log): Background {
  const stops = works.map((work) => repeat(work, log))
  return {
    async stop() {
      await Promise.all(stops.map((stop) => stop()))
    },
  }
}

function repeat({ name, every, round }: RepeatedWork, log: Log): () => Promise<void> {
  let isStopped = false
  let isFailing = false
  let running: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout

  async function once(): Promise<void> {
    try {
      await round()
      if (isFailing) log.info({ work: name }, 'background work succeeds again')
      isFailing = false
    } catch (error) {
      if (!isFailing) log.error({ work: name, err: error }, 'background work failed; retrying')
      isFailing = true
    }
    schedule()
  }

  function schedule(): void {
    if (isStopped) return
    timer = setTimeout(() => {
      running = once()
    }, every)
    timer.unref()
  }

  schedule()
  return async () => {
    isStopped = true
    clearTimeout(timer)
    await running
  }
}
