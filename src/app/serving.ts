/**
 * Answering requests: the listeners of a process, their health check, and what depends on rules and CAs. The single
 * process of an instance listens itself; a worker gets its connections from the supervisor (D-287).
 */
import type { Ca } from '../domain/certificates/third-party/ca.ts'
import { createCheckHealth } from '../domain/health/check-health.ts'
import { createCheckWarnings } from '../domain/health/check-warnings.ts'
import type { ManagementPorts } from '../domain/management/ports.ts'
import type { ShownMetrics } from '../http/monitoring/probes.ts'
import { createConnectionLimit, mostConnections } from '../https-server/connection-limit.ts'
import type { Core } from './core.ts'
import { type Intercept, type OpenListeners, openListeners } from './listeners.ts'

export interface Serving extends OpenListeners {
  /** Updates the CA names that handshakes show, after our own CAs have changed. */
  nameOwnCas(): void
  /** Health is `serving` until this is called: load balancers leave (D-137). */
  announceStop(): void
  /** How many are open. */
  connections(): number
}

export async function serve(
  core: Core,
  more: {
    /** The ports that the supervisor listens at, by listener. Undefined: this process listens itself. */
    readonly openPorts?: readonly number[]
    /** What `/metrics` shows. */
    readonly shownMetrics?: ShownMetrics
    /** Sources of metrics that only the process has that answers alone. */
    readonly alone: boolean
    readonly intercept?: Intercept | undefined
  },
): Promise<Serving> {
  const { ports, metrics, tracing, build, clock, log } = core
  const stopping = new AbortController()
  const { installation, events } = core.store.aside
  const checkWarnings = createCheckWarnings({ clock, events, notices: core.notifier })
  const checkHealth = createCheckHealth({ ...ports, installation, stopping: stopping.signal })
  const limit = createConnectionLimit(mostConnections(1), log)
  metrics.watch({
    build,
    checkHealth,
    checkWarnings,
    endedSessions: ports.endedSessions,
    connections: limit,
    spans: tracing?.spans,
    ...(more.alone
      ? {
          apiSessions: ports.apiSessions,
          hashing: core.hashing,
          expiry: ports,
          workers: () => ({ running: 1, restarts: 0 }),
        }
      : {}),
  })
  const open = await openListeners({
    ...core,
    checkHealth,
    checkWarnings,
    metrics: { ...metrics, ...more.shownMetrics },
    limit,
    intercept: more.intercept ?? ((handler) => handler),
    observer: {
      answered: metrics.countRequest,
      ...(tracing === undefined ? {} : { trace: tracing.trace }),
    },
    stopping: stopping.signal,
    ...(more.openPorts === undefined ? {} : { openPorts: more.openPorts }),
    addIssuers: (added) => core.issuers.push(...added),
    addClientApi: (added) => core.clientApis.push(added),
  })
  return {
    ...open,
    nameOwnCas: followRules(ports, open),
    announceStop: () => stopping.abort(),
    connections: () => limit.load().open,
  }
}

/**
 * Updates what depends on the CAs: the client certificates that handshakes request.
 * Returns a function that updates the CA names after our own CAs have changed.
 */
function followRules(
  { rules }: Pick<ManagementPorts, 'rules'>,
  open: Pick<OpenListeners, 'nameClientCas'>,
): () => void {
  let named = ''
  const nameable = () =>
    rules
      .cas()
      .filter(isNameable)
      .map(({ certPem }) => certPem)
  const follow = () => {
    const pems = nameable()
    if (pems.join('') === named) return
    named = pems.join('')
    open.nameClientCas(pems)
  }
  follow()
  rules.onChange(follow)
  return () => open.nameClientCas(nameable())
}

/** The CAs whose certificates are accepted for a login or an enrollment (API 3.2). */
function isNameable(ca: Ca): boolean {
  const { isAuthEnabled, isOttCaEnrollmentEnabled, isAutoCaEnrollmentEnabled } = ca
  return ca.isVerified && (isAuthEnabled || isOttCaEnrollmentEnabled || isAutoCaEnrollmentEnabled)
}
