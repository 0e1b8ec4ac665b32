/** Whose database this is (D-48): one row. */
import type { Kysely } from 'kysely'
import type { Installation } from '../domain/installation/stores.ts'
import type { Tables } from './tables.ts'

const THE_ROW = 1

export function sqlInstallation(db: Kysely<Tables>): Installation {
  return {
    async findSecretFingerprint() {
      const row = await db
        .selectFrom('installation')
        .select('secret_fingerprint')
        .where('id', '=', THE_ROW)
        .executeTakeFirst()
      return row?.secret_fingerprint
    },

    async insert({ secretFingerprint, createdAt }) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('installation')
        .values({ id: THE_ROW, secret_fingerprint: secretFingerprint, created_at: createdAt })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },
  }
}
