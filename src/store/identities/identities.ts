/** Identities. Names are unique, and so are external ids where there is one. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { isStorable } from '../../base/text.ts'
import type { Instant } from '../../base/time/instant.ts'
import {
  type FreshIdentity,
  IDENTITY_TYPES,
  type Identity,
} from '../../domain/identities/identity.ts'
import type { Identities } from '../../domain/identities/stores.ts'
import type { IDENTITY_FIELDS } from '../../domain/lists/fields.ts'
import type { ListFacts } from '../dialects/list-facts.ts'
import { insertUnique } from '../insert-unique.ts'
import { type Listed, listRows } from '../lists/list-rows.ts'
import {
  integer,
  json,
  listOf,
  mapOf,
  oneOf,
  optional,
  reading,
  tags,
  text,
  truth,
} from '../reading.ts'
import type { IdentityRow, Tables } from '../tables.ts'
import { updateUnique } from '../update-unique.ts'

/** A write that changes nothing: PostgreSQL locks the row, SQLite has one writer anyway. */
const HOLD = { updated_at: sql.ref<Instant>('updated_at') }

const VOID_LOGINS = { voided_logins: sql<number>`voided_logins + 1` }

const LIST: Listed<'identities', typeof IDENTITY_FIELDS> = {
  table: 'identities',
  columns: {
    id: 'id',
    name: 'name',
    type: 'type',
    isAdmin: 'is_admin',
    externalId: 'external_id',
    authPolicyId: 'auth_policy_id',
    roleAttributes: 'role_attributes',
    disabledAt: 'disabled_at',
    disabledUntil: 'disabled_until',
    lastLoginAt: 'last_login_at',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    tags: 'tags',
  },
  order: { field: 'name', direction: 'asc' },
}

