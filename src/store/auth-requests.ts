/**
 * Logins from their first proven factor on (D-7). The states are a union in one table: columns for what is
 * searched or changes with the state, one JSON column for what was fixed before the row was made.
 */
import type { Kysely, Selectable } from 'kysely'
import type { ApiSessionId, AuthenticatorId } from '../base/ids.ts'
import type { Instant } from '../base/instant.ts'
import type { SecretHash } from '../base/vault.ts'
import type {
  ClientAsk,
  CodeIssued,
  StoredAuthRequest,
  TokensIssued,
} from '../domain/login/auth-request.ts'
import type { AuthRequests } from '../domain/login/stores.ts'
import { integer, json, listOf, object, oneOf, optional, reading, text } from './reading.ts'
import { removeBefore } from './remove-before.ts'
import type { AuthRequestRow, Tables } from './tables.ts'

const BODY = object({
  ask: object({
    clientId: text,
    redirectUri: text<ClientAsk['redirectUri']>,
    responseMode: text<ClientAsk['responseMode']>,
    issuer: text<ClientAsk['issuer']>,
    scopes: listOf(text<ClientAsk['scopes'][number]>),
    codeChallenge: text,
    state: optional(text),
    nonce: optional(text),
    configTypes: listOf(text),
  }),
  browser: optional(text<SecretHash>),
  primary: object({
    method: oneOf('password'),
    authenticatorId: text<AuthenticatorId>,
    at: integer<Instant>,
  }),
})

export function sqlAuthRequests(db: Kysely<Tables>): AuthRequests {
  const select = db.selectFrom('auth_requests').selectAll()
  return {
    async find(key) {
      const row = await select.where('key', '=', key).executeTakeFirst()
      return row && fromRow(row)
    },

    async insert(request) {
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('auth_requests')
        .values(toRow(request))
        .onConflict((conflict) => conflict.column('key').doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },

    async takeByCode(codeHash, redemption) {
      // One statement finds the code and spends it: of several at once, one gets the row back.
      const row = await db
        .updateTable('auth_requests')
        .set({
          state: 'tokens-issued',
          session_id: redemption.sessionId,
          redeemed_at: redemption.at,
        })
        .where('code_hash', '=', codeHash)
        .where('state', '=', 'code-issued')
        .returningAll()
        .executeTakeFirst()
      return row && codeIssued(row)
    },

    async findRedeemed(codeHash) {
      const row = await select
        .where('code_hash', '=', codeHash)
        .where('state', '=', 'tokens-issued')
        .executeTakeFirst()
      return row && tokensIssued(row)
    },

    removeExpired: (before, limit) =>
      removeBefore(db, { table: 'auth_requests', key: 'key', time: 'expires_at' }, before, limit),
  }
}

function toRow(request: CodeIssued): AuthRequestRow {
  const { ask, browser, primary } = request
  const { identityId, ...proof } = primary
  const body: ReturnType<typeof BODY> = { ask, browser, primary: proof }
  return {
    key: request.key,
    state: request.state,
    identity_id: identityId,
    code_hash: request.codeHash,
    code_expires_at: request.codeExpiresAt,
    session_id: null,
    redeemed_at: null,
    expires_at: request.expiresAt,
    body: JSON.stringify(body),
  }
}

function fromRow(row: Selectable<AuthRequestRow>): StoredAuthRequest {
  const read = reading('auth_requests', row.key, row)
  const state = read('state', oneOf('code-issued', 'tokens-issued'))
  return state === 'code-issued' ? codeIssued(row) : tokensIssued(row)
}

function codeIssued(row: Selectable<AuthRequestRow>): CodeIssued {
  const read = reading('auth_requests', row.key, row)
  return {
    state: 'code-issued',
    ...common(row),
    codeExpiresAt: read('code_expires_at', integer<Instant>),
  }
}

function tokensIssued(row: Selectable<AuthRequestRow>): TokensIssued {
  const read = reading('auth_requests', row.key, row)
  return {
    state: 'tokens-issued',
    ...common(row),
    redemption: {
      at: read('redeemed_at', integer<Instant>),
      sessionId: read('session_id', text<ApiSessionId>),
    },
  }
}

function common(row: Selectable<AuthRequestRow>) {
  const read = reading('auth_requests', row.key, row)
  const { ask, browser, primary } = read('body', json(BODY))
  return {
    key: row.key,
    ask,
    browser,
    primary: { ...primary, identityId: row.identity_id },
    codeHash: read('code_hash', text<SecretHash>),
    expiresAt: row.expires_at,
  }
}
