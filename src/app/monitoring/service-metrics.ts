/**
 * Defines all metrics, their names and their sources. The domain does not know about them: logins and the like are
 * counted from committed audit events, other values are read at scrape time. D-138. `deploy/grafana/latchkey.json`
 * shows all of them.
 */
import type { Clock } from '../../base/time/clock.ts'
import { EVENT_TYPES } from '../../domain/audit/event-types.ts'
import type { EventType } from '../../domain/audit/events.ts'
import { FOLDED_TYPES } from '../../domain/audit/fold-repeats.ts'
import { LOGIN_FAILURES } from '../../domain/audit/reasons.ts'
import type { FetchOutcome } from '../../domain/ext-jwt/signer-keys.ts'
import { PRIMARY_METHODS } from '../../domain/identities/primary-methods.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { ShownMetrics } from '../../http/monitoring/probes.ts'
import type { AnsweredRequest, OutcomeCounters } from '../../http/request-observer.ts'
import { SECOND_FACTOR_IDS } from '../../protocol/factors/second-factors.ts'
import type { KeptEvent } from '../../store/events.ts'
import type { Family } from '../../telemetry/families.ts'
import { createMetrics, METRICS_CONTENT_TYPE } from '../../telemetry/metrics.ts'
import { addProcessMetrics } from '../../telemetry/process-metrics.ts'
import type { JumpDirection } from '../clock-watch.ts'
import { addReadings, type MetricSources } from './metric-readings.ts'

export interface ServiceMetrics extends ShownMetrics, OutcomeCounters {
  countEvents(events: readonly KeptEvent[]): void
  countRequest(request: AnsweredRequest): void
  countKeyFetch(outcome: FetchOutcome): void
  countClockJump(direction: JumpDirection): void
  /** The values of this process, to be added to those of others. */
  snapshot(): Promise<readonly Family[]>
  /** Sets the sources that are read at scrape time, once everything is built. */
  watch(sources: MetricSources): void
  stop(): void
}

/** Seconds. From an answer out of memory to one that is too slow to be useful. */
const DURATIONS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Node parses about thirty methods; each would multiply the number of series. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export function createServiceMetrics(clock: Clock): ServiceMetrics {
  const metrics = createMetrics()
  const logins = metrics.counter({
    name: 'latchkey_logins_total',
    help: 'Logins by primary method and outcome; wrong answers of a second factor under its name.',
    labels: {
      // A passkey can be either.
      method: [...new Set([...PRIMARY_METHODS, ...SECOND_FACTOR_IDS])],
      outcome: ['succeeded', 'failed'],
    },
  })
  const failures = metrics.counter({
    name: 'latchkey_login_failures_total',
    help: 'Failed logins by reason.',
    labels: { reason: Object.keys(LOGIN_FAILURES) },
  })
  const locks = metrics.counter({
    name: 'latchkey_password_locks_total',
    help: 'Passwords that were locked after consecutive failures.',
    labels: {},
  })
  const refreshes = metrics.counter({
    name: 'latchkey_refreshes_total',
    help: 'Uses of refresh tokens by outcome.',
    labels: { outcome: ['succeeded', 'refused', 'failed'] },
  })
  const reuses = metrics.counter({
    name: 'latchkey_refresh_token_reuses_total',
    help: 'Spent refresh tokens that were used again, which ended their session.',
    labels: {},
  })
  const devices = metrics.counter({
    name: 'latchkey_device_logins_total',
    help: 'Sign-ins of devices without a browser, by what was asked for or answered.',
    labels: { outcome: ['requested', 'approved', 'denied', 'wrong-code'] },
  })
  const certificates = metrics.counter({
    name: 'latchkey_certificates_issued_total',
    help: 'Certificates issued to clients by kind.',
    labels: { kind: ['session', 'enrolled', 'renewed'] },
  })
  const events = metrics.counter({
    name: 'latchkey_audit_events_total',
    help: 'Audit events written by this instance, by type; repeats that share a row count each.',
    labels: { type: Object.keys(EVENT_TYPES) },
  })
  const dropped = metrics.counter({
    name: 'latchkey_audit_events_dropped_total',
    help: 'Refusals of callers without a known identity that were too frequent to be recorded, by type.',
    labels: { type: FOLDED_TYPES },
  })
  const keyFetches = metrics.counter({
    name: 'latchkey_jwks_fetches_total',
    help: 'Fetches of key sets of external JWT signers by outcome.',
    labels: { outcome: ['succeeded', 'failed'] },
  })
  const clockJumps = metrics.counter({
    name: 'latchkey_clock_jumps_total',
    help: 'Jumps of the clock by five seconds or more.',
    labels: { direction: ['forward', 'back'] },
  })
  const durations = metrics.histogram({
    name: 'latchkey_request_duration_seconds',
    help: 'Time from the headers of a request to the end of its response.',
    labels: ['route', 'method', 'status'],
    buckets: DURATIONS,
  })
  const stopProcess = addProcessMetrics(metrics, clock)

  function count({ event, kept }: KeptEvent): void {
    if (kept === 'dropped') dropped({ type: event.type })
    else events({ type: event.type satisfies EventType })
    if (event.type === 'login.succeeded') {
      logins({ method: event.details.method, outcome: 'succeeded' })
    } else if (event.type === 'login.failed') {
      logins({ method: event.details.method, outcome: 'failed' })
      failures({ reason: event.reason })
    } else if (event.type === 'login.locked') locks({})
    else if (event.type === 'token.reused') reuses({})
    else if (event.type === 'device.approved') devices({ outcome: 'approved' })
    else if (event.type === 'device.denied') devices({ outcome: 'denied' })
    else if (event.type === 'device.refused') devices({ outcome: 'wrong-code' })
    else if (event.type === 'certificate.issued') certificates({ kind: 'session' })
    else if (event.type === 'authenticator.renewal-started') certificates({ kind: 'renewed' })
  }

  return {
    contentType: METRICS_CONTENT_TYPE,
    render: () => metrics.render(),
    snapshot: () => metrics.snapshot(),
    countEvents: (written) => written.forEach(count),
    countKeyFetch: (outcome) => keyFetches({ outcome }),
    countClockJump: (direction) => clockJumps({ direction }),
    stop: stopProcess,

    countRequest({ method, route, status, milliseconds }) {
      const known = METHODS.includes(method) ? method : 'other'
      durations(
        { route, method: known, status: `${Math.floor(status / 100)}xx` },
        milliseconds / 1e3,
      )
    },

    countRefresh: async (refreshed) => {
      try {
        const tokens = await refreshed
        refreshes({ outcome: 'succeeded' })
        return tokens
      } catch (error) {
        refreshes({ outcome: error instanceof Failure ? 'refused' : 'failed' })
        throw error
      }
    },

    countDevice: async (requested) => {
      const code = await requested
      devices({ outcome: 'requested' })
      return code
    },

    countEnrolled: async (enrolled) => {
      const certificate = await enrolled
      certificates({ kind: 'enrolled' })
      return certificate
    },

    watch: (sources) => addReadings(metrics, sources, clock),
  }
}
