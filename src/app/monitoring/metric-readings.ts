/**
 * The metrics that are read at scrape time, and where they come from. D-138.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { atMostEvery } from '../../base/time/rarely.ts'
import type { Load } from '../../domain/factors/guessing/turns.ts'
import type { CheckHealth } from '../../domain/health/check-health.ts'
import { type CheckWarnings, HEALTH_WARNINGS } from '../../domain/health/check-warnings.ts'
import type { EndedSessions } from '../../domain/sessions/ending/ended-sessions.ts'
import type { ApiSessions } from '../../domain/sessions/stores.ts'
import type { ConnectionLimit } from '../../https-server/connection-limit.ts'
import type { Over } from '../../telemetry/families.ts'
import type { Metrics, ReadAbout } from '../../telemetry/metrics.ts'
import type { BuildInfo } from '../build-info.ts'
import { addExpiry, type ExpiryPorts } from './expiry-metrics.ts'

/** A process that does not know a value leaves its source out: with workers, each value has one home (D-291). */
export interface MetricSources {
  readonly build: BuildInfo
  readonly endedSessions: Pick<EndedSessions, 'age'>
  readonly checkHealth?: CheckHealth
  readonly checkWarnings?: CheckWarnings
  readonly apiSessions?: Pick<ApiSessions, 'countLive'>
  readonly hashing?: { load(): Load }
  readonly expiry?: ExpiryPorts
  readonly connections?: Pick<ConnectionLimit, 'load'>
  readonly workers?: () => { readonly running: number; readonly restarts: number }
  /** Missing if tracing is not configured. */
  readonly spans?: (() => { readonly exported: number; readonly lost: number }) | undefined
}

/** Counting all sessions is an expensive query if there are many. */
const COUNT_SESSIONS: Duration = seconds(10)
/** A database that hangs must not block a scrape. */
const COUNT_LIMIT: Duration = seconds(2)

export function addReadings(metrics: Metrics, sources: MetricSources, clock: Clock): void {
  const { build, endedSessions, checkHealth, checkWarnings } = sources
  const { apiSessions, expiry, hashing, connections, workers, spans } = sources
  metrics.read(gauge('latchkey_build_info', 'max', 'The running version; always 1.'), () => [
    { labels: { version: build.version, revision: build.revision }, value: 1 },
  ])
  metrics.read(
    gauge(
      'latchkey_ended_sessions_age_seconds',
      'max',
      'Age of the in-memory copy of ended sessions; calls are refused when it is older than 5 seconds. With workers, the oldest one.',
    ),
    () => {
      const age = endedSessions.age()
      return age === undefined ? [] : [{ value: age / 1e3 }]
    },
  )
  if (checkHealth !== undefined) addHealth(metrics, checkHealth)
  if (checkWarnings !== undefined) addWarnings(metrics, checkWarnings)
  if (apiSessions !== undefined) addLiveSessions(metrics, apiSessions, clock)
  if (expiry !== undefined) addExpiry(metrics, expiry, clock)
  if (hashing !== undefined) addHashing(metrics, hashing)
  if (connections !== undefined) addConnections(metrics, connections)
  if (workers !== undefined) addWorkers(metrics, workers)
  if (spans === undefined) return
  metrics.read(
    counter('latchkey_trace_spans_total', 'Spans by whether they reached the collector.'),
    () => Object.entries(spans()).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
}

function gauge(name: string, over: Over, help: string): ReadAbout {
  return { name, help, type: 'gauge', over }
}

function counter(name: string, help: string): ReadAbout {
  return { name, help, type: 'counter' }
}

function addHealth(metrics: Metrics, checkHealth: CheckHealth): void {
  metrics.read(
    gauge(
      'latchkey_health_check',
      'min',
      '1 for each check that is well, else 0; with workers, only if it is well in all of them.',
    ),
    async () =>
      (await checkHealth()).map(({ id, healthy }) => ({
        labels: { check: id },
        value: healthy ? 1 : 0,
      })),
  )
}

function addWarnings(metrics: Metrics, checkWarnings: CheckWarnings): void {
  metrics.read(
    gauge(
      'latchkey_health_warning',
      'max',
      '1 for each warning that applies, else 0; with workers, if it applies in one of them.',
    ),
    async () => {
      const applying = await checkWarnings()
      return Object.keys(HEALTH_WARNINGS).map((warning) => ({
        labels: { warning },
        value: applying.some((id) => id === warning) ? 1 : 0,
      }))
    },
  )
}

function addLiveSessions(
  metrics: Metrics,
  apiSessions: Pick<ApiSessions, 'countLive'>,
  clock: Clock,
): void {
  const countLive = atMostEvery({ interval: COUNT_SESSIONS, timeLimit: COUNT_LIMIT, clock }, () =>
    apiSessions.countLive(clock.now()),
  )
  const help = 'Sessions that have not expired, on all instances together.'
  metrics.read(gauge('latchkey_live_sessions', 'max', help), async () =>
    Object.entries(await countLive()).map(([kind, value]) => ({ labels: { kind }, value })),
  )
}

function addHashing(metrics: Metrics, hashing: { load(): Load }): void {
  const read = (about: ReadAbout, value: keyof Load) =>
    metrics.read(about, () => [{ value: hashing.load()[value] }])
  const running = 'Passwords that are being hashed.'
  const queued = 'Passwords that wait to be hashed.'
  const refused = 'Passwords that were rejected because the queue was full.'
  read(gauge('latchkey_password_hashing_running', 'sum', running), 'running')
  read(gauge('latchkey_password_hashing_queued', 'sum', queued), 'queued')
  read(counter('latchkey_password_hashing_refused_total', refused), 'refused')
}

function addConnections(metrics: Metrics, connections: Pick<ConnectionLimit, 'load'>): void {
  const read = (about: ReadAbout, value: keyof ReturnType<ConnectionLimit['load']>) =>
    metrics.read(about, () => [{ value: connections.load()[value] }])
  const open = 'Open connections of clients, including those in their handshake.'
  const most = 'How many connections may be open, given the limit of file descriptors.'
  const refused = 'Connections that were closed immediately because too many were open.'
  const displaced =
    'Connections without a running request that were closed to make room for new ones.'
  read(gauge('latchkey_connections_open', 'sum', open), 'open')
  read(gauge('latchkey_connections_limit', 'sum', most), 'most')
  read(counter('latchkey_connections_refused_total', refused), 'refused')
  read(counter('latchkey_connections_displaced_total', displaced), 'displaced')
}

function addWorkers(metrics: Metrics, workers: NonNullable<MetricSources['workers']>): void {
  metrics.read(gauge('latchkey_workers', 'sum', 'Processes that answer requests.'), () => [
    { value: workers().running },
  ])
  const restarts = 'Workers that ended by themselves and were replaced.'
  metrics.read(counter('latchkey_worker_restarts_total', restarts), () => [
    { value: workers().restarts },
  ])
}
