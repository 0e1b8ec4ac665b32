/** Identities. Names are unique, and so are external ids where there is one. */
import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../base/instant.ts'
import { IDENTITY_TYPES, type Identity } from '../domain/identities/identity.ts'
import type { Identities } from '../domain/identities/stores.ts'
import { integer, json, listOf, mapOf, oneOf, optional, reading, text, truth } from './reading.ts'
import type { IdentityRow, Tables } from './tables.ts'

const TAGS = mapOf((value): string | number | boolean | null => {
  if (value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return value
  }
  throw new TypeError('unfit')
})

export function sqlIdentities(db: Kysely<Tables>): Identities {
  return {
    async find(id) {
      const query = db.selectFrom('identities').selectAll().where('id', '=', id)
      const row = await query.executeTakeFirst()
      return row && fromRow(row)
    },

    async insert(identity) {
      await db.insertInto('identities').values(toRow(identity)).execute()
    },
  }
}

function toRow(identity: Identity): IdentityRow {
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
    appData: read('app_data', json(TAGS)),
    tags: read('tags', json(TAGS)),
    disabledAt: read('disabled_at', optional(integer<Instant>)),
    disabledUntil: read('disabled_until', optional(integer<Instant>)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
