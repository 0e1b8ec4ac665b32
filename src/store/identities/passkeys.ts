/** The passkeys of identities: D-430. Each use moves the counter in a single statement (D-435). */
import type { Kysely } from 'kysely'
import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Passkeys } from '../../domain/factors/stores.ts'
import { PASSKEY } from '../../entities/passkey.ts'
import { describedRows } from '../described-rows.ts'
import { fixedQuery, insertRow } from '../fixed-query.ts'
import { deleteRow, findRow, updateRow } from '../one-row.ts'
import type { Tables } from '../tables.ts'
import { removeCodelessApp, removeOrphanedCodes } from './recovery-codes.ts'

const { fromRow, toRow } = describedRows('passkeys', PASSKEY)

const select = (db: Kysely<Tables>) => db.selectFrom('passkeys').selectAll()
const FIND = fixedQuery((db, { id }: { id: AuthenticatorId }) => select(db).where('id', '=', id))
const LIST_OF = fixedQuery((db, { identityId }: { identityId: IdentityId }) =>
  select(db).where('identity_id', '=', identityId).orderBy('created_at').orderBy('id'),
)
const FIND_ONE_OF = fixedQuery((db, { identityId }: { identityId: IdentityId }) =>
  select(db).where('identity_id', '=', identityId).limit(1),
)

export function sqlPasskeys(db: Kysely<Tables>): Passkeys {
  return {
    find: (id) => FIND.find(db, { id }, fromRow),

    findByCredential: (credentialId) =>
      findRow(db, 'passkeys', { credential_id: credentialId }, fromRow),

    async listOf(identityId) {
      return (await LIST_OF.run(db, { identityId })).rows.map(fromRow)
    },

    async listEnrolled(identityIds) {
      const [identityId, second] = identityIds
      if (identityId === undefined) return new Set()
      // The usual case, at every login: a query whose text is always the same.
      if (second === undefined) {
        const row = await FIND_ONE_OF.first(db, { identityId })
        return new Set(row === undefined ? [] : [identityId])
      }
      const rows = await db
        .selectFrom('passkeys')
        .select('identity_id')
        .distinct()
        .where('identity_id', 'in', identityIds)
        .execute()
      return new Set(rows.map((row) => row.identity_id))
    },

    insert: (passkey) => insertRow(db, 'passkeys', toRow(passkey), 'credential_id'),

    async markUsed(id, { signCount, isBackedUp, at }) {
      const { numUpdatedRows } = await db
        .updateTable('passkeys')
        .set({ sign_count: signCount, is_backed_up: isBackedUp ? 1 : 0, last_used_at: at })
        .where('id', '=', id)
        // Zero stays zero: an authenticator without a counter. Everything else must grow.
        .where('sign_count', signCount === 0 ? '=' : '<', signCount)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    rename: (identityId, id, name) =>
      updateRow(db, 'passkeys', { identity_id: identityId, id }, { name }),

    async remove(identityId, id) {
      const isRemoved = await deleteRow(db, 'passkeys', { identity_id: identityId, id })
      await removeOrphanedCodes(db, identityId)
      await removeCodelessApp(db, identityId)
      return isRemoved
    },

    async removeAll(identityId) {
      const query = db.deleteFrom('passkeys').where('identity_id', '=', identityId).returning('id')
      const removed = await query.execute()
      await removeOrphanedCodes(db, identityId)
      await removeCodelessApp(db, identityId)
      return removed.map(({ id }) => id)
    },
  }
}
