/** Refresh tokens by their hash. Used ones are kept until they would have expired (D-27). */
import type { Kysely, Selectable } from 'kysely'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { RefreshToken } from '../../domain/factors/refresh-token.ts'
import type { RefreshTokens } from '../../domain/tokens/stores.ts'
import { fixedQuery, insertRow } from '../fixed-query.ts'
import { reading, text } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import type { RefreshTokenRow, Tables } from '../tables.ts'

const FIND = fixedQuery((db, { hash }: { hash: SecretHash }) =>
  db.selectFrom('refresh_tokens').selectAll().where('hash', '=', hash),
)
const TAKE = fixedQuery(
  (db, { hash, at, successor }: { hash: SecretHash; at: Instant; successor: SecretHash }) =>
    db
      .updateTable('refresh_tokens')
      .set({ spent_at: at, successor })
      .where('hash', '=', hash)
      .where('spent_at', 'is', null),
)

export function sqlRefreshTokens(db: Kysely<Tables>): RefreshTokens {
  return {
    async find(hash) {
      const row = await FIND.first(db, { hash })
      return row && fromRow(row)
    },

    async insert(token) {
      await insertRow(db, 'refresh_tokens', toRow(token))
    },

    async take(hash, { at, successor }) {
      return (await TAKE.count(db, { hash, at, successor })) === 1
    },

    async removeOf(sessionId) {
      await db.deleteFrom('refresh_tokens').where('session_id', '=', sessionId).execute()
    },

    removeExpired: (before, limit) =>
      removeBefore(db, { table: 'refresh_tokens', key: 'hash', time: 'expires_at' }, before, limit),
  }
}

function toRow(token: RefreshToken): RefreshTokenRow {
  return {
    hash: token.hash,
    session_id: token.sessionId,
    issued_at: token.issuedAt,
    expires_at: token.expiresAt,
    spent_at: token.spent?.at ?? null,
    successor: token.spent?.successor ?? null,
  }
}

function fromRow(row: Selectable<RefreshTokenRow>): RefreshToken {
  const read = reading('refresh_tokens', row.session_id, row)
  const { spent_at: at } = row
  return {
    hash: row.hash,
    sessionId: row.session_id,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    spent: at === null ? undefined : { at, successor: read('successor', text<SecretHash>) },
  }
}
