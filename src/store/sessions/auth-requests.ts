/**
 * Logins, starting with their first proven factor (D-7). The states are a union in one table: columns for values that
 * are searched or changed in one statement, one JSON column for the rest.
 */
import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { ApiSessionId, ExternalJwtSignerId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Duration } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type {
  ClientAsk,
  CodeIssued,
  PartiallyAuthenticated,
  StoredAuthRequest,
  TokensIssued,
} from '../../domain/login/request/auth-request.ts'
import type { AuthRequests } from '../../domain/login/stores.ts'
import { fixedQuery, insertRow } from '../fixed-query.ts'
import { findRow } from '../one-row.ts'
import {
  boolean,
  integer,
  json,
  listOf,
  object,
  oneOf,
  optional,
  reading,
  text,
} from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import type { AuthRequestRow, Tables } from '../tables.ts'
import { PROOF, proofOf } from './proof.ts'
import { FURTHER_FACTORS, factorsOf, furtherFactors } from './second-factors.ts'

const BODY = object({
  ask: object({
    clientId: text,
    redirectUri: text<ClientAsk['redirectUri']>,
    responseMode: text<ClientAsk['responseMode']>,
    issuer: text<ClientAsk['issuer']>,
    scopes: listOf(text<ClientAsk['scopes'][number]>),
    codeChallenge: text,
    dpopKey: optional(text),
    state: optional(text),
    nonce: optional(text),
    prompt: optional(text<'login'>),
    maxAge: optional(integer<Duration>),
    stepUp: optional(listOf(text<NonNullable<ClientAsk['stepUp']>[number]>)),
    configTypes: listOf(text),
  }),
  browser: optional(text<SecretHash>),
  primary: PROOF,
  secondary: object({
    totp: boolean,
    factors: FURTHER_FACTORS,
    isRecovered: optional(boolean),
    extJwt: optional(text<ExternalJwtSignerId>),
  }),
  reusedSession: optional(text<ApiSessionId>),
  /** For a code; false if there is none yet. */
  byEnrollment: boolean,
  /** Likewise; the event of the login has named it. */
  sessionId: optional(text<ApiSessionId>),
})

/** The other states are final. */
const OPEN_STATES = ['partially-authenticated', 'code-issued'] as const
const STATES = [...OPEN_STATES, 'tokens-issued', 'ended'] as const

const FIND = fixedQuery((db, { key }: { key: CodeIssued['key'] }) =>
  db.selectFrom('auth_requests').selectAll().where('key', '=', key),
)
const FIND_BY_CODE = fixedQuery((db, { codeHash }: { codeHash: SecretHash }) =>
  db
    .selectFrom('auth_requests')
    .selectAll()
    .where('code_hash', '=', codeHash)
    .where('state', '=', 'code-issued'),
)
/** One statement finds the code and uses it up: of several concurrent calls, only one gets the row. */
const spend = (db: Kysely<Tables>, { codeHash, at, sessionId }: CodeRedemption) =>
  db
    .updateTable('auth_requests')
    .set({ state: 'tokens-issued', session_id: sessionId, redeemed_at: at })
    .where('code_hash', '=', codeHash)
    .where('state', '=', 'code-issued')
export const SPEND_BY_CODE = fixedQuery(spend)
const TAKE_BY_CODE = fixedQuery((db, redemption: CodeRedemption) =>
  spend(db, redemption).returningAll(),
)
interface CodeRedemption {
  readonly codeHash: SecretHash
  readonly at: Instant
  readonly sessionId: ApiSessionId
}

