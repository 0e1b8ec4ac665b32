/** Identities. Names are unique, and so are external ids if set. */
import { type Kysely, sql } from 'kysely'
import type { IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { FreshIdentity, Identity } from '../../domain/identities/identity.ts'
import type { Identities } from '../../domain/identities/stores.ts'
import type { IDENTITY_FIELDS } from '../../domain/lists/fields.ts'
import { writableNames } from '../../entities/field.ts'
import { IDENTITY } from '../../entities/identity.ts'
import { countRows } from '../count-rows.ts'
import { describedRows, listColumns } from '../described-rows.ts'
import type { ListFacts } from '../dialects/list-facts.ts'
import { fixedQuery } from '../fixed-query.ts'
import { type Listed, listRows } from '../lists/list-rows.ts'
import { deleteRow, updateRow } from '../one-row.ts'
import type { Tables } from '../tables.ts'
import { insertUnique, updateUnique } from '../unique-rows.ts'
import { hasAnyFactor } from './enrolled-factors.ts'

const { columns, fromRow, toRow, toChanges } = describedRows('identities', IDENTITY)

export { columns as IDENTITY_COLUMNS, fromRow as identityOf }

const CHOSEN = writableNames(IDENTITY)

export const FIND_IDENTITY = fixedQuery((db, { id }: { id: IdentityId }) =>
  db.selectFrom('identities').selectAll().where('id', '=', id),
)
/** In one statement, because every caller who reads their own identity needs it. */
const FIND_WITH_FACTORS = fixedQuery((db, { id }: { id: IdentityId }) =>
  db
    .selectFrom('identities')
    .selectAll()
    .select((eb) => eb.case().when(hasAnyFactor(eb)).then(1).else(0).end().as('has_factor'))
    .where('id', '=', id),
)
const FIND_BY_EXTERNAL_ID = fixedQuery((db, { externalId }: { externalId: string }) =>
  db.selectFrom('identities').selectAll().where('external_id', '=', externalId),
)
/** Locks the row on PostgreSQL. A transaction on SQLite is the only writer anyway (`dialects/sqlite.ts`). */
const HOLD = fixedQuery((db, { id }: { id: IdentityId }) =>
  db.selectFrom('identities').selectAll().where('id', '=', id).forNoKeyUpdate(),
)
export const MARK_LOGIN = fixedQuery((db, { id, at }: { id: IdentityId; at: Instant }) =>
  db
    .updateTable('identities')
    .set({ last_login_at: at })
    .where('id', '=', id)
    // The clock of another instance may be ahead.
    .where(({ or, eb }) => or([eb('last_login_at', 'is', null), eb('last_login_at', '<', at)])),
)

const VOID_LOGINS = { voided_logins: sql<number>`voided_logins + 1` }

const LIST: Listed<'identities', typeof IDENTITY_FIELDS> = {
  table: 'identities',
  columns: listColumns(IDENTITY),
  order: { field: 'name', direction: 'asc' },
}

export function sqlIdentities(db: Kysely<Tables>, facts: ListFacts): Identities {
  return {
    find: (id) => FIND_IDENTITY.find(db, { id }, fromRow),

    findWithFactors: (id) =>
      FIND_WITH_FACTORS.find(db, { id }, (row) => ({
        identity: fromRow(row),
        isMfaEnabled: row.has_factor === 1,
      })),

    async findMany(ids) {
      if (ids.length === 0) return new Map()
      const rows = await db.selectFrom('identities').selectAll().where('id', 'in', ids).execute()
      return new Map(rows.map((row) => [row.id, fromRow(row)]))
    },

    findByExternalId: (externalId) => FIND_BY_EXTERNAL_ID.find(db, { externalId }, fromRow),

    hold: (id) => HOLD.find(db, { id }, fromRow),

    list: (query) => listRows(db, facts, LIST, fromRow, query),

    async listRouterPlaces() {
      const rows = await db
        .selectFrom('identities')
        .selectAll()
        .where('type', '=', 'Router')
        .where('hosts', '<>', '[]')
        .orderBy('id')
        .execute()
      return rows.map(fromRow)
    },

    countWithPolicy: (id) =>
      countRows(db.selectFrom('identities').where('auth_policy_id', '=', id)),

    insert: (identity) =>
      insertUnique(db, 'identities', toRow({ ...identity, ...NOT_SEEN_YET }), UNIQUE),

    replace(identity) {
      const { id, updatedAt, roleVersion } = identity
      const chosen = Object.fromEntries(CHOSEN.map((name) => [name, identity[name]]))
      const changes = toChanges({ ...chosen, updatedAt, roleVersion })
      return updateUnique(db, 'identities', { id }, changes, UNIQUE)
    },

    async replaceClientInfo(id, { envInfo, sdkInfo }) {
      const told = toChanges({
        ...(envInfo === undefined ? {} : { envInfo }),
        ...(sdkInfo === undefined ? {} : { sdkInfo }),
      })
      if (Object.keys(told).length === 0) return
      await updateRow(db, 'identities', { id }, told)
    },

    replaceDisablement: (id, disablement, at) =>
      updateRow(
        db,
        'identities',
        { id },
        {
          disabled_at: disablement?.at ?? null,
          disabled_until: disablement?.until ?? null,
          updated_at: at,
        },
      ),

    async markLogin(id, at) {
      await MARK_LOGIN.run(db, { id, at })
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
        // An update alone would lock them in the order in which it finds them (D-485).
        .forNoKeyUpdate()
      const rows = await (after === undefined ? next : next.where('id', '>', after)).execute()
      const ids = rows.map(({ id }) => id)
      if (ids.length > 0) {
        await db.updateTable('identities').set(VOID_LOGINS).where('id', 'in', ids).execute()
      }
      return ids.at(-1)
    },

    remove: (id) => deleteRow(db, 'identities', { id }),

    async holdAdministrators(concerned, now) {
      // Lock `concerned` together with the others, even if it is disabled or is not an administrator now: a concurrent
      // call about another administrator waits here, and not in the middle of its deletion, where the two would
      // deadlock (D-485). The condition is otherwise the opposite of `isDisabled`.
      const held = await db
        .selectFrom('identities')
        .select('id')
        .where(({ and, or, eb }) => {
          const isEnabled = or([eb('disabled_at', 'is', null), eb('disabled_until', '<=', now)])
          return or([and([eb('is_admin', '=', 1), isEnabled]), eb('id', '=', concerned ?? NO_ID)])
        })
        .orderBy('id')
        .forNoKeyUpdate()
        .execute()
      return held.map(({ id }) => id)
    },
  }
}

const UNIQUE = { 'name-in-use': ['name'], 'external-id-in-use': ['external_id'] } as const

const NO_ID = '' as IdentityId

const NOT_SEEN_YET = {
  envInfo: undefined,
  sdkInfo: undefined,
  voidedLogins: 0,
  roleVersion: 0,
  lastLoginAt: undefined,
} as const satisfies Omit<Identity, keyof FreshIdentity>
