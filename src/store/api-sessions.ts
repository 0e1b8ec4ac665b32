/** API sessions: one row for each, removed when it ends or some time after it has expired. */
import type { Kysely, Selectable } from 'kysely'
import type { ApiSession } from '../domain/sessions/api-session.ts'
import type { ApiSessions } from '../domain/sessions/stores.ts'
import { json, listOf, oneOf, optional, reading, text } from './reading.ts'
import { removeBefore } from './remove-before.ts'
import type { ApiSessionRow, Tables } from './tables.ts'

export function sqlApiSessions(db: Kysely<Tables>): ApiSessions {
  return {
    async find(id) {
      const query = db.selectFrom('api_sessions').selectAll().where('id', '=', id)
      const row = await query.executeTakeFirst()
      return row && fromRow(row)
    },

    async insert(session) {
      await db.insertInto('api_sessions').values(toRow(session)).execute()
    },

    async remove(id) {
      const query = db.deleteFrom('api_sessions').where('id', '=', id)
      const { numDeletedRows } = await query.executeTakeFirst()
      return numDeletedRows === 1n
    },

    removeExpired: (before, limit) =>
      removeBefore(db, { table: 'api_sessions', key: 'id', time: 'expires_at' }, before, limit),
  }
}

function toRow(session: ApiSession): ApiSessionRow {
  return {
    id: session.id,
    kind: session.kind,
    identity_id: session.identityId,
    authenticator_id: session.authenticatorId,
    issuer: session.issuer,
    client_id: session.clientId,
    amr: JSON.stringify(session.amr),
    config_types: JSON.stringify(session.configTypes),
    address: session.address,
    user_agent: session.userAgent ?? null,
    created_at: session.createdAt,
    expires_at: session.expiresAt,
  }
}

function fromRow(row: Selectable<ApiSessionRow>): ApiSession {
  const read = reading('api_sessions', row.id, row)
  return {
    id: row.id,
    kind: read('kind', oneOf('oidc')),
    identityId: row.identity_id,
    authenticatorId: row.authenticator_id,
    issuer: row.issuer,
    clientId: row.client_id,
    amr: read('amr', json(listOf(text))),
    configTypes: read('config_types', json(listOf(text))),
    address: row.address,
    userAgent: read('user_agent', optional(text)),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}
