/**
 * Guesses at the codes of one identity since the last correct one (D-18, R086). A guess is counted before it is
 * checked, and its row stays locked until the block that it causes is written, so that no other guess gets in between.
 */
import { type Kysely, sql } from 'kysely'
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { CodeGuesses } from '../../domain/factors/stores.ts'
import { atomically } from '../atomically.ts'
import type { Tables } from '../tables.ts'

export function sqlCodeGuesses(db: Kysely<Tables>): CodeGuesses {
  return {
    take: (identityId, now, blockedUntil) =>
      atomically(db, async (tx) => {
        const standing = await count(tx, identityId, now)
        // The identity was deleted, and its guesses with it.
        if (standing === undefined) return { guesses: 1 }

        const { guesses, blocked_until } = standing
        if (blocked_until !== null && blocked_until > now) return { blockedUntil: blocked_until }

        // The guess that reaches the limit is still checked; the block applies to those after it.
        const block = blockedUntil(guesses)
        if (block !== undefined) {
          await tx
            .updateTable('code_guesses')
            .set({ blocked_until: block })
            .where('identity_id', '=', identityId)
            .execute()
        }
        return { guesses }
      }),

    async clear(identityId) {
      await db.deleteFrom('code_guesses').where('identity_id', '=', identityId).execute()
    },
  }
}

/** Adds one unless blocked, and returns which it was. The count continues after a block, so that blocks get longer. */
async function count(
  db: Kysely<Tables>,
  identityId: IdentityId,
  now: Instant,
): Promise<{ guesses: number; blocked_until: Instant | null } | undefined> {
  const { rows } = await sql<{ guesses: number; blocked_until: Instant | null }>`
    insert into code_guesses (identity_id, guesses)
    select id, 1 from identities where id = ${identityId}
    on conflict (identity_id) do update
    set guesses = code_guesses.guesses
      + case when code_guesses.blocked_until > ${now} then 0 else 1 end
    returning guesses, blocked_until
  `.execute(db)
  return rows[0]
}
