/**
 * One running instance: start, drain, stop. Once it reports ready, it answers requests. Once it reports stopped,
 * everything it answered is stored.
 */

import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Secret } from '../base/secrets/secret.ts'
import type { Clock } from '../base/time/clock.ts'
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import { endsWithin } from '../base/time/within.ts'
import type { Config } from '../config/config.ts'
import type { Ca } from '../domain/certificates/third-party/ca.ts'
import type { ClientApi } from '../domain/enrollments/enrollment-jwt.ts'
import type { HashStrength } from '../domain/factors/passwords/hashing.ts'
import { createCheckHealth } from '../domain/health/check-health.ts'
import type { ManagementPorts } from '../domain/management/ports.ts'
import { createEndExpired } from '../domain/sessions/ending/end-expired.ts'
import { rotateKeysIfDue } from '../domain/tokens/keys/rotate-keys.ts'
import type { TokenPorts } from '../domain/tokens/ports.ts'
import { createConnectionLimit, mostConnections } from '../https-server/connection-limit.ts'
import type { Issuer } from '../protocol/oidc.ts'
import { openAuditOutput } from './audit-output.ts'
import { runInBackground } from './background.ts'
import { readBuildInfo } from './build-info.ts'
import { createClockWatch } from './clock-watch.ts'
import { compose } from './compose/compose.ts'
import { followAuthorities } from './compose/own-authorities.ts'
import { homeFiles } from './installation/home.ts'
import { prepare } from './installation/prepare.ts'
import { sweep } from './janitor.ts'
import { type OpenListener, type OpenListeners, openListeners } from './listeners.ts'
import { createServiceMetrics } from './service-metrics.ts'
import { openTracing } from './tracing.ts'

