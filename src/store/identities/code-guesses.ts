/**
 * Guesses at the codes of one identity since the last correct one (D-18, R086). A guess is counted before it is
 * checked, and its row stays locked until the block that it causes is written, so that no other guess gets in between.
 */
import { type Kysely, sql } from 'kysely'
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { CodeGuesses } from '../../domain/factors/stores.ts'
import { fixedQuery } from '../fixed-query.ts'
import { updateRow } from '../one-row.ts'
import type { Tables } from '../tables.ts'
import { atomically } from '../transactions/atomically.ts'

/**
 * Adds one unless blocked, and returns which it was. The count continues after a block, so that blocks get longer. The
 * lock waits for a deletion of the identity and then finds nothing; without it, the foreign key would fail (D-284).
 */
const COUNT = fixedQuery((db, { identityId, now }: { identityId: IdentityId; now: Instant }) =>
  db
    .insertInto('code_guesses')
    .columns(['identity_id', 'guesses'])
    .expression(
      db
        .selectFrom('identities')
        .select(['id', sql<number>`1`.as('guesses')])
        .where('id', '=', identityId)
        .forKeyShare(),
    )
    .onConflict((conflict) =>
      conflict.column('identity_id').doUpdateSet({
        guesses: sql<number>`code_guesses.guesses
          + case when code_guesses.blocked_until > ${now} then 0 else 1 end`,
      }),
    )
    .returning(['guesses', 'blocked_until']),
)

export function sqlCodeGuesses(db: Kysely<Tables>): CodeGuesses {
  return {
    take: (identityId, now, blockedUntil) =>
      atomically(db, async (tx) => {
        const standing = await COUNT.first(tx, { identityId, now })
        // The identity was deleted, and its guesses with it.
        if (standing === undefined) return { guesses: 1 }

        const { guesses, blocked_until } = standing
        if (blocked_until !== null && blocked_until > now) return { blockedUntil: blocked_until }

        // The guess that reaches the limit is still checked; the block applies to those after it.
        const block = blockedUntil(guesses)
        if (block !== undefined) {
          await updateRow(tx, 'code_guesses', { identity_id: identityId }, { blocked_until: block })
        }
        return { guesses }
      }),

    async clear(identityId) {
      await db.deleteFrom('code_guesses').where('identity_id', '=', identityId).execute()
    },
  }
}
