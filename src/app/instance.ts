/**
 * One running instance: start, drain, stop. What is told to be ready answers; what is told to be stopped has written
 * everything it answered.
 */
import type { Clock } from '../base/clock.ts'
import { type Duration, milliseconds, seconds } from '../base/duration.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { Secret } from '../base/secret.ts'
import type { Config } from '../config/config.ts'
import { createRecordEvent } from '../domain/audit/record.ts'
import type { Store } from '../domain/stores.ts'
import type { SigningKeys } from '../domain/tokens/signing-keys.ts'
import type { Issuer } from '../protocol/oidc.ts'
import { runInBackground } from './background.ts'
import { readBuildInfo } from './build-info.ts'
import { compose } from './compose.ts'
import { homeFiles } from './home.ts'
import { sweep } from './janitor.ts'
import { type OpenListener, type OpenListeners, openListeners } from './listeners.ts'
import { prepare } from './prepare.ts'

export interface Instance {
  readonly listeners: readonly OpenListener[]
  /** The CA file that clients need; undefined when the first listener's certificate was given without one. */
  readonly caFile: string | undefined
  renewCertificates(): Promise<void>
  /** Running requests finish, for ten seconds at most; then the store closes. */
  stop(): Promise<void>
}

export interface InstanceOptions {
  readonly config: Config
  readonly adminPassword: Secret | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** Takes the first administrator's password, when one was drawn; see `prepare`. */
  readonly handOver: (password: Secret) => Promise<void>
}

const DRAIN: Duration = seconds(10)

/** D-34: an ended session is felt on every instance within a second. */
const FOLLOW_ENDINGS: Duration = milliseconds(400)
/** D-34: and so is a policy, a signer or a CA that has changed. */
const FOLLOW_RULES: Duration = milliseconds(400)
/** Far less than the time by which a new key is published before its use. */
const FOLLOW_KEYS: Duration = seconds(1)
const ROTATE_KEYS: Duration = seconds(60)
const RENEW_CERTIFICATES: Duration = seconds(30)
/** What a session has open is closed within a second of its end, also when nobody ended it (D-42). */
const END_EXPIRED: Duration = milliseconds(400)
const SWEEP: Duration = seconds(30)

export async function startInstance(options: InstanceOptions): Promise<Instance> {
  const { config, clock, random, log } = options
  const { store, vault, hashing, authorities } = await prepare(options)
  try {
    const issuers: Issuer[] = []
    const stopping = new AbortController()
    const useCases = compose({
      config,
      store,
      vault,
      hashing,
      authorities,
      clock,
      random,
      log,
      issuers: () => issuers,
    })
    const { signingKeys, endedSessions, rules } = useCases
    const [build] = await Promise.all([
      readBuildInfo(),
      rotateKeys(signingKeys, store, options),
      endedSessions.refresh(),
      rules.refresh(),
    ])
    const open = await openListeners({
      config,
      useCases,
      authorities,
      build,
      clock,
      random,
      log,
      stopping: stopping.signal,
      addIssuers: (added) => issuers.push(...added),
    })
    followRules(useCases, open)
    const background = runInBackground(
      [
        { name: 'ended sessions', every: FOLLOW_ENDINGS, round: () => endedSessions.refresh() },
        { name: 'rules', every: FOLLOW_RULES, round: () => rules.refresh() },
        { name: 'signing keys', every: FOLLOW_KEYS, round: () => signingKeys.refresh() },
        {
          name: 'key rotation',
          every: ROTATE_KEYS,
          round: async () => {
            await rotateKeys(signingKeys, store, options)
            await signingKeys.removeGone()
          },
        },
        { name: 'certificates', every: RENEW_CERTIFICATES, round: () => open.renewCertificates() },
        { name: 'expired sessions', every: END_EXPIRED, round: () => useCases.endExpired() },
        { name: 'sweep', every: SWEEP, round: () => sweep(store, clock) },
      ],
      log,
    )

    const { identity } = config.listeners[0]
    return {
      listeners: open.listeners,
      caFile: identity === undefined ? homeFiles(config.home).ca : identity.ca,
      renewCertificates: () => open.renewCertificates(),
      async stop() {
        stopping.abort()
        await open.close(DRAIN)
        await background.stop()
        await store.close()
      },
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** What depends on the signers and CAs: the keys that are kept of them, and the certificates that handshakes ask for. */
function followRules(
  { rules, signerKeys }: Pick<ReturnType<typeof compose>, 'rules' | 'signerKeys'>,
  open: Pick<OpenListeners, 'nameClientCas'>,
): void {
  let named = ''
  const follow = () => {
    signerKeys.forgetOthers(rules.signers().map(({ id }) => id))
    const cas = rules.cas().filter(({ isVerified, isAuthEnabled }) => isVerified && isAuthEnabled)
    const pems = cas.map(({ certPem }) => certPem)
    if (pems.join('') === named) return
    named = pems.join('')
    open.nameClientCas(pems)
  }
  follow()
  rules.onChange(follow)
}

/** Makes the first key, or the next when its time has come, and records it. */
async function rotateKeys(
  signingKeys: SigningKeys,
  store: Pick<Store, 'events'>,
  { clock, random, log }: InstanceOptions,
): Promise<void> {
  const key = await signingKeys.rotateIfDue()
  if (key === undefined) return
  const recordEvent = createRecordEvent({ clock, random })
  const { kid } = key
  await store.events.insert(
    recordEvent(undefined, { type: 'signing-key.created', details: { kid } }),
  )
  log.info({ kid, algorithm: key.algorithm }, 'a signing key was made')
}
