/**
 * The authenticator app of an identity, pending or verified (D-17, D-19, D-240). Each time step is spent in a single
 * statement.
 */
import type { Kysely, Selectable } from 'kysely'
import type { IdentityId } from '../../base/ids.ts'
import type { TotpEnrollments } from '../../domain/factors/stores.ts'
import type { TotpEnrollment } from '../../domain/factors/totp/totp-enrollment.ts'
import { fixedQuery } from '../fixed-query.ts'
import { deleteRow, updateRow } from '../one-row.ts'
import type { Tables, TotpEnrollmentRow } from '../tables.ts'
import { atomically } from '../transactions/atomically.ts'
import {
  acceptCodes,
  removeOrphanedCodes,
  removePendingCodes,
  replacePendingCodes,
} from './recovery-codes.ts'

const FIND = fixedQuery((db, { identityId }: { identityId: IdentityId }) =>
  db.selectFrom('totp_enrollments').selectAll().where('identity_id', '=', identityId),
)

export function sqlTotpEnrollments(db: Kysely<Tables>): TotpEnrollments {
  return {
    find: (identityId) => FIND.find(db, { identityId }, fromRow),

    async listVerified(identityIds) {
      const [identityId, second] = identityIds
      if (identityId === undefined) return new Set()
      // The usual case, at every call with a token: a query whose text is always the same.
      if (second === undefined) {
        const row = await FIND.first(db, { identityId })
        return new Set(row?.verified_at == null ? [] : [identityId])
      }
      const rows = await db
        .selectFrom('totp_enrollments')
        .select('identity_id')
        .where('identity_id', 'in', identityIds)
        .where('verified_at', 'is not', null)
        .execute()
      return new Set(rows.map((row) => row.identity_id))
    },

    replacePending: (enrollment, recoveryCodes) =>
      atomically(db, async (tx) => {
        const pending = {
          id: enrollment.id,
          owner: enrollment.owner ?? null,
          sealed_secret: enrollment.sealedSecret,
          created_at: enrollment.createdAt,
        }
        const { numInsertedOrUpdatedRows } = await tx
          .insertInto('totp_enrollments')
          .values({ identity_id: enrollment.identityId, ...pending })
          .onConflict((conflict) =>
            conflict
              .column('identity_id')
              .doUpdateSet(pending)
              .where('totp_enrollments.verified_at', 'is', null),
          )
          .executeTakeFirstOrThrow()
        if (numInsertedOrUpdatedRows !== 1n) return false
        await replacePendingCodes(tx, enrollment, recoveryCodes)
        return true
      }),

    async markVerified({ identityId, id, owner }, at) {
      if (owner === undefined) return false
      return atomically(db, async (tx) => {
        const pending = { identity_id: identityId, id, owner, verified_at: null }
        const verified = { verified_at: at, owner: null }
        if (!(await updateRow(tx, 'totp_enrollments', pending, verified))) return false
        await acceptCodes(tx, { id, identityId })
        return true
      })
    },

    async removePending(identityId, owner) {
      const pending = { identity_id: identityId, owner, verified_at: null }
      const isRemoved = await deleteRow(db, 'totp_enrollments', pending)
      if (isRemoved) await removePendingCodes(db, identityId)
      return isRemoved
    },

    async remove(identityId) {
      const isRemoved = await deleteRow(db, 'totp_enrollments', { identity_id: identityId })
      await removePendingCodes(db, identityId)
      await removeOrphanedCodes(db, identityId)
      return isRemoved
    },

    async takeStep({ identityId, id }, step) {
      const { numUpdatedRows } = await db
        .updateTable('totp_enrollments')
        .set({ last_step: step })
        .where('identity_id', '=', identityId)
        .where('id', '=', id)
        .where('verified_at', 'is not', null)
        .where('last_step', '<', step)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
  }
}

function fromRow(row: Selectable<TotpEnrollmentRow>): TotpEnrollment {
  return {
    id: row.id,
    identityId: row.identity_id,
    isVerified: row.verified_at !== null,
    owner: row.owner ?? undefined,
    sealedSecret: row.sealed_secret,
    createdAt: row.created_at,
  }
}
