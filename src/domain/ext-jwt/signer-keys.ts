/**
 * The keys of every External JWT Signer, cached per signer, so that equal kids of two signers never mix (R105). Key
 * sets are fetched on demand, concurrent requests share one fetch, and a set survives an outage (API 4.5, R107). The
 * `fetchJson` port decides how a document is fetched, and from where it may be. A worker fetches nothing: it copies the
 * sets of its supervisor (D-498).
 */
import type { KeyObject } from 'node:crypto'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import { isJsonObject } from '../../base/json.ts'
import type { Log } from '../../base/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, hours, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ExternalJwtSigner, SignerKeys } from './signer.ts'
import {
  type CertificateKey,
  type ExternalJwtAlgorithm,
  keyFromCertificate,
  keyFromJwk,
  type VerificationKey,
} from './verification-key.ts'

/** Returns the value of a JSON document. Rejects with a message that may be shown to an administrator. */
export type FetchJson = (url: string) => Promise<unknown>

/** What the header of a token says about its key. */
export interface WantedKey {
  readonly kid: string | undefined
  readonly alg: ExternalJwtAlgorithm
}

export type FetchOutcome = 'succeeded' | 'failed'

export type FoundKey = { readonly key: KeyObject } | { readonly why: string }

/** The state of a signer's key set: read-only fields of API 4.5. */
export interface KeySetStatus {
  /** When the current set was fetched. */
  readonly lastFetchedAt: Instant | undefined
  /** Why the latest fetch failed; undefined if it succeeded. */
  readonly lastError: string | undefined
  readonly keys: readonly Omit<VerificationKey, 'publicKey'>[]
}

/** The set that another process asks for. */
export interface WantedKeySet {
  readonly signerId: ExternalJwtSignerId
  readonly endpoint: string
  /** Fetch it if the latest fetch ended at least this long ago. If missing, nothing is fetched. */
  readonly interval?: Duration
}

/** What the process that fetches knows of a set, in a form that can be sent to another process as JSON. */
export interface KnownKeySet {
  /** The JWK set of the latest successful fetch. */
  readonly document?: unknown
  readonly fetchedAt?: Instant | undefined
  readonly lastError?: string | undefined
  /** How long ago the latest fetch ended, and the latest successful one. */
  readonly askedAge?: Duration | undefined
  readonly goodAge?: Duration | undefined
}

export type AskKeySet = (wanted: WantedKeySet) => Promise<KnownKeySet>

export interface SignerKeyCache {
  /** Returns the one key that can have signed such a token, or why there is none. */
  keyFor(signer: Pick<ExternalJwtSigner, 'id' | 'keys'>, wanted: WantedKey): Promise<FoundKey>
  /** Undefined if no token has needed the key set yet, and for a signer with a certificate. */
  status(signer: Pick<ExternalJwtSigner, 'id' | 'keys'>): Promise<KeySetStatus | undefined>
  /** Answers the caches of other processes. */
  keySet: AskKeySet
  /** Drops the state of all signers except these. */
  forgetOthers(signerIds: Iterable<ExternalJwtSignerId>): void
}

/** API 4.5: anonymous callers choose the kid, so an unknown one triggers a fetch at most once a second. */
const FLOOR = seconds(1)
/** D-109: a set older than this is fetched again in the background. */
const REFRESH_AGE = minutes(5)
/** A set is never used longer than this without a fetch attempt: the longest that a withdrawn key is still accepted. */
const MAX_AGE = minutes(10)
/** How often to retry a signer that does not answer while its last good set is used. */
const OUTAGE_INTERVAL = seconds(30)
/** How long the last good set is used during an outage (R107). */
const OUTAGE_LIMIT = hours(24)
const MOST_KEYS = 64

interface KeySet {
  readonly signerId: ExternalJwtSignerId
  readonly endpoint: string
  document?: unknown
  keys: readonly VerificationKey[]
  fetchedAt?: Instant | undefined
  lastError?: string | undefined
  /** In the monotonic time of `uptime`: when the latest fetch ended, and the latest successful one. */
  askedAt?: Duration | undefined
  goodAt?: Duration | undefined
  fetching?: Promise<void> | undefined
}

