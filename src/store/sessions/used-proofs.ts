/** The DPoP proofs that were used, until they would be refused for their age: D-450. */
import type { Kysely } from 'kysely'
import type { UsedProofs } from '../../domain/tokens/stores.ts'
import { insertRow } from '../fixed-query.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

export function sqlUsedProofs(db: Kysely<Tables>): UsedProofs {
  return {
    insert: ({ hash, expiresAt }) =>
      insertRow(db, 'used_proofs', { hash, expires_at: expiresAt }, 'hash'),

    removeExpired: removeBefore(db, { table: 'used_proofs', key: ['hash'], time: 'expires_at' }),
  }
}
