/** Refresh tokens by their hash. Used ones are kept until they would have expired (D-27). */
import { type AliasedExpression, type Kysely, type Selectable, sql } from 'kysely'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { RefreshToken } from '../../domain/factors/refresh-token.ts'
import type { OwnedRefreshToken, RefreshTokens } from '../../domain/tokens/stores.ts'
import { fixedQuery, insertRow } from '../fixed-query.ts'
import { AUTHENTICATOR_COLUMNS, authenticatorOf } from '../identities/authenticators.ts'
import { IDENTITY_COLUMNS, identityOf } from '../identities/identities.ts'
import { reading, text } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import type { RefreshTokenRow, Tables } from '../tables.ts'
import { SESSION_COLUMNS, sessionOf } from './api-sessions.ts'

const TOKEN = joined('refresh_tokens', [
  'hash',
  'session_id',
  'issued_at',
  'expires_at',
  'spent_at',
  'successor',
])
const SESSION = joined('api_sessions', SESSION_COLUMNS)
const IDENTITY = joined('identities', IDENTITY_COLUMNS)
const AUTHENTICATOR = joined('authenticators', AUTHENTICATOR_COLUMNS)
const PASSKEY = joined('passkeys', ['id'])

const FIND = fixedQuery((db, { hash }: { hash: SecretHash }) =>
  db.selectFrom('refresh_tokens').selectAll().where('hash', '=', hash),
)
const FIND_OWNED = fixedQuery((db, { hash }: { hash: SecretHash }) =>
  db
    .selectFrom('refresh_tokens')
    .leftJoin('api_sessions', 'api_sessions.id', 'refresh_tokens.session_id')
    .leftJoin('identities', 'identities.id', 'api_sessions.identity_id')
    .leftJoin('authenticators', 'authenticators.identity_id', 'identities.id')
    .leftJoin('passkeys', 'passkeys.id', 'api_sessions.authenticator_id')
    .select([
      ...TOKEN.selection,
      ...SESSION.selection,
      ...IDENTITY.selection,
      ...AUTHENTICATOR.selection,
      ...PASSKEY.selection,
    ])
    .where('refresh_tokens.hash', '=', hash)
    .orderBy('authenticators.created_at')
    .orderBy('authenticators.id'),
)
export const TAKE_REFRESH_TOKEN = fixedQuery(
  (db, { hash, at, successor }: { hash: SecretHash; at: Instant; successor: SecretHash }) =>
    db
      .updateTable('refresh_tokens')
      .set({ spent_at: at, successor })
      .where('hash', '=', hash)
      .where('spent_at', 'is', null),
)

export function sqlRefreshTokens(db: Kysely<Tables>): RefreshTokens {
  return {
    find: (hash) => FIND.find(db, { hash }, fromRow),

    async findOwned(hash) {
      const { rows } = await FIND_OWNED.run(db, { hash })
      const [row] = rows
      return row && ownedFromRows(row, rows)
    },

    async insert(token) {
      await insertRow(db, 'refresh_tokens', refreshTokenRow(token))
    },

    async removeOf(sessionId) {
      await db.deleteFrom('refresh_tokens').where('session_id', '=', sessionId).execute()
    },

    removeExpired: removeBefore(db, { table: 'refresh_tokens', key: ['hash'], time: 'expires_at' }),
  }
}

export function refreshTokenRow(token: RefreshToken): RefreshTokenRow {
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

/** The columns of several tables. */
type JoinedRow = Readonly<Record<string, unknown>>

/** There is a row for each authenticator, or one row without. */
function ownedFromRows(row: JoinedRow, rows: readonly JoinedRow[]): OwnedRefreshToken | undefined {
  const token = TOKEN.part(row)
  if (token === undefined) return undefined
  const session = SESSION.part(row)
  const identity = IDENTITY.part(row)
  return {
    token: fromRow(token),
    session: session && sessionOf(session),
    identity: identity && identityOf(identity),
    authenticators: rows
      .map(AUTHENTICATOR.part)
      .filter((one) => one !== undefined)
      .map(authenticatorOf),
    passkey: PASSKEY.part(row),
  }
}

/** One of several tables whose rows are read together. */
interface JoinedTable<Table extends keyof Tables> {
  /** `api_sessions.id as api_sessions_id`, because the tables have columns of the same name. */
  readonly selection: readonly AliasedExpression<unknown, string>[]
  /** Returns its row; undefined if there is none, because its key, the first column, is null. */
  part(row: JoinedRow): Selectable<Tables[Table]> | undefined
}

function joined<Table extends keyof Tables>(
  table: Table,
  columns: readonly (keyof Tables[Table] & string)[],
): JoinedTable<Table> {
  const pairs = columns.map((column) => [column, `${table}_${column}`] as const)
  const key = `${table}_${columns[0]}`
  return {
    selection: pairs.map(([column, alias]) => sql.ref(`${table}.${column}`).as(alias)),
    part(row) {
      if (row[key] === null) return undefined
      const own: Record<string, unknown> = {}
      for (const [column, alias] of pairs) own[column] = row[alias]
      return own as Selectable<Tables[Table]>
    },
  }
}