export function sqlAuthRequests(db: Kysely<Tables>): AuthRequests {
  return {
    find: (key) => FIND.find(db, { key }, fromRow),

    insert: (request) =>
      insertRow(db, 'auth_requests', { key: request.key, ...columns(request) }, 'key'),

    async replace(previous, next) {
      const { numUpdatedRows } = await db
        .updateTable('auth_requests')
        .set(columns(next))
        .where('key', '=', next.key)
        .where('revision', '=', previous)
        .where('state', 'in', OPEN_STATES)
        .executeTakeFirst()
      return numUpdatedRows === 1n
    },

    async addWrongCode(key, most) {
      const row = await db
        .updateTable('auth_requests')
        .set((columns) => ({
          wrong_codes: columns('wrong_codes', '+', 1),
          state: sql`case when wrong_codes + 1 >= ${most} then 'ended' else state end`,
        }))
        .where('key', '=', key)
        .where('state', 'in', OPEN_STATES)
        .returning('state')
        .executeTakeFirst()
      const current = row ?? (await FIND.first(db, { key }))
      return { isEnded: current?.state === 'ended' }
    },

    findByCode: (codeHash) => FIND_BY_CODE.find(db, { codeHash }, codeIssued),

    takeByCode: (codeHash, redemption) =>
      TAKE_BY_CODE.find(db, { codeHash, ...redemption }, codeIssued),

    findRedeemed(codeHash) {
      const redeemed = { code_hash: codeHash, state: 'tokens-issued' }
      return findRow(db, 'auth_requests', redeemed, tokensIssued)
    },

    removeExpired: removeBefore(db, { table: 'auth_requests', key: ['key'], time: 'expires_at' }),
  }
}

/** Everything except the key, and the wrong codes, which no other change touches. */
function columns(
  request: PartiallyAuthenticated | CodeIssued,
): Omit<Insertable<AuthRequestRow>, 'key' | 'wrong_codes'> {
  const { ask, browser, primary, secondary, reusedSession } = request
  const code = request.state === 'code-issued' ? request : undefined
  const body: ReturnType<typeof BODY> = {
    ask,
    browser,
    primary: proofOf(primary),
    secondary: {
      totp: secondary.factors.has('totp'),
      factors: furtherFactors(secondary.factors),
      isRecovered: secondary.isRecovered,
      extJwt: secondary.extJwt,
    },
    reusedSession,
    byEnrollment: code?.byEnrollment ?? false,
    sessionId: code?.sessionId,
  }
  return {
    state: request.state,
    revision: request.revision,
    identity_id: primary.identityId,
    code_hash: code?.codeHash ?? null,
    code_expires_at: code?.codeExpiresAt ?? null,
    session_id: null,
    redeemed_at: null,
    expires_at: request.expiresAt,
    body: JSON.stringify(body),
  }
}

function fromRow(row: Selectable<AuthRequestRow>): StoredAuthRequest {
  const read = reading('auth_requests', row.key, row)
  const state = read('state', oneOf(...STATES))
  switch (state) {
    case 'partially-authenticated':
      return { state, ...common(row).stored }
    case 'code-issued':
      return codeIssued(row)
    case 'tokens-issued':
      return tokensIssued(row)
    case 'ended':
      return { state, key: row.key }
  }
}

function codeIssued(row: Selectable<AuthRequestRow>): CodeIssued {
  const read = reading('auth_requests', row.key, row)
  const { stored, byEnrollment, sessionId } = common(row)
  return {
    state: 'code-issued',
    ...stored,
    codeHash: read('code_hash', text<SecretHash>),
    codeExpiresAt: read('code_expires_at', integer<Instant>),
    byEnrollment,
    sessionId,
  }
}

function tokensIssued(row: Selectable<AuthRequestRow>): TokensIssued {
  const read = reading('auth_requests', row.key, row)
  return {
    state: 'tokens-issued',
    ...common(row).stored,
    codeHash: read('code_hash', text<SecretHash>),
    redemption: {
      at: read('redeemed_at', integer<Instant>),
      sessionId: read('session_id', text<ApiSessionId>),
    },
  }
}

function common(row: Selectable<AuthRequestRow>) {
  const read = reading('auth_requests', row.key, row)
  const { primary, secondary, byEnrollment, sessionId, ...body } = read('body', json(BODY))
  const { totp, factors, extJwt, isRecovered } = secondary
  const stored = {
    key: row.key,
    revision: row.revision,
    ...body,
    primary: { ...primary, identityId: row.identity_id },
    secondary: {
      factors: factorsOf(totp, factors),
      extJwt,
      ...(isRecovered === undefined ? {} : { isRecovered }),
    },
    expiresAt: row.expires_at,
  }
  return { stored, byEnrollment, sessionId }
}
