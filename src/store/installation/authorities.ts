/** Our own certificate authorities, their keys sealed (D-48). The generation decides between instances. */
import type { Kysely, Selectable } from 'kysely'
import {
  AUTHORITY_ROLES,
  type StoredAuthority,
} from '../../domain/certificates/own/authority-record.ts'
import type { Authorities } from '../../domain/certificates/stores.ts'
import { oneOf, reading } from '../reading.ts'
import type { AuthorityRow, Tables } from '../tables.ts'

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

function toRow(authority: StoredAuthority): AuthorityRow {
  return {
    role: authority.role,
    generation: authority.generation,
    certificate_pem: authority.certificatePem,
    sealed_key: authority.sealedKey,
    created_at: authority.createdAt,
    not_after: authority.notAfter,
  }
}

function fromRow(row: Selectable<AuthorityRow>): StoredAuthority {
  const read = reading('authorities', `${row.role}/${row.generation}`, row)
  return {
    role: read('role', oneOf(...AUTHORITY_ROLES)),
    generation: row.generation,
    certificatePem: row.certificate_pem,
    sealedKey: row.sealed_key,
    createdAt: row.created_at,
    notAfter: row.not_after,
  }
}
