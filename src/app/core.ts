/**
 * What every process of an instance has, whether it answers requests or not: the store, the ports of the use cases, the
 * copies in memory, metrics and traces. It has no sockets and nothing that repeats yet.
 */
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Secret } from '../base/secrets/secret.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Duration, seconds } from '../base/time/duration.ts'
import type { Config } from '../config/config.ts'
import { recorded } from '../domain/audit/recorded-event.ts'
import type { ClientApi } from '../domain/enrollments/enrollment-jwt.ts'
import type { AskKeySet } from '../domain/ext-jwt/signer-keys.ts'
import type { HashStrength } from '../domain/factors/passwords/hashing.ts'
import type { EndingRow } from '../domain/sessions/ending/ended-sessions.ts'
import type { Others } from '../domain/sessions/ending/tell-copies.ts'
import { rotateKeysIfDue } from '../domain/tokens/keys/rotate-keys.ts'
import type { TokenPorts } from '../domain/tokens/ports.ts'
import type { Issuer } from '../protocol/oidc.ts'
import type { KeptEvent } from '../store/events.ts'
import type { StoreAddress } from '../store/open.ts'
import type { AuditOutput } from './audit-output.ts'
import { readBuildInfo } from './build-info.ts'
import { createClockWatch } from './clock-watch.ts'
import { compose } from './compose/compose.ts'
import { createLimits, type Limits } from './compose/limits.ts'
import { homeFiles } from './installation/home.ts'
import { type HandOver, prepare } from './installation/prepare.ts'
import type { Intercept } from './listeners.ts'
import { createServiceMetrics } from './monitoring/service-metrics.ts'
import { openTracing } from './monitoring/tracing.ts'
import { openNotifier } from './notifications/open-notifier.ts'

export interface InstanceOptions {
  readonly config: Config
  readonly adminPassword: Secret | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly handOver: HandOver
  /** Overrides the default strength, for tests that log in thousands of times and protect nothing. */
  readonly hashStrength?: HashStrength | undefined
  /** Wraps the handler of each listener, for `latchkey/testing`: no option or configuration key reaches it (D-326). */
  readonly intercept?: Intercept | undefined
}

export interface NamedListener {
  readonly name: string
  readonly baseUrls: readonly string[]
}

export interface Instance<L extends NamedListener = NamedListener> {
  readonly listeners: readonly L[]
  /** The CA file that clients need; undefined if the first listener's certificate was configured without one. */
  readonly caFile: string | undefined
  renewCertificates(): Promise<void>
  /** Resolves when the installation secret was replaced: this instance has the old one and must be restarted. */
  readonly secretReplaced: Promise<void>
  /** Resolves when the database was restored from a backup: everything that this instance knows is outdated (D-159). */
  readonly databaseRestored: Promise<void>
  /** Call it after the file of the audit output was moved away. */
  reopenAuditOutput(): void
  /**
   * Running requests may finish, for at most ten seconds; then the store closes, even if its database does not respond.
   */
  stop(): Promise<void>
}

export interface CoreOptions extends InstanceOptions {
  readonly auditOutput: AuditOutput
  /** Default: limits of this process alone. */
  readonly limits?: Limits
  /** Set if other processes answer requests of this instance too. */
  readonly others?: Others
  /** Called with the endings of each read, which may repeat some. */
  readonly onEndingsRead?: (rows: readonly EndingRow[]) => void
  /** Set in a worker: asks the supervisor for the keys of signers (D-498). */
  readonly askKeySet?: AskKeySet
  /** How many processes answer requests. */
  readonly processes: number
  /** `worker`: the supervisor has prepared everything. */
  readonly role: 'first' | 'worker'
}

export type Core = Awaited<ReturnType<typeof openCore>>

