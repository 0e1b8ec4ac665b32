/**
 * Legacy sessions in memory, by the hash of their token: a call reads its session at most once a second (D-36).
 */
import type { ApiSessionId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import type { Identity } from '../identities/identity.ts'
import type { LegacySession } from './api-session.ts'

export interface LegacySessionCache {
  /** Returns an entry that was read within the last second, or undefined. */
  find(tokenHash: SecretHash): CachedSession | undefined
  /** Keeps the entry, unless the session was dropped since it was read. */
  keep(tokenHash: SecretHash, entry: CachedSession): void
  /**
   * Drops the session after this instance changed it, so that the next call reads it again. Resolves when every process
   * of this instance has dropped it.
   */
  forget(id: ApiSessionId): Promise<void>
}

export interface CachedSession {
  readonly session: LegacySession
  readonly identity: Identity
  /** The uptime before the read began. */
  readonly readAt: Duration
}

/** D-36. */
const KEPT_FOR: Duration = seconds(1)
/** The most sessions to cache; each is a small object. */
const MOST_KEPT = 10_000

export function createLegacySessionCache({
  clock,
}: {
  readonly clock: Pick<Clock, 'uptime'>
}): LegacySessionCache {
  const entries = new Map<SecretHash, CachedSession>()
  /** When each session was dropped, oldest first. What was read before is too old a second later anyway. */
  const dropped = new Map<ApiSessionId, Duration>()

  function drop(id: ApiSessionId): void {
    const now = clock.uptime()
    dropped.delete(id)
    dropped.set(id, now)
    for (const [other, at] of dropped) {
      if (now - at < KEPT_FOR) return
      dropped.delete(other)
    }
  }

  return {
    find(tokenHash) {
      const entry = entries.get(tokenHash)
      if (entry !== undefined && clock.uptime() - entry.readAt < KEPT_FOR) return entry
      entries.delete(tokenHash)
      return undefined
    },

    keep(tokenHash, entry) {
      const droppedAt = dropped.get(entry.session.id)
      if (droppedAt !== undefined && entry.readAt <= droppedAt) return
      entries.set(tokenHash, entry)
      if (entries.size <= MOST_KEPT) return
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    },

    async forget(id) {
      // A read that is under way does not see the change.
      drop(id)
      for (const [tokenHash, { session }] of entries) {
        if (session.id === id) entries.delete(tokenHash)
      }
    },
  }
}
