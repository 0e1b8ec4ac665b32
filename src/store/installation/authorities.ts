/** Our own certificate authorities, their keys sealed (D-48). The generation decides between instances. */
import type { Kysely } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import { AUTHORITY_ROLES } from '../../domain/certificates/own/authority-record.ts'
import type { Authorities } from '../../domain/certificates/stores.ts'
import { shapedRows } from '../described-rows.ts'
import { integer, oneOf, text } from '../reading.ts'
import type { Tables } from '../tables.ts'

const { fromRow, toRow } = shapedRows('authorities', (row) => `${row.role}/${row.generation}`, {
  role: oneOf(...AUTHORITY_ROLES),
  generation: integer,
  certificatePem: text,
  sealedKey: text,
  createdAt: integer<Instant>,
  notAfter: integer<Instant>,
})

export function sqlAuthorities(db: Kysely<Tables>): Authorities {
  return {
    async list() {
      const query = db.selectFrom('authorities').selectAll().orderBy('generation')
      const authorities = (await query.execute()).map(fromRow)
      return AUTHORITY_ROLES.flatMap((role) => authorities.filter((one) => one.role === role))
    },

    async insert(authority) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('authorities')
        .values(toRow(authority))
        .onConflict((conflict) => conflict.columns(['role', 'generation']).doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },
  }
}