/** Closes `auditOutput` if it fails. */
export async function openCore(options: CoreOptions) {
  const { config, clock, random, log, auditOutput, role, processes } = options
  const { limits = createLimits(config, clock, processes) } = options
  const metrics = createServiceMetrics(clock)
  const prepared = prepare({
    ...options,
    db: shareOf(config.db, { processes, role }),
    damage: role === 'worker' ? 'checked' : 'unchecked',
    hashingTurns: limits.hashingTurns,
    onEvents: (events: readonly KeptEvent[]) => {
      metrics.countEvents(events)
      const rows = events.filter(({ kept }) => kept === 'row')
      auditOutput.write(rows.map(({ event, names }) => recorded(event, names)))
    },
  })
  const { vault, authorities, ...plain } = await prepared.catch(async (error) => {
    metrics.stop()
    await auditOutput.close()
    throw error
  })
  const { secretFingerprint, sealedHashingSecret } = plain
  const tracing = await openTracing(options)
  const store = tracing?.store(plain.store) ?? plain.store
  const hashing = tracing?.hashing(plain.hashing) ?? plain.hashing
  const notifier = openNotifier({ config, clock, random, log, store })
  const close = async (): Promise<void> => {
    await notifier?.stop()
    await store.close()
    metrics.stop()
    await Promise.all([auditOutput.close(), tracing?.stop()])
  }
  try {
    const issuers: Issuer[] = []
    const clientApis: (() => ClientApi)[] = []
    const clockWatch = createClockWatch({
      clock,
      log,
      databaseTime: store.databaseTime,
      onJump: metrics.countClockJump,
    })
    if (role === 'first') await clockWatch.round()
    // Named, because they are optional: what the spread no longer matched would be missing without an error.
    const { others, onEndingsRead, askKeySet } = options
    const ports = compose({
      ...options,
      others,
      onEndingsRead,
      askKeySet,
      store,
      vault,
      hashing,
      authorities,
      limits,
      issuers: () => issuers,
      clientApi: () => clientApis[0]?.(),
      announce: notifier?.send,
      past: clockWatch.past,
      onKeyFetch: metrics.countKeyFetch,
      traceFetch: tracing?.fetchJson,
    })
    const [build] = await Promise.all([
      readBuildInfo(),
      role === 'first' ? rotateIfDue(ports, log) : ports.signingKeys.refresh(),
      ports.endedSessions.refresh(),
      ports.rules.refresh(),
    ])
    return {
      config,
      clock,
      random,
      log,
      auditOutput,
      metrics,
      tracing,
      store,
      notifier,
      hashing,
      authorities,
      secretFingerprint,
      sealedHashingSecret,
      clockWatch,
      ports,
      build,
      issuers,
      clientApis,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** With several processes, each has a share of the connections that a single one would have, and enough to work. */
export function shareOf(
  db: Config['db'],
  { processes, role }: Pick<CoreOptions, 'processes' | 'role'>,
): StoreAddress {
  if (db.kind !== 'postgres' || processes === 1) return db
  const share = Math.ceil(ALL_CONNECTIONS / processes)
  const least = role === 'first' ? LEAST_CONNECTIONS + 1 : LEAST_CONNECTIONS
  return { ...db, maxConnections: Math.max(least, share) }
}

/** As many as a single process has by default (store/dialects/postgres.ts). */
const ALL_CONNECTIONS = 10
/** Two for the work of callers, and two that are kept aside. The supervisor has one more, which listens (D-298). */
const LEAST_CONNECTIONS = 4

/** Creates the first keys, or the next ones when they are due. */
export async function rotateIfDue(ports: TokenPorts, log: Log): Promise<void> {
  for (const { kid, purpose, algorithm } of await rotateKeysIfDue(ports)) {
    log.info({ kid, purpose, algorithm }, 'a signing key was created')
  }
}

export const DRAIN: Duration = seconds(10)
/**
 * For background work that is still running at the end. A database that does not respond must not delay the exit
 * (D-251).
 */
export const LAST_ROUNDS: Duration = seconds(1)

export function caFileOf({
  home,
  listeners,
}: Pick<Config, 'home' | 'listeners'>): string | undefined {
  const { identity } = listeners[0]
  return identity === undefined ? homeFiles(home).ca : identity.ca
}
