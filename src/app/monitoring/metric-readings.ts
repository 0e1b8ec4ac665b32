/**
 * The metrics that are read at scrape time, and where they come from. D-138.
 */
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { atMostEvery } from '../../base/time/rarely.ts'
import type { HashingLoad } from '../../domain/factors/passwords/hashing.ts'
import type { CheckHealth } from '../../domain/health/check-health.ts'
import { type CheckWarnings, HEALTH_WARNINGS } from '../../domain/health/check-warnings.ts'
import type { EndedSessions } from '../../domain/sessions/ending/ended-sessions.ts'
import type { ApiSessions } from '../../domain/sessions/stores.ts'
import type { ConnectionLimit } from '../../https-server/connection-limit.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import type { BuildInfo } from '../build-info.ts'
import { addExpiry, type ExpirySource } from './expiry-metrics.ts'

/** A process that does not know a value leaves its source out: with workers, each value has one home (D-291). */
export interface MetricSources {
  readonly build: BuildInfo
  readonly endedSessions: Pick<EndedSessions, 'age'>
  readonly checkHealth?: CheckHealth
  readonly checkWarnings?: CheckWarnings
  readonly apiSessions?: Pick<ApiSessions, 'countLive'>
  readonly hashing?: { load(): HashingLoad }
  readonly expiry?: ExpirySource
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
  const {
    build,
    endedSessions,
    checkHealth,
    checkWarnings,
    apiSessions,
    hashing,
    connections,
    workers,
    spans,
  } = sources
  metrics.read(
    {
      name: 'latchkey_build_info',
      help: 'The running version; always 1.',
      type: 'gauge',
      over: 'max',
    },
    () => [{ labels: { version: build.version, revision: build.revision }, value: 1 }],
  )
  metrics.read(
    {
      name: 'latchkey_ended_sessions_age_seconds',
      help: 'Age of the in-memory copy of ended sessions; calls are refused when it is older than 5 seconds. With workers, the oldest one.',
      type: 'gauge',
      over: 'max',
    },
    () => {
      const age = endedSessions.age()
      return age === undefined ? [] : [{ value: age / 1e3 }]
    },
  )
  if (checkHealth !== undefined) addHealth(metrics, checkHealth)
  if (checkWarnings !== undefined) addWarnings(metrics, checkWarnings)
  if (apiSessions !== undefined) addLiveSessions(metrics, apiSessions, clock)
  if (sources.expiry !== undefined) addExpiry(metrics, sources.expiry, clock)
  if (hashing !== undefined) addHashing(metrics, hashing)
  if (connections !== undefined) addConnections(metrics, connections)
  if (workers !== undefined) addWorkers(metrics, workers)
  if (spans === undefined) return
  metrics.read(
    {
      name: 'latchkey_trace_spans_total',
      help: 'Spans by whether they reached the collector.',
      type: 'counter',
    },
    () => Object.entries(spans()).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
}

function addHealth(metrics: Metrics, checkHealth: CheckHealth): void {
  metrics.read(
    {
      name: 'latchkey_health_check',
      help: '1 for each check that is well, else 0; with workers, only if it is well in all of them.',
      type: 'gauge',
      over: 'min',
    },
    async () =>
      (await checkHealth()).map(({ id, healthy }) => ({
        labels: { check: id },
        value: healthy ? 1 : 0,
      })),
  )
}

function addWarnings(metrics: Metrics, checkWarnings: CheckWarnings): void {
  metrics.read(
    {
      name: 'latchkey_health_warning',
      help: '1 for each warning that applies, else 0; with workers, if it applies in one of them.',
      type: 'gauge',
      over: 'max',
    },
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
  metrics.read(
    {
      name: 'latchkey_live_sessions',
      help: 'Sessions that have not expired, on all instances together.',
      type: 'gauge',
      over: 'max',
    },
    async () =>
      Object.entries(await countLive()).map(([kind, value]) => ({ labels: { kind }, value })),
  )
}

function addHashing(metrics: Metrics, hashing: { load(): HashingLoad }): void {
  metrics.read(
    {
      name: 'latchkey_password_hashing_running',
      help: 'Passwords that are being hashed.',
      type: 'gauge',
      over: 'sum',
    },
    () => [{ value: hashing.load().running }],
  )
  metrics.read(
    {
      name: 'latchkey_password_hashing_queued',
      help: 'Passwords that wait to be hashed.',
      type: 'gauge',
      over: 'sum',
    },
    () => [{ value: hashing.load().queued }],
  )
  metrics.read(
    {
      name: 'latchkey_password_hashing_refused_total',
      help: 'Passwords that were rejected because the queue was full.',
      type: 'counter',
    },
    () => [{ value: hashing.load().refused }],
  )
}

function addConnections(metrics: Metrics, connections: Pick<ConnectionLimit, 'load'>): void {
  metrics.read(
    {
      name: 'latchkey_connections_open',
      help: 'Open connections of clients, including those in their handshake.',
      type: 'gauge',
      over: 'sum',
    },
    () => [{ value: connections.load().open }],
  )
  metrics.read(
    {
      name: 'latchkey_connections_limit',
      help: 'How many connections may be open, given the limit of file descriptors.',
      type: 'gauge',
      over: 'sum',
    },
    () => [{ value: connections.load().most }],
  )
  metrics.read(
    {
      name: 'latchkey_connections_refused_total',
      help: 'Connections that were closed immediately because too many were open.',
      type: 'counter',
    },
    () => [{ value: connections.load().refused }],
  )
  metrics.read(
    {
      name: 'latchkey_connections_displaced_total',
      help: 'Connections without a running request that were closed to make room for new ones.',
      type: 'counter',
    },
    () => [{ value: connections.load().displaced }],
  )
}

function addWorkers(metrics: Metrics, workers: NonNullable<MetricSources['workers']>): void {
  metrics.read(
    {
      name: 'latchkey_workers',
      help: 'Processes that answer requests.',
      type: 'gauge',
      over: 'sum',
    },
    () => [{ value: workers().running }],
  )
  metrics.read(
    {
      name: 'latchkey_worker_restarts_total',
      help: 'Workers that ended by themselves and were replaced.',
      type: 'counter',
    },
    () => [{ value: workers().restarts }],
  )
}
