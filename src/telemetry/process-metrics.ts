/**
 * What the process itself uses, under the names that dashboards expect; and the lag of the event loop, which is the
 * first thing to check when everything is slow.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../base/time/clock.ts'
import { type Duration, seconds } from '../base/time/duration.ts'
import type { Metrics, Reading } from './metrics.ts'

/** The lag of the event loop covers at least this time. */
const WINDOW: Duration = seconds(10)
const RESOLUTION_MILLISECONDS = 20

/** Returns a function that stops the measurement. */
export function addProcessMetrics(metrics: Metrics, clock: Clock): () => void {
  metrics.read(
    {
      name: 'process_cpu_seconds_total',
      help: 'User and system time of the process; with workers, of all processes together.',
      type: 'counter',
    },
    () => {
      const { user, system } = process.cpuUsage()
      return [{ value: (user + system) / 1e6 }]
    },
  )
  metrics.read(
    {
      name: 'process_resident_memory_bytes',
      help: 'Memory of the process that is in RAM; with workers, of all processes together.',
      type: 'gauge',
      over: 'sum',
    },
    () => [{ value: process.memoryUsage.rss() }],
  )
  const startedAt = clock.now() / 1e3 - process.uptime()
  metrics.read(
    {
      name: 'process_start_time_seconds',
      help: 'When the process began.',
      type: 'gauge',
      over: 'min',
    },
    () => [{ value: startedAt }],
  )
  return addEventLoopLag(metrics, clock)
}

/** Callers that read more often than every ten seconds get the same numbers, so that two readers do not interfere. */
function addEventLoopLag(metrics: Metrics, clock: Clock): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS })
  let window: readonly Reading[] = []
  let since = clock.uptime()
  metrics.read(
    {
      name: 'latchkey_event_loop_lag_seconds',
      help: 'How late the event loop ran in the last ten seconds or more; with workers, the latest one.',
      type: 'gauge',
      over: 'max',
    },
    () => {
      // Measuring begins with the first reader: without one, nothing wakes up for it.
      delays.enable()
      if (window.length === 0 || clock.uptime() - since >= WINDOW) {
        window = readLag()
        delays.reset()
        since = clock.uptime()
      }
      return window
    },
  )
  const readLag = (): readonly Reading[] => {
    if (delays.count === 0) return []
    const late = (nanoseconds: number) =>
      Math.max(0, nanoseconds / 1e9 - RESOLUTION_MILLISECONDS / 1e3)
    return [
      { labels: { quantile: '0.5' }, value: late(delays.percentile(50)) },
      { labels: { quantile: '0.99' }, value: late(delays.percentile(99)) },
      { labels: { quantile: '1' }, value: late(delays.max) },
    ]
  }
  return () => delays.disable()
}
