/**
 * When a signing key signs and how long it stays published. D-23. Pure: everything follows from the times of the
 * keys and of their successors, so instances that share a database agree without talking.
 *
 *   created ──lead──▶ signs ─────────▶ successor signs ──life of its last token──▶ gone
 *   ├────────────────────────── published ────────────────────────────────────────┤
 *
 * Access tokens and ID tokens have a chain of keys each (D-320): a key's successor is the next one of its own chain.
 */
import { type Duration, minutes } from '../../../base/time/duration.ts'
import { type Instant, later, plus } from '../../../base/time/instant.ts'
import type { EntityOf } from '../../../entities/field.ts'
import type { SIGNING_KEY } from '../../../entities/signing-key.ts'
import {
  type SigningAlgorithm,
  type StoredSigningKey,
  TOKEN_KINDS,
  type TokenKind,
} from './signing-key.ts'

/** How long a verifier may cache the key set (D-32). */
export const KEY_SET_MAX_AGE: Duration = minutes(5)

/** How long a new key is published before its first use: twice as long as a verifier may cache the key set, R062. */
export const PUBLISH_LEAD: Duration = minutes(10)

/** Whether tokens of this kind may be signed by this key: an access token never by a key for ID tokens, or vice versa. */
export function canSign({ purpose }: Pick<StoredSigningKey, 'purpose'>, kind: TokenKind): boolean {
  return purpose === kind || purpose === 'any'
}

/** The keys of one kind of token, in the same order. */
function chainOf(
  oldestFirst: readonly StoredSigningKey[],
  kind: TokenKind,
): readonly StoredSigningKey[] {
  return oldestFirst.filter((key) => canSign(key, kind))
}

/**
 * When a key is no longer needed; undefined while it has no successor. A key that signs both kinds needs one for each.
 * `oldestFirst` is every key by generation.
 */
function goneFrom(
  oldestFirst: readonly StoredSigningKey[],
  key: StoredSigningKey,
): Instant | undefined {
  let latest: Instant | undefined
  for (const kind of TOKEN_KINDS) {
    if (!canSign(key, kind)) continue
    const successor = chainOf(oldestFirst, kind).find(
      ({ generation }) => generation > key.generation,
    )
    if (successor === undefined) return undefined
    const end = plus(successor.activeFrom, key.tokenLife)
    latest = latest === undefined ? end : later(latest, end)
  }
  return latest
}

/**
 * Returns the key that signs tokens of this kind now: the newest active one. If none is active, an instance whose clock
 * is ahead of ours created a key that replaced all others (D-135): use it, since there is no other.
 */
export function signingKey(
  oldestFirst: readonly StoredSigningKey[],
  kind: TokenKind,
  now: Instant,
): StoredSigningKey | undefined {
  const chain = chainOf(oldestFirst, kind)
  return chain.findLast((key) => key.activeFrom <= now) ?? chain[0]
}

type KeyState = EntityOf<typeof SIGNING_KEY>['state']

export interface PublishedKey {
  readonly key: StoredSigningKey
  readonly state: KeyState
  /** Undefined while it has no successor. */
  readonly publishedUntil: Instant | undefined
}

/** The published keys and the state of each, oldest first. */
export function describeKeys(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): readonly PublishedKey[] {
  const stateOf = (key: StoredSigningKey): KeyState => {
    const signing = TOKEN_KINDS.filter((kind) => canSign(key, kind)).map(
      (kind) => signingKey(oldestFirst, kind, now)?.generation ?? key.generation,
    )
    if (signing.includes(key.generation)) return 'signing'
    return signing.some((generation) => key.generation > generation) ? 'waiting' : 'retiring'
  }
  return publishedKeys(oldestFirst, now).map((key) => ({
    key,
    state: stateOf(key),
    publishedUntil: goneFrom(oldestFirst, key),
  }))
}

/** The keys whose tokens are valid now; the key set lists them. */
export function publishedKeys(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): readonly StoredSigningKey[] {
  const gone = goneKeys(oldestFirst, now)
  return oldestFirst.filter((key) => !gone.includes(key))
}

/** The keys that can be deleted. */
export function goneKeys(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): readonly StoredSigningKey[] {
  return oldestFirst.filter((key) => {
    const end = goneFrom(oldestFirst, key)
    return end !== undefined && end <= now
  })
}

/**
 * Whether the successor of the newest key of this kind must be created now: it is old enough that verifiers must learn of
 * the next one, or its algorithm is no longer the configured one.
 */
export function isRotationDue(
  oldestFirst: readonly StoredSigningKey[],
  kind: TokenKind,
  configured: { readonly algorithm: SigningAlgorithm; readonly rotation: Duration },
  now: Instant,
): boolean {
  const newest = chainOf(oldestFirst, kind).at(-1)
  if (newest === undefined) return true
  // Leave a key that is not active yet alone: while a new configuration is rolled out, instances that disagree would
  // otherwise keep replacing each other's keys.
  const isOtherAlgorithm = newest.activeFrom <= now && newest.algorithm !== configured.algorithm
  return isOtherAlgorithm || plus(newest.activeFrom, configured.rotation) <= plus(now, PUBLISH_LEAD)
}

/**
 * Returns when a key of this kind that is created now starts signing. The first one signs immediately: no older key set
 * is cached anywhere.
 */
export function activeFrom(
  oldestFirst: readonly StoredSigningKey[],
  kind: TokenKind,
  now: Instant,
): Instant {
  const newest = chainOf(oldestFirst, kind).at(-1)
  if (newest === undefined) return now
  // A successor never becomes active before a key that is still waiting.
  return plus(later(newest.activeFrom, now), PUBLISH_LEAD)
}
