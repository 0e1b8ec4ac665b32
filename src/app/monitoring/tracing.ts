/**
 * Tracing, if configured: wraps the slow operations – requests, transactions, password hashing, fetches – so that their
 * code does not know about traces. D-139. If tracing is not configured, only this file is loaded.
 */

import { newId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Config } from '../../config/config.ts'
import type { PasswordHashing } from '../../domain/factors/passwords/hashing.ts'
import type { Store } from '../../domain/stores.ts'
import type { RequestObserver } from '../../http/request-observer.ts'
import type { FetchJson } from '../../outbound/fetch-json.ts'
import type { Tracer } from '../../telemetry/traces/tracer.ts'
import { readBuildInfo } from '../build-info.ts'

export interface Tracing {
  readonly trace: NonNullable<RequestObserver['trace']>
  store(store: Store): Store
  hashing<H extends PasswordHashing>(hashing: H): H
  fetchJson(fetchJson: FetchJson): FetchJson
  spans(): { readonly exported: number; readonly lost: number }
  /** Sends the remaining spans. */
  stop(): Promise<void>
}

/** Returns undefined if tracing is not configured. */
export async function openTracing(deps: {
  readonly config: Pick<Config, 'telemetry' | 'db'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}): Promise<Tracing | undefined> {
  const { config, clock, random, log } = deps
  const { traces } = config.telemetry
  if (traces === undefined) return undefined
  const [{ createSpanExporter }, { createTracer }, { createPostJson }, { version }] =
    await Promise.all([
      import('../../telemetry/traces/exporter.ts'),
      import('../../telemetry/traces/tracer.ts'),
      import('../../outbound/post-json.ts'),
      readBuildInfo(),
    ])
  const exporter = createSpanExporter({
    post: createPostJson(traces),
    resource: { version, instanceId: newId(random) },
    log,
  })
  const tracer = createTracer({ exporter, clock, random, sampleRatio: traces.sampleRatio })
  const system = config.db.kind === 'postgres' ? 'postgresql' : 'sqlite'
  return {
    trace: traceRequests(tracer),
    store: (store) => traceStore(tracer, store, system),
    hashing: (hashing) => traceHashing(tracer, hashing),
    fetchJson: (fetchJson) => (url) => tracer.span(fetchFacts(url), () => fetchJson(url)),
    spans: () => exporter.counts(),
    stop: () => exporter.stop(),
  }
}

/**
 * Names follow the semantic conventions of OpenTelemetry for HTTP servers, without values that the caller controls:
 * path, query, user agent and address.
 */
function traceRequests(tracer: Tracer): Tracing['trace'] {
  return ({ method, route, requestId, httpVersion, traceparent }) => {
    const trace = tracer.beginRequest({
      name: route === NO_ROUTE ? method : `${method} ${route}`,
      attributes: {
        'http.request.method': method,
        'http.route': route === NO_ROUTE ? undefined : route,
        'url.scheme': 'https',
        'network.protocol.version': httpVersion,
        'latchkey.request_id': requestId,
      },
      traceparent,
    })
    return (
      trace && {
        run: trace.run,
        end: (status, code) =>
          trace.end({
            attributes: {
              'http.response.status_code': status,
              'latchkey.error_code': code,
              'error.type': status >= 500 ? String(status) : undefined,
            },
            hasFailed: status >= 500,
          }),
      }
    )
  }
}

const NO_ROUTE = 'none'

function traceStore(tracer: Tracer, store: Store, system: string): Store {
  const facts = {
    name: 'transaction',
    kind: 'client',
    attributes: { 'db.system.name': system },
  } as const
  return {
    ...store,
    transaction: (work) => tracer.span(facts, () => store.transaction(work)),
    beginSession: (beginning) => tracer.span(facts, () => store.beginSession(beginning)),
    spendRefreshToken: (spending) => tracer.span(facts, () => store.spendRefreshToken(spending)),
  }
}

/** One name for all three: telling them apart would reveal whether a username exists (R077). */
function traceHashing<H extends PasswordHashing>(tracer: Tracer, hashing: H): H {
  const facts = { name: 'password hashing', kind: 'internal', attributes: {} } as const
  return {
    ...hashing,
    hash: (password) => tracer.span(facts, () => hashing.hash(password)),
    verify: (passwordHash, password, from) =>
      tracer.span(facts, () => hashing.verify(passwordHash, password, from)),
    verifyNothing: (password, from) =>
      tracer.span(facts, () => hashing.verifyNothing(password, from)),
  }
}

/** Only the host: a path or a query may contain a key. */
function fetchFacts(url: string) {
  return {
    name: 'GET',
    kind: 'client',
    attributes: { 'http.request.method': 'GET', 'server.address': URL.parse(url)?.hostname },
  } as const
}
