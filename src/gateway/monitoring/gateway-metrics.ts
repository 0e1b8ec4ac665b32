/** The metrics of a gateway: D-397; docs/monitoring.md lists them. Every label has a fixed set of values. */
import { X509Certificate } from 'node:crypto'
import { validity } from '../../base/certificates.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { Router } from '../../router/router.ts'
import { createMetrics, METRICS_CONTENT_TYPE } from '../../telemetry/metrics.ts'
import { addProcessMetrics } from '../../telemetry/process-metrics.ts'
import type { Gateway } from '../gateway.ts'
import { type AnswerCode, answerCodes } from '../http/answers.ts'
import type { EndedRequest } from '../passing/exchange.ts'

export interface GatewayMetrics {
  readonly contentType: string
  onRequest(ended: EndedRequest): void
  /** From then on the connections of this gateway are counted. */
  follow(gateway: Pick<Gateway, 'load'>): void
  render(): Promise<string>
  stop(): void
}

/** `answered`: by the gateway itself, such as the way of a browser to its sign-in. */
const OUTCOMES = ['passed', 'answered', 'refused', 'failed', 'invalid'] as const
type Outcome = (typeof OUTCOMES)[number]

/** The upstream or the gateway is at fault. */
const UPSTREAM_FAULTS = ['BAD_GATEWAY', 'GATEWAY_TIMEOUT'] as const satisfies AnswerCode[]
/** The reasons of refusals. */
const REFUSED: readonly number[] = [401, 403, 503]

/** Of `RefusalReason` in src/router/check.ts, which a test compares, and of the rules. Others are `other`. */
export const REASONS = [
  'cut-off',
  'controller-unreachable',
  'no-certificate',
  'no-token',
  'token-invalid',
  'token-expired',
  'session-ended',
  'policy-unmet',
  'secondary-jwt-required',
  'token-bound-elsewhere',
  'proof-invalid',
  'certificate-unreadable',
  'certificate-not-yet-valid',
  'certificate-expired',
  'certificate-untrusted',
  'certificate-removed',
  'certificate-of-other-identity',
  'certificate-of-other-session',
  'rule-unmet',
  'other',
] as const
type Reason = (typeof REASONS)[number]

export function createGatewayMetrics(deps: {
  readonly router: Pick<Router, 'isCutOff'>
  readonly clock: Clock
  readonly inUse: () => {
    readonly identity: { readonly cert: string }
    readonly listener: { readonly notAfter: Instant }
  }
}): GatewayMetrics {
  const { router, clock, inUse } = deps
  const metrics = createMetrics()
  const stop = addProcessMetrics(metrics, clock)
  let gateway: Pick<Gateway, 'load'> | undefined

  const countRequest = metrics.counter({
    name: 'latchkey_gateway_requests_total',
    help: 'Requests by outcome: passed to an upstream, answered by the gateway, refused, failed at the upstream, or invalid.',
    labels: { outcome: OUTCOMES },
  })
  const countRefusal = metrics.counter({
    name: 'latchkey_gateway_refusals_total',
    help: 'Refused requests by reason, as in the log.',
    labels: { reason: REASONS },
  })
  const countAnswer = metrics.counter({
    name: 'latchkey_gateway_answers_total',
    help: 'Answers that the gateway gave itself, by code.',
    labels: { code: answerCodes() },
  })
  const countFault = metrics.counter({
    name: 'latchkey_gateway_upstream_errors_total',
    help: 'Requests that an upstream did not answer, by code.',
    labels: { code: UPSTREAM_FAULTS },
  })
  const gauge = (name: string, help: string, value: () => number | undefined) =>
    metrics.read({ name, help, type: 'gauge', over: 'sum' }, () => {
      const found = value()
      return found === undefined ? [] : [{ value: found }]
    })
  gauge('latchkey_gateway_connections', 'Open connections of clients.', () => gateway?.load().open)
  gauge(
    'latchkey_gateway_tunnels',
    'Open WebSockets and TCP connections.',
    () => gateway?.load().tunnels,
  )
  metrics.read(
    {
      name: 'latchkey_gateway_refused_connections_total',
      help: 'Connections that were refused because there were too many.',
      type: 'counter',
    },
    () => [{ value: gateway?.load().refused ?? 0 }],
  )
  gauge(
    'latchkey_gateway_feed_connected',
    '1 if the controller was heard within 30 seconds.',
    () => (router.isCutOff() ? 0 : 1),
  )
  metrics.read(
    {
      name: 'latchkey_gateway_certificate_expiry_seconds',
      help: 'Seconds until the end of a certificate: of the listener, and of the identity towards the controller.',
      type: 'gauge',
      over: 'min',
    },
    () => {
      const now = clock.now()
      const { identity, listener } = inUse()
      const { notAfter } = validity(new X509Certificate(identity.cert))
      return [
        { labels: { certificate: 'listener' }, value: (listener.notAfter - now) / 1_000 },
        { labels: { certificate: 'identity' }, value: (notAfter - now) / 1_000 },
      ]
    },
  )

  return {
    contentType: METRICS_CONTENT_TYPE,
    onRequest({ status, code, isPassed, reason }) {
      const outcome = outcomeOf({ status, code, isPassed })
      countRequest({ outcome })
      if (code !== undefined) countAnswer({ code })
      const fault = UPSTREAM_FAULTS.find((one) => one === code)
      if (fault !== undefined) countFault({ code: fault })
      if (outcome === 'refused') countRefusal({ reason: reasonOf(reason) })
    },
    follow(given) {
      gateway = given
    },
    render: () => metrics.render(),
    stop,
  }
}

function outcomeOf({ status, code, isPassed }: Omit<EndedRequest, 'reason'>): Outcome {
  if (code === undefined) return isPassed ? 'passed' : 'answered'
  if (UPSTREAM_FAULTS.some((one) => one === code)) return 'failed'
  return REFUSED.includes(status) ? 'refused' : 'invalid'
}

function reasonOf(reason: string | undefined): Reason {
  return REASONS.find((one) => one === reason) ?? 'other'
}