export function sqlIdentities(db: Kysely<Tables>, facts: ListFacts): Identities {
  const select = db.selectFrom('identities').selectAll()
  return {
    async find(id) {
      if (!isStorable(id)) return undefined
      const row = await select.where('id', '=', id).executeTakeFirst()
      return row && fromRow(row)
    },

    async findMany(ids) {
      if (ids.length === 0) return new Map()
      const rows = await select.where('id', 'in', ids).execute()
      return new Map(rows.map((row) => [row.id, fromRow(row)]))
    },

    async findByExternalId(externalId) {
      if (!isStorable(externalId)) return undefined
      const row = await select.where('external_id', '=', externalId).executeTakeFirst()
      return row && fromRow(row)
    },

    async hold(id) {
      if (!isStorable(id)) return undefined
      const query = db.updateTable('identities').set(HOLD).where('id', '=', id).returningAll()
      const row = await query.executeTakeFirst()
      return row && fromRow(row)
    },

    async list(query) {
      const { rows, totalCount } = await listRows(db, facts, LIST, query)
      return { rows: rows.map(fromRow), totalCount }
    },

    async countWithPolicy(id) {
      const { count } = await db
        .selectFrom('identities')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('auth_policy_id', '=', id)
        .executeTakeFirstOrThrow()
      return count
    },

    insert: (identity) =>
      insertUnique(
        db,
        'identities',
        { ...NOT_SEEN_YET, ...toRow(identity) },
        {
          'name-in-use': ['name'],
          'external-id-in-use': ['external_id'],
        },
      ),

    replace(identity) {
      const { id, created_at, disabled_at, disabled_until, ...changes } = toRow(identity)
      return updateUnique(db, 'identities', { id }, changes, {
        'name-in-use': 'name',
        'external-id-in-use': 'external_id',
      })
    },

    async replaceClientInfo(id, { envInfo, sdkInfo }) {
      const told = {
        ...(envInfo === undefined ? {} : { env_info: JSON.stringify(envInfo) }),
        ...(sdkInfo === undefined ? {} : { sdk_info: JSON.stringify(sdkInfo) }),
      }
      if (Object.keys(told).length === 0) return
      await db.updateTable('identities').set(told).where('id', '=', id).execute()
    },

    async replaceDisablement(id, disablement, at) {
      const { numUpdatedRows } = await db
        .updateTable('identities')
        .set({
          disabled_at: disablement?.at ?? null,
          disabled_until: disablement?.until ?? null,
          updated_at: at,
        })
        .where('id', '=', id)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    async markLogin(id, at) {
      await db
        .updateTable('identities')
        .set({ last_login_at: at })
        .where('id', '=', id)
        // The clock of another instance may be ahead.
        .where(({ or, eb }) => or([eb('last_login_at', 'is', null), eb('last_login_at', '<', at)]))
        .execute()
    },

    async voidLogins(id) {
      await db.updateTable('identities').set(VOID_LOGINS).where('id', '=', id).execute()
    },

    async voidLoginsAfter(after, { isAdmin, limit }) {
      const next = db
        .selectFrom('identities')
        .select('id')
        .where('is_admin', '=', isAdmin ? 1 : 0)
        .orderBy('id')
        .limit(limit)
      const rows = await (after === undefined ? next : next.where('id', '>', after)).execute()
      const ids = rows.map(({ id }) => id)
      if (ids.length > 0) {
        await db.updateTable('identities').set(VOID_LOGINS).where('id', 'in', ids).execute()
      }
      return ids.at(-1)
    },

    async remove(id) {
      const query = db.deleteFrom('identities').where('id', '=', id)
      const { numDeletedRows } = await query.executeTakeFirst()
      return numDeletedRows === 1n
    },

    async hasOtherAdministrator(than, now) {
      // `than` is held with the others: whoever asks about another one waits here, and not in the middle of
      // removing it, where the two would wait for each other. The condition is the opposite of `isDisabled`.
      const held = await db
        .updateTable('identities')
        .set(HOLD)
        .where('is_admin', '=', 1)
        .where(({ or, eb }) => or([eb('disabled_at', 'is', null), eb('disabled_until', '<=', now)]))
        .returning('id')
        .execute()
      return held.some(({ id }) => id !== than)
    },
  }
}

const NOT_SEEN_YET = {
  env_info: null,
  sdk_info: null,
  voided_logins: 0,
  last_login_at: null,
} as const

function toRow(identity: FreshIdentity): Omit<IdentityRow, keyof typeof NOT_SEEN_YET> {
  return {
    id: identity.id,
    name: identity.name,
    type: identity.type,
    is_admin: identity.isAdmin ? 1 : 0,
    external_id: identity.externalId ?? null,
    auth_policy_id: identity.authPolicyId,
    role_attributes: JSON.stringify(identity.roleAttributes),
    app_data: JSON.stringify(identity.appData),
    tags: JSON.stringify(identity.tags),
    disabled_at: identity.disabledAt ?? null,
    disabled_until: identity.disabledUntil ?? null,
    created_at: identity.createdAt,
    updated_at: identity.updatedAt,
  }
}

function fromRow(row: Selectable<IdentityRow>): Identity {
  const read = reading('identities', row.id, row)
  return {
    id: row.id,
    name: row.name,
    type: read('type', oneOf(...IDENTITY_TYPES)),
    isAdmin: read('is_admin', truth),
    externalId: read('external_id', optional(text)),
    authPolicyId: row.auth_policy_id,
    roleAttributes: read('role_attributes', json(listOf(text))),
    appData: read('app_data', json(tags)),
    tags: read('tags', json(tags)),
    disabledAt: read('disabled_at', optional(integer<Instant>)),
    disabledUntil: read('disabled_until', optional(integer<Instant>)),
    envInfo: read('env_info', optional(json(mapOf(text)))),
    sdkInfo: read('sdk_info', optional(json(mapOf(text)))),
    voidedLogins: read('voided_logins', integer),
    lastLoginAt: read('last_login_at', optional(integer<Instant>)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
