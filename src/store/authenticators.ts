/** The authenticators that prove identities. A username is found by its folded form, which is unique. */
import type { Kysely, Selectable } from 'kysely'
import { type UpdbAuthenticator, usernameKey } from '../domain/identities/identity.ts'
import type { Authenticators } from '../domain/identities/stores.ts'
import { oneOf, reading, text } from './reading.ts'
import type { AuthenticatorRow, Tables } from './tables.ts'

export function sqlAuthenticators(db: Kysely<Tables>): Authenticators {
  const select = db.selectFrom('authenticators').selectAll()
  return {
    async find(id) {
      const row = await select.where('id', '=', id).executeTakeFirst()
      return row && fromRow(row)
    },

    async findUpdb(key) {
      // PostgreSQL has no text with NUL and refuses to be asked for one. Strangers may type one all the same.
      if (key.includes('\0')) return undefined
      const row = await select.where('username_key', '=', key).executeTakeFirst()
      return row && fromRow(row)
    },

    async insertUpdb(authenticator) {
      await db.insertInto('authenticators').values(toRow(authenticator)).execute()
    },

    async replacePasswordHash(id, previous, next, at) {
      const { numUpdatedRows } = await db
        .updateTable('authenticators')
        .set({ password_hash: next, updated_at: at })
        .where('id', '=', id)
        .where('password_hash', '=', previous)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },
  }
}

function toRow(authenticator: UpdbAuthenticator): AuthenticatorRow {
  return {
    id: authenticator.id,
    identity_id: authenticator.identityId,
    method: authenticator.method,
    username: authenticator.username,
    username_key: usernameKey(authenticator.username),
    password_hash: authenticator.passwordHash,
    created_at: authenticator.createdAt,
    updated_at: authenticator.updatedAt,
  }
}

function fromRow(row: Selectable<AuthenticatorRow>): UpdbAuthenticator {
  const read = reading('authenticators', row.id, row)
  return {
    id: row.id,
    identityId: row.identity_id,
    method: read('method', oneOf('updb')),
    username: read('username', text),
    passwordHash: read('password_hash', text),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
