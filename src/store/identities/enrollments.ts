/**
 * Enrollments by the hash of their token: used once, at most one unused for each method of an identity, and for each
 * username. A used one stays until the clean-up deletes it. API 4.3.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import type { CaId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  ENROLLMENT_METHODS,
  type Enrollment,
  type EnrollmentKind,
  type EnrollmentMethod,
} from '../../domain/enrollments/enrollment.ts'
import type { Enrollments, OpenedBy } from '../../domain/enrollments/stores.ts'
import { usernameKey } from '../../domain/identities/authenticator.ts'
import type { ENROLLMENT_FIELDS } from '../../domain/lists/fields.ts'
import { ENROLLMENT, ENROLLMENT_OF_ANY_METHOD } from '../../entities/enrollment.ts'
import { describedRows, listColumns } from '../described-rows.ts'
import type { ListFacts } from '../dialects/list-facts.ts'
import { type Listed, listRows } from '../lists/list-rows.ts'
import { deleteRow, findRow, updateRow } from '../one-row.ts'
import { oneOf, reading, text } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import type { EnrollmentRow, Tables } from '../tables.ts'
import { atomically } from '../transactions/atomically.ts'
import { insertUnique } from '../unique-rows.ts'

const COMMON = describedRows('enrollments', ENROLLMENT_OF_ANY_METHOD)

const LIST: Listed<'enrollments', typeof ENROLLMENT_FIELDS> = {
  table: 'enrollments',
  columns: listColumns(ENROLLMENT),
  order: { field: 'createdAt', direction: 'asc' },
}

export function sqlEnrollments(db: Kysely<Tables>, facts: ListFacts): Enrollments {
  const select = db.selectFrom('enrollments').selectAll()

  async function findByToken<Method extends EnrollmentMethod>(
    tokenHash: SecretHash,
    method: Method | undefined,
    now: Instant,
  ): Promise<OpenedBy<Method>> {
    const row = await select.where('token_hash', '=', tokenHash).executeTakeFirst()
    if (row === undefined || (method !== undefined && row.method !== method)) {
      return { state: 'unknown' }
    }
    const { identity_id: identityId } = row
    if (row.used_at !== null) return { state: 'used', identityId }
    return row.expires_at > now ? opened(row) : { state: 'expired', identityId }
  }

  return {
    find: (id) => findRow(db, 'enrollments', { id }, fromRow),

    findByToken,

    async listOf(identityId) {
      const query = select.where('identity_id', '=', identityId).orderBy('created_at').orderBy('id')
      return (await query.execute()).map(fromRow)
    },

    async listUnusedOfMany(identityIds) {
      if (identityIds.length === 0) return []
      const query = select.where('used_at', 'is', null).where('identity_id', 'in', identityIds)
      return (await query.orderBy('created_at').orderBy('id').execute()).map(fromRow)
    },

    list: (query) => listRows(db, facts, LIST, fromRow, query),

    insert: (enrollment) =>
      insertUnique(
        db,
        'enrollments',
        toRow(enrollment),
        { 'method-open': ['identity_id', 'method'], 'username-in-use': ['username_key'] },
        sql`used_at is null`,
      ),

    removeExpiredLike: (enrollment, now) =>
      atomically(db, async (tx) => {
        const { identity_id, method, username_key } = toRow(enrollment)
        const rows = await tx
          .selectFrom('enrollments')
          .select(['id', 'identity_id'])
          .where('used_at', 'is', null)
          .where('expires_at', '<=', now)
          .where(({ and, or, eb }) =>
            or([
              and([eb('identity_id', '=', identity_id), eb('method', '=', method)]),
              eb('username_key', '=', username_key),
            ]),
          )
          .orderBy('id')
          // A delete alone would lock them in the order in which it finds them (D-485).
          .forUpdate()
          .execute()
        for (const { id } of rows) await tx.deleteFrom('enrollments').where('id', '=', id).execute()
        return rows.map((row) => ({ id: row.id, identityId: row.identity_id }))
      }),

    async removeUnused(identityId, method) {
      const rows = await db
        .deleteFrom('enrollments')
        .where('identity_id', '=', identityId)
        .where('method', '=', method)
        .where('used_at', 'is', null)
        .returning('id')
        .execute()
      return rows.map(({ id }) => id)
    },

    replaceToken: (id, { tokenHash, expiresAt, sealedJwt }, at) =>
      updateRow(
        db,
        'enrollments',
        { id, used_at: null },
        {
          token_hash: tokenHash,
          expires_at: expiresAt,
          sealed_jwt: sealedJwt ?? null,
          updated_at: at,
        },
      ),

    async take(tokenHash, method, now) {
      // One statement finds the enrollment and uses it up: of several concurrent calls, only one gets the row.
      const row = await db
        .updateTable('enrollments')
        .set({ used_at: now, updated_at: now, sealed_jwt: null })
        .where('token_hash', '=', tokenHash)
        .where('method', '=', method)
        .where('used_at', 'is', null)
        .where('expires_at', '>', now)
        .returningAll()
        .executeTakeFirst()
      if (row !== undefined) return opened(row)
      const found = await findByToken(tokenHash, method, now)
      // The enrollment was open when it was read again, so it was not used; something else about it changed.
      return found.state === 'open' ? { state: 'unknown' } : found
    },

    remove: (id) => deleteRow(db, 'enrollments', { id }),

    removeExpired: removeBefore(db, { table: 'enrollments', key: ['id'], time: 'expires_at' }),
  }
}

function toRow(enrollment: Enrollment): EnrollmentRow {
  const { method } = enrollment
  return {
    ...COMMON.toRow(enrollment),
    method,
    username: method === 'updb' ? enrollment.username : null,
    username_key: method === 'updb' ? usernameKey(enrollment.username) : null,
    ca_id: method === 'ottca' ? enrollment.caId : null,
  }
}

/** For a row that was selected by its method. */
function opened<Method extends EnrollmentMethod>(row: Selectable<EnrollmentRow>): OpenedBy<Method> {
  return {
    state: 'open',
    enrollment: fromRow(row) as Extract<Enrollment, { readonly method: Method }>,
  }
}

function fromRow(row: Selectable<EnrollmentRow>): Enrollment {
  return { ...COMMON.fromRow(row), ...kindOf(row) }
}

function kindOf(row: Selectable<EnrollmentRow>): EnrollmentKind {
  const read = reading('enrollments', row.id, row)
  const method = read('method', oneOf(...ENROLLMENT_METHODS))
  switch (method) {
    case 'ott':
    case 'reset-password':
    case 'reset-mfa':
      return { method }
    case 'updb':
      return { method, username: read('username', text) }
    case 'ottca':
      return { method, caId: read('ca_id', text<CaId>) }
  }
}