export interface Instance {
  readonly listeners: readonly OpenListener[]
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

export interface InstanceOptions {
  readonly config: Config
  readonly adminPassword: Secret | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Receives the first administrator's password, if one was generated; see `prepare`. */
  readonly handOver: (password: Secret) => Promise<void>
  /** Overrides the default strength, for tests that log in thousands of times and protect nothing. */
  readonly hashStrength?: HashStrength | undefined
}

const DRAIN: Duration = seconds(10)
/**
 * For background work that is still running at the end. A database that does not respond must not delay the exit
 * (D-251).
 */
const LAST_ROUNDS: Duration = seconds(1)

/** D-34: an ended session is refused on every instance within a second. */
const FOLLOW_ENDINGS: Duration = milliseconds(400)
/** D-34: a changed policy, signer or CA also takes effect within a second. */
const FOLLOW_RULES: Duration = milliseconds(400)
/** D-135: tokens signed by a withdrawn key are refused on every instance within a second. */
const FOLLOW_KEYS: Duration = milliseconds(400)
const ROTATE_KEYS: Duration = seconds(60)
/** Far less than the time between publishing a new CA and using it (D-129). */
const FOLLOW_AUTHORITIES: Duration = seconds(1)
/** D-141: how long an instance keeps running after the secret was replaced. */
const FOLLOW_SECRET: Duration = seconds(1)
const RENEW_CERTIFICATES: Duration = seconds(30)
/** Connections of a session are closed within a second of its end, even if it just expired (D-42). */
const END_EXPIRED: Duration = milliseconds(400)
const SWEEP: Duration = seconds(30)
const WATCH_CLOCK: Duration = seconds(1)

export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { config, clock, random, log } = options
  const auditOutput = await openAuditOutput(config.audit.output, { log, clock })
  const metrics = createServiceMetrics(clock)
  const prepared = prepare({
    ...options,
    onEvents: (events) => {
      metrics.countEvents(events)
      auditOutput.write(events.filter(({ kept }) => kept === 'row').map(({ event }) => event))
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
  try {
    const issuers: Issuer[] = []
    const clientApis: (() => ClientApi)[] = []
    const stopping = new AbortController()
    const { databaseTime } = store
    const onJump = metrics.countClockJump
    const clockWatch = createClockWatch({ clock, log, databaseTime, onJump })
    await clockWatch.round()
    const ports = compose({
      config,
      store,
      vault,
      hashing,
      authorities,
      clock,
      random,
      log,
      issuers: () => issuers,
      clientApi: () => clientApis[0]?.(),
      past: clockWatch.past,
      onKeyFetch: metrics.countKeyFetch,
      traceFetch: tracing?.fetchJson,
    })
    const { signingKeys, endedSessions, rules } = ports
    const { installation } = store.aside
    const checkHealth = createCheckHealth({ ...ports, installation, stopping: stopping.signal })
    const [build] = await Promise.all([
      readBuildInfo(),
      rotateIfDue(ports, log),
      endedSessions.refresh(),
      rules.refresh(),
    ])
    const limit = createConnectionLimit(mostConnections(1), log)
    metrics.watch({
      ...ports,
      checkHealth,
      hashing,
      build,
      connections: limit,
      spans: tracing?.spans,
    })
    const open = await openListeners({
      config,
      ports,
      checkHealth,
      metrics,
      limit,
      observer: {
        answered: metrics.countRequest,
        ...(tracing === undefined ? {} : { trace: tracing.trace }),
      },
      authorities,
      build,
      clock,
      random,
      log,
      stopping: stopping.signal,
      addIssuers: (added) => issuers.push(...added),
      addClientApi: (added) => clientApis.push(added),
    })
    const secretReplaced = Promise.withResolvers<void>()
    const databaseRestored = Promise.withResolvers<void>()
    const nameClientCas = followRules(ports, open)
    const background = runInBackground(
      [
        {
          name: 'ended sessions',
          every: FOLLOW_ENDINGS,
          round: () => endedSessions.refresh(),
          follows: true,
        },
        { name: 'rules', every: FOLLOW_RULES, round: () => rules.refresh(), follows: true },
        {
          name: 'signing keys',
          every: FOLLOW_KEYS,
          round: () => signingKeys.refresh(),
          follows: true,
        },
        {
          name: 'key rotation',
          every: ROTATE_KEYS,
          round: async () => {
            await rotateIfDue(ports, log)
            const past = clockWatch.removable()
            if (past !== undefined) await signingKeys.removeGone(past)
          },
        },
        {
          name: 'own CAs',
          every: FOLLOW_AUTHORITIES,
          follows: true,
          round: followAuthorities({
            home: config.home,
            authorities,
            random,
            log,
            onChange: nameClientCas,
          }),
        },
        {
          name: 'installation secret',
          every: FOLLOW_SECRET,
          follows: true,
          round: async () => {
            const found = await installation.find()
            if (found?.secretFingerprint !== secretFingerprint) secretReplaced.resolve()
            else if (found.sealedHashingSecret !== sealedHashingSecret) databaseRestored.resolve()
          },
        },
        { name: 'certificates', every: RENEW_CERTIFICATES, round: () => open.renewCertificates() },
        { name: 'expired sessions', every: END_EXPIRED, round: createEndExpired(ports) },
        {
          name: 'sweep',
          every: SWEEP,
          round: async () => {
            const past = clockWatch.removable()
            if (past !== undefined) await sweep(store, past, config.audit.retention)
          },
        },
        { name: 'clock', every: WATCH_CLOCK, round: () => clockWatch.round() },
      ],
      log,
      store.changes,
    )

    const { identity } = config.listeners[0]
    return {
      listeners: open.listeners,
      caFile: identity === undefined ? homeFiles(config.home).ca : identity.ca,
      renewCertificates: () => open.renewCertificates(),
      secretReplaced: secretReplaced.promise,
      databaseRestored: databaseRestored.promise,
      reopenAuditOutput: () => auditOutput.reopen(),
      async stop() {
        stopping.abort()
        await open.close(DRAIN)
        await endsWithin(LAST_ROUNDS, background.stop())
        await store.close()
        metrics.stop()
        await Promise.all([auditOutput.close(), tracing?.stop()])
      },
    }
  } catch (error) {
    await store.close()
    metrics.stop()
    await Promise.all([auditOutput.close(), tracing?.stop()])
    throw error
  }
}

/**
 * Updates what depends on the signers and CAs: cached keys, and the client certificates that handshakes request.
 * Returns a function that updates the CA names after our own CAs have changed.
 */
function followRules(
  { rules, signerKeys }: Pick<ManagementPorts, 'rules' | 'signerKeys'>,
  open: Pick<OpenListeners, 'nameClientCas'>,
): () => void {
  let named = ''
  const nameable = () =>
    rules
      .cas()
      .filter(isNameable)
      .map(({ certPem }) => certPem)
  const follow = () => {
    signerKeys.forgetOthers(rules.signers().map(({ id }) => id))
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

/** Creates the first key, or the next one when it is due. */
async function rotateIfDue(ports: TokenPorts, log: Log): Promise<void> {
  const key = await rotateKeysIfDue(ports)
  if (key === undefined) return
  log.info({ kid: key.kid, algorithm: key.algorithm }, 'a signing key was made')
}
