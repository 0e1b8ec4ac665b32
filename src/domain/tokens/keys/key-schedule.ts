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

/** How long a verifier may keep the key set (D-32). */
export const KEY_SET_MAX_AGE: Duration = minutes(5)

/** How long a new key is published before its first use: twice what a verifier may keep, R062. */
export const PUBLISH_LEAD: Duration = minutes(10)

/** Times of one key, in order. `oldestFirst` is every key by generation. */
interface Scheduled {
  readonly key: StoredSigningKey
  /** From when on nobody needs it; undefined while it has no successor. */
  readonly goneFrom: Instant | undefined
}

function schedule(oldestFirst: readonly StoredSigningKey[]): readonly Scheduled[] {
  return oldestFirst.map((key, i) => {
    const successor = oldestFirst[i + 1]
    return { key, goneFrom: successor && plus(successor.activeFrom, key.tokenLife) }
  })
}

/**
 * The key that signs now: the newest whose time has come. Where there is none, a key that replaced all others was made
 * by somebody whose clock is ahead of ours (D-135): there is nothing else to sign with.
 */
export function signingKey(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): StoredSigningKey | undefined {
  return oldestFirst.findLast((key) => key.activeFrom <= now) ?? oldestFirst[0]
}

/** `waiting`: published, and not used yet. `retiring`: used no more, and published while a token of it can be alive. */
export const KEY_STATES = ['waiting', 'signing', 'retiring'] as const
export type KeyState = (typeof KEY_STATES)[number]

export interface PublishedKey {
  readonly key: StoredSigningKey
  readonly state: KeyState
  /** Undefined while it has no successor. */
  readonly publishedUntil: Instant | undefined
}

/** The published keys and where each of them stands, oldest first. */
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

/** The keys whose tokens are good now, and that the key set lists. */
export function publishedKeys(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): readonly StoredSigningKey[] {
  return schedule(oldestFirst)
    .filter(({ goneFrom }) => goneFrom === undefined || goneFrom > now)
    .map(({ key }) => key)
}

/** The keys that can be forgotten. */
export function goneKeys(
  oldestFirst: readonly StoredSigningKey[],
  now: Instant,
): readonly StoredSigningKey[] {
  return schedule(oldestFirst)
    .filter(({ goneFrom }) => goneFrom !== undefined && goneFrom <= now)
    .map(({ key }) => key)
}

/** The newest key has signed for long enough that its successor must be made now, to be known in time. */
export function isRotationDue(
  oldestFirst: readonly StoredSigningKey[],
  rotation: Duration,
  now: Instant,
): boolean {
  const newest = oldestFirst.at(-1)
  return newest === undefined || plus(newest.activeFrom, rotation) <= plus(now, PUBLISH_LEAD)
}

/** From when on a key made now signs. The first one signs at once: nobody has an older key set. */
export function activeFrom(oldestFirst: readonly StoredSigningKey[], now: Instant): Instant {
  if (oldestFirst.length === 0) return now
  const newest = oldestFirst.at(-1)
  // A key that was made a moment ago and waits for its time is never overtaken by its successor.
  const start = newest !== undefined && newest.activeFrom > now ? newest.activeFrom : now
  return plus(start, PUBLISH_LEAD)
}