export function createSignerKeys(deps: {
  readonly fetchJson: FetchJson
  readonly clock: Clock
  readonly log?: Pick<Log, 'info' | 'warn'>
  /** Set in a worker: asks the supervisor, from which this cache copies instead of fetching (D-498). */
  readonly askKeySet?: AskKeySet | undefined
  readonly onFetch?: (outcome: FetchOutcome) => void
}): SignerKeyCache {
  const { fetchJson, clock, log, askKeySet } = deps
  const sets = new Map<ExternalJwtSignerId, KeySet>()
  const certificates = new Map<
    ExternalJwtSignerId,
    { readonly pem: string; readonly key: CertificateKey | undefined }
  >()

  const since = (at: Duration | undefined): Duration =>
    milliseconds(at === undefined ? Number.POSITIVE_INFINITY : clock.uptime() - at)

  /** A new endpoint means a new set: discard the old one. */
  function setOf(signerId: ExternalJwtSignerId, endpoint: string): KeySet {
    const known = sets.get(signerId)
    if (known?.endpoint === endpoint) return known
    const set: KeySet = { signerId, endpoint, keys: [] }
    sets.set(signerId, set)
    return set
  }

  /** Joins a running fetch; starts one, unless one has ended within the interval. */
  async function ask(set: KeySet, interval: Duration): Promise<void> {
    // A worker may have asked for a copy that is older than this interval: then it asks once more.
    if (set.fetching !== undefined) await set.fetching
    if (set.fetching !== undefined) return set.fetching
    if (since(set.askedAt) < interval) return
    const work = askKeySet === undefined ? fetchSet(set) : copySet(set, askKeySet, interval)
    set.fetching = work.finally(() => {
      set.fetching = undefined
    })
    return set.fetching
  }

  /** Copies what the supervisor knows. It fetches first if its latest fetch is older than the interval. */
  async function copySet(set: KeySet, from: AskKeySet, interval?: Duration): Promise<void> {
    const { signerId, endpoint } = set
    try {
      const wanted = { signerId, endpoint, ...(interval === undefined ? {} : { interval }) }
      const { document, fetchedAt, lastError, askedAge, goodAge } = await from(wanted)
      const now = clock.uptime()
      const ago = (age: Duration | undefined) =>
        age === undefined ? undefined : milliseconds(now - age)
      set.keys = document === undefined ? [] : readKeySet(document)
      set.fetchedAt = fetchedAt
      set.lastError = lastError
      set.askedAt = ago(askedAge)
      set.goodAt = ago(goodAge)
    } catch (error) {
      // The supervisor is gone, and this worker is about to end too.
      set.lastError = error instanceof Error ? error.message : 'the other process did not answer'
    }
  }

  async function fetchSet(set: KeySet): Promise<void> {
    const { signerId } = set
    try {
      const document = await fetchJson(set.endpoint)
      set.keys = readKeySet(document)
      set.document = document
      set.fetchedAt = clock.now()
      set.goodAt = clock.uptime()
      if (set.lastError !== undefined)
        log?.info({ signerId }, 'the keys of a signer can be fetched again')
      set.lastError = undefined
      deps.onFetch?.('succeeded')
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'the fetch failed'
      if (set.lastError !== reason) {
        log?.warn({ signerId, reason }, 'the keys of a signer could not be fetched')
      }
      set.lastError = reason
      deps.onFetch?.('failed')
    } finally {
      set.askedAt = clock.uptime()
    }
  }

  async function keyFromSet(set: KeySet, wanted: WantedKey): Promise<FoundKey> {
    if (since(set.askedAt) >= MAX_AGE) await ask(set, MAX_AGE)
    else if (since(set.goodAt) >= REFRESH_AGE) void ask(set, OUTAGE_INTERVAL)
    const usable = () => (since(set.goodAt) < OUTAGE_LIMIT ? fitting(set.keys, wanted) : [])
    if (usable().length === 0) await ask(set, FLOOR)

    const [key, ...others] = usable()
    if (key !== undefined && others.length === 0) return { key: key.publicKey }
    if (key !== undefined) return { why: 'several keys of the signer match the token' }
    const failed = set.lastError === undefined ? '' : `; the latest fetch failed: ${set.lastError}`
    return { why: `no key of the signer matches the token${failed}` }
  }

  function keyFromPem(
    signerId: ExternalJwtSignerId,
    { certPem: pem, kid }: Extract<SignerKeys, { kind: 'certificate' }>,
    wanted: WantedKey,
  ): FoundKey {
    const known = certificates.get(signerId)
    const key = known?.pem === pem ? known.key : keyFromCertificate(pem)
    certificates.set(signerId, { pem, key })
    if (key === undefined) return { why: "the signer's certificate has no key that can be used" }
    if (kid !== undefined && kid !== wanted.kid) {
      return { why: "the token names a key that is not the one of the signer's certificate" }
    }
    if (!key.algorithms.includes(wanted.alg)) {
      return { why: "the key of the signer's certificate is not for that algorithm" }
    }
    const now = clock.now()
    if (now < key.notBefore) return { why: "the signer's certificate is not valid yet" }
    if (now > key.notAfter) return { why: "the signer's certificate has expired" }
    return { key: key.publicKey }
  }

  return {
    async keyFor({ id, keys }, wanted) {
      return keys.kind === 'certificate'
        ? keyFromPem(id, keys, wanted)
        : keyFromSet(setOf(id, keys.jwksEndpoint), wanted)
    },

    async status({ id, keys }) {
      if (keys.kind === 'certificate') return undefined
      const set = setOf(id, keys.jwksEndpoint)
      if (askKeySet !== undefined) await copySet(set, askKeySet)
      if (set.askedAt === undefined) return undefined
      return {
        lastFetchedAt: set.fetchedAt,
        lastError: set.lastError,
        keys: set.keys.map(({ kid, algorithms }) => ({ kid, algorithms })),
      }
    },

    async keySet({ signerId, endpoint, interval }) {
      const set = setOf(signerId, endpoint)
      if (interval !== undefined) await ask(set, interval)
      const { document, fetchedAt, lastError, askedAt, goodAt } = set
      const age = (at: Duration | undefined) => (at === undefined ? undefined : since(at))
      return { document, fetchedAt, lastError, askedAge: age(askedAt), goodAge: age(goodAt) }
    },

    forgetOthers(signerIds) {
      const kept = new Set(signerIds)
      for (const map of [sets, certificates]) {
        for (const id of map.keys()) if (!kept.has(id)) map.delete(id)
      }
    },
  }
}

/** Without a kid, every key of the signer is a candidate. */
function fitting(keys: readonly VerificationKey[], { kid, alg }: WantedKey) {
  const named = keys.filter((key) => kid === undefined || key.kid === kid)
  return named.filter((key) => key.algorithms.includes(alg))
}

/** RFC 7517 §5: skips keys that we cannot use. An empty set is a valid answer: the signer has withdrawn its keys. */
function readKeySet(document: unknown): readonly VerificationKey[] {
  const keys = isJsonObject(document) ? document['keys'] : undefined
  if (!Array.isArray(keys)) throw new Error('the answer is not a JWK set')
  if (keys.length > MOST_KEYS) throw new Error(`the set has more than ${MOST_KEYS} keys`)
  return keys.map(keyFromJwk).filter((key) => key !== undefined)
}
