/**
 * What counts once, by its hash, until it would be refused for its age: the states of logins that came back from an IdP
 * (D-155), and DPoP proofs (D-450).
 */
import type { Kysely } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import { insertRow } from '../fixed-query.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

export function sqlSpentHashes(db: Kysely<Tables>, table: 'spent_states' | 'used_proofs') {
  return {
    insert: ({ hash, expiresAt }: { readonly hash: string; readonly expiresAt: Instant }) =>
      insertRow(db, table, { hash, expires_at: expiresAt }, 'hash'),

    removeExpired: removeBefore(db, { table, key: ['hash'], time: 'expires_at' }),
  }
}
