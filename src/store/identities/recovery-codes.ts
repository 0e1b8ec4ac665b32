/**
 * The recovery codes of an identity: D-17, D-262. They refer to the authenticator app and are deleted with it, and work
 * only once it is verified. Each is spent in a single statement.
 */
import type { Kysely } from 'kysely'
import type { IdentityId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { RecoveryCodes } from '../../domain/factors/stores.ts'
import { atomically } from '../atomically.ts'
import type { Tables } from '../tables.ts'

export function sqlRecoveryCodes(db: Kysely<Tables>): RecoveryCodes {
  return {
    async take(identityId, code) {
      const { numDeletedRows } = await db
        .deleteFrom('recovery_codes')
        .where('identity_id', '=', identityId)
        .where('code_hash', '=', code)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('totp_enrollments')
              .select('id')
              .where('identity_id', '=', identityId)
              .where('verified_at', 'is not', null),
          ),
        )
        .executeTakeFirst()
      return numDeletedRows === 1n
    },

    async count(identityId) {
      const { count } = await db
        .selectFrom('recovery_codes')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('identity_id', '=', identityId)
        .executeTakeFirstOrThrow()
      return count
    },

    replace: (identityId, codes) =>
      atomically(db, async (tx) => {
        // Lock the row, so that of two concurrent calls only one set of codes remains, not both.
        const { numUpdatedRows } = await tx
          .updateTable('totp_enrollments')
          .set((row) => ({ last_step: row.ref('last_step') }))
          .where('identity_id', '=', identityId)
          .where('verified_at', 'is not', null)
          .executeTakeFirst()
        if (numUpdatedRows === 1n) await replaceCodes(tx, identityId, codes)
      }),
  }
}

/** Call it in the transaction that changes the enrollment. */
export async function replaceCodes(
  db: Kysely<Tables>,
  identityId: IdentityId,
  codes: readonly SecretHash[],
): Promise<void> {
  await db.deleteFrom('recovery_codes').where('identity_id', '=', identityId).execute()
  if (codes.length === 0) return
  await db
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ identity_id: identityId, code_hash: code })))
    // Codes have thirty bits, so two can be equal by chance; such a code works once.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
