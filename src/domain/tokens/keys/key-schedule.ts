/**
 * When a signing key signs and how long it stays published. D-23. Pure: everything follows from the times of the
 * keys and of their successors, so instances that share a database agree without talking.
 *
 *   created ──lead──▶ signs ─────────▶ successor signs ──life of its last token──▶ gone
 *   ├────────────────────────── published ────────────────────────────────────────┤
 */
import { type Duration, minutes } from '../../../base/time/duration.ts'
import { type Instant, plus } from '../../../base/time/instant.ts'
import type { StoredSigningKey } from './signing-key.ts'

/** How long a verifier may cache the key set (D-32). */
export const KEY_SET_MAX_AGE: Duration = minutes(5)

/** How long a new key is published before its first use: twice as long as a verifier may cache the key set, R062. */
export const PUBLISH_LEAD: Duration = minutes(10)

/** Times of one key, in order. `oldestFirst` is every key by generation. */
interface Scheduled {
  readonly key: StoredSigningKey
  /** When it is no longer needed; undefined while it has no successor. */
  readonly goneFrom: Instant | undefined
}

function schedule(oldestFirst: readonly StoredSigningKey[]): readonly Scheduled[] {
  return oldestFirst.map((key, i) => {
    const successor = oldestFirst[i + 1]
    return { key, goneFrom: successor && plus(successor.activeFrom, key.tokenLife) }
  })
}

/**
 * Returns the key that signs now: the newest active one. If none is active, an instance whose clock is ahead of ours
 * created a key that replaced all others (D-135): use it, since there is no other.
 */
export function signingKey(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): StoredSigningKey | undefined {
  return oldestFirst.findLast((key) => key.activeFrom <= now) ?? oldestFirst[0]
}

/**
 * `waiting`: published, not used yet. `retiring`: no longer used, but published while one of its tokens can be valid.
 */
export const KEY_STATES = ['waiting', 'signing', 'retiring'] as const
export type KeyState = (typeof KEY_STATES)[number]

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
  const signing = signingKey(oldestFirst, now)
  const stateOf = ({ generation }: StoredSigningKey): KeyState => {
    if (signing === undefined || generation === signing.generation) return 'signing'
    return generation > signing.generation ? 'waiting' : 'retiring'
  }
  return schedule(oldestFirst)
    .filter(({ goneFrom }) => goneFrom === undefined || goneFrom > now)
    .map(({ key, goneFrom }) => ({ key, state: stateOf(key), publishedUntil: goneFrom }))
}

/** The keys whose tokens are valid now; the key set lists them. */
export function publishedKeys(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): readonly StoredSigningKey[] {
  return schedule(oldestFirst)
    .filter(({ goneFrom }) => goneFrom === undefined || goneFrom > now)
    .map(({ key }) => key)
}

/** The keys that can be deleted. */
export function goneKeys(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): readonly StoredSigningKey[] {
  return schedule(oldestFirst)
    .filter(({ goneFrom }) => goneFrom !== undefined && goneFrom <= now)
    .map(({ key }) => key)
}

/** Whether the successor of the newest key must be created now, so that verifiers know it in time. */
export function isRotationDue(
  oldestFirst: readonly StoredSigningKey[],
  rotation: Duration,
  now: Instant,
): boolean {
  const newest = oldestFirst.at(-1)
  return newest === undefined || plus(newest.activeFrom, rotation) <= plus(now, PUBLISH_LEAD)
}

/**
 * Returns when a key created now starts signing. The first one signs immediately: no older key set is cached anywhere.
 */
export function activeFrom(oldestFirst: readonly StoredSigningKey[], now: Instant): Instant {
  if (oldestFirst.length === 0) return now
  const newest = oldestFirst.at(-1)
  // A successor never becomes active before a key that is still waiting.
  const start = newest !== undefined && newest.activeFrom > now ? newest.activeFrom : now
  return plus(start, PUBLISH_LEAD)
}
