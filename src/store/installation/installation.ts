/** The installation that owns this database (D-48): one row. */
import type { Kysely } from 'kysely'
import type { Installation } from '../../domain/installation/stores.ts'
import { insertRow } from '../fixed-query.ts'
import { updateRow } from '../one-row.ts'
import type { Tables } from '../tables.ts'

const THE_ROW = 1
const find = (db: Kysely<Tables>) => db.selectFrom('installation').where('id', '=', THE_ROW)

export function sqlInstallation(db: Kysely<Tables>): Installation {
  return {
    async find() {
      const query = find(db).select(['secret_fingerprint', 'sealed_hashing_secret'])
      const row = await query.executeTakeFirst()
      return (
        row && {
          secretFingerprint: row.secret_fingerprint,
          sealedHashingSecret: row.sealed_hashing_secret,
        }
      )
    },

    async findSecretFingerprint() {
      const row = await find(db).select('secret_fingerprint').executeTakeFirst()
      return row?.secret_fingerprint
    },

    insert({ secretFingerprint, sealedHashingSecret, createdAt }) {
      const row = {
        id: THE_ROW,
        secret_fingerprint: secretFingerprint,
        sealed_hashing_secret: sealedHashingSecret,
        created_at: createdAt,
      }
      return insertRow(db, 'installation', row, 'id')
    },

    async holdSecret(fingerprint) {
      const { numUpdatedRows } = await db
        .updateTable('installation')
        .set((row) => ({ created_at: row.ref('created_at') }))
        .where('id', '=', THE_ROW)
        .where('secret_fingerprint', '=', fingerprint)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    replaceSecret: (previous, { secretFingerprint, sealedHashingSecret }) =>
      updateRow(
        db,
        'installation',
        { id: THE_ROW, secret_fingerprint: previous },
        {
          secret_fingerprint: secretFingerprint,
          sealed_hashing_secret: sealedHashingSecret,
        },
      ),

    async findMove() {
      const row = await find(db).select('moved_to').executeTakeFirst()
      return row?.moved_to ?? undefined
    },

    async touch() {
      // Use a different value each time: SQLite writes nothing if nothing changes.
      await db
        .updateTable('installation')
        .set((row) => ({ touches: row('touches', '+', 1) }))
        .where('id', '=', THE_ROW)
        .executeTakeFirstOrThrow()
    },
  }
}
