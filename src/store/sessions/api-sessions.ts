/**
 * API sessions, OIDC and legacy in one table: one row each, deleted when the session ends or some time after it
 * expires.
 */

import { type Kysely, type Selectable, sql } from 'kysely'
import type { ApiSessionId } from '../../base/ids.ts'
import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { API_SESSION_FIELDS } from '../../domain/lists/fields.ts'
import { compares } from '../../domain/lists/filters.ts'
import type { Comparator, Filter, FilterValue } from '../../domain/lists/list-query.ts'
import type { ApiSession, LegacySession, OidcSession } from '../../domain/sessions/api-session.ts'
import type { ApiSessions } from '../../domain/sessions/stores.ts'
import { API_SESSION } from '../../entities/api-session.ts'
import { listColumns } from '../described-rows.ts'
import type { ListFacts } from '../dialects/list-facts.ts'
import { fixedQuery, insertRow } from '../fixed-query.ts'
import { type Listed, listRows } from '../lists/list-rows.ts'
import { updateRow } from '../one-row.ts'
import { integer, json, listOf, oneOf, optional, reading, text, truth } from '../reading.ts'
import type { ApiSessionRow, Tables } from '../tables.ts'
import { countLiveByProof } from './live-by-proof.ts'
import { PROVEN, proofOf } from './proof.ts'
import { factorsOf, furtherFactors } from './second-factors.ts'

const LIST: Listed<'api_sessions', typeof API_SESSION_FIELDS> = {
  table: 'api_sessions',
  columns: listColumns(API_SESSION),
  order: { field: 'createdAt', direction: 'desc' },
}

/** The key comes first. */
export const SESSION_COLUMNS = [
  'id',
  'kind',
  'identity_id',
  'authenticator_id',
  'proof',
  'amr',
  'config_types',
  'address',
  'user_agent',
  'issuer',
  'client_id',
  'scopes',
  'token_hash',
  'last_activity_at',
  'is_totp_proven',
  'is_totp_demanded',
  'created_at',
  'ends_at',
  'expires_at',
  'tokens_end_at',
] as const satisfies readonly (keyof ApiSessionRow)[]

const FIND = fixedQuery((db, { id }: { id: ApiSessionId }) =>
  db.selectFrom('api_sessions').selectAll().where('id', '=', id),
)
/** Locks the row on PostgreSQL. */
const HOLD = fixedQuery((db, { id }: { id: ApiSessionId }) =>
  db.selectFrom('api_sessions').selectAll().where('id', '=', id).forNoKeyUpdate(),
)
const FIND_LEGACY = fixedQuery((db, { tokenHash }: { tokenHash: SecretHash }) =>
  db.selectFrom('api_sessions').selectAll().where('token_hash', '=', tokenHash),
)
/** A refresh moves the end of its session (D-53) and that of its last access token. */
export const RENEW_OIDC = fixedQuery((db, { id, expiresAt, tokensEndAt }: OidcRenewal) =>
  db
    .updateTable('api_sessions')
    .set({
      expires_at: later('expires_at', expiresAt),
      // If the end of the earlier tokens was not recorded, it stays unknown.
      tokens_end_at: later('tokens_end_at', tokensEndAt),
    })
    .where('id', '=', id)
    .where('kind', '=', 'oidc'),
)
interface OidcRenewal {
  readonly id: ApiSessionId
  readonly expiresAt: Instant
  readonly tokensEndAt: Instant
}

export function sqlApiSessions(db: Kysely<Tables>, facts: ListFacts): ApiSessions {
  const oldestFirst = () =>
    db.selectFrom('api_sessions').selectAll().orderBy('created_at').orderBy('id')
  return {
    find: (id) => FIND.find(db, { id }, sessionOf),

    hold: (id) => HOLD.find(db, { id }, sessionOf),

    async holdAll(ids) {
      if (ids.length === 0) return
      await db
        .selectFrom('api_sessions')
        .select('id')
        .where('id', 'in', ids)
        .orderBy('id')
        .forUpdate()
        .execute()
    },

    findLegacy: (tokenHash) => FIND_LEGACY.find(db, { tokenHash }, legacy),

    async listOf(identityId) {
      const rows = await oldestFirst().where('identity_id', '=', identityId).execute()
      return rows.map(sessionOf)
    },

    async listHoldersOfLive(identityIds, at) {
      if (identityIds.length === 0) return new Set()
      // Group by identity, so that one index lookup per identity is enough, however many sessions it has.
      const rows = await db
        .selectFrom('identities')
        .select('id')
        .where('id', 'in', identityIds)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('api_sessions')
              .select('api_sessions.id')
              .whereRef('identity_id', '=', 'identities.id')
              .where('expires_at', '>', at),
          ),
        )
        .execute()
      return new Set(rows.map(({ id }) => id))
    },

    async countLive(at) {
      const rows = await countLiveByProof(db, at)
      const counted = (kind: ApiSession['kind']) =>
        rows.reduce((sum, row) => (row.kind === kind ? sum + row.sessions : sum), 0)
      return { oidc: counted('oidc'), legacy: counted('legacy') }
    },

    list({ of, at, createdUntil }, query) {
      const parts = [
        ...(of === undefined ? [] : [compared('identityId', '=', of)]),
        ...(createdUntil === undefined ? [] : [compared('createdAt', '<=', createdUntil)]),
        ...(query.filter === undefined ? [] : [query.filter]),
      ]
      const filter: Filter | undefined = parts.length === 0 ? undefined : { op: 'and', parts }
      const isLive = compared('expiresAt', '>', at)
      return listRows(db, facts, LIST, sessionOf, { ...query, filter }, isLive)
    },

    async listByAuthenticator(id) {
      const rows = await oldestFirst().where('authenticator_id', '=', id).execute()
      return rows.map(sessionOf)
    },

    async insert(session) {
      await insertRow(db, 'api_sessions', sessionRow(session))
    },

    async renewLegacy(id, lastActivityAt, expiresAt) {
      // Of two concurrent calls, the earlier may be written later: never move a time back. Do not revive a session that
      // had expired by then.
      await db
        .updateTable('api_sessions')
        .set({
          last_activity_at: later('last_activity_at', lastActivityAt),
          expires_at: later('expires_at', expiresAt),
        })
        .where('id', '=', id)
        .where('kind', '=', 'legacy')
        .where('expires_at', '>', lastActivityAt)
        .execute()
    },

    replaceProven(session) {
      const { id, proof, is_totp_proven, amr } = sessionRow(session)
      const where = { id, kind: 'legacy' }
      return updateRow(db, 'api_sessions', where, { proof, is_totp_proven, amr })
    },

    async remove(id) {
      const query = db.deleteFrom('api_sessions').where('id', '=', id).returningAll()
      const row = await query.executeTakeFirst()
      return row && sessionOf(row)
    },

    async firstExpiry() {
      const query = db.selectFrom('api_sessions').select('expires_at').orderBy('expires_at')
      return (await query.limit(1).executeTakeFirst())?.expires_at
    },

    async takeExpired(by, limit) {
      const rows = await db
        .with(
          (cte) => cte('expired').materialized(),
          (on) =>
            on
              .selectFrom('api_sessions')
              .select('id')
              .where('expires_at', '<=', by)
              .orderBy('expires_at')
              .limit(limit)
              // A session that another transaction is ending or renewing is left for the next round (D-485).
              .forUpdate()
              .skipLocked(),
        )
        .deleteFrom('api_sessions')
        .where('id', 'in', ({ selectFrom }) => selectFrom('expired').select('id'))
        .returningAll()
        .execute()
      return rows.map(sessionOf)
    },
  }
}

function compared(
  name: keyof typeof LIST.columns,
  comparator: Comparator,
  value: FilterValue,
): Filter {
  return compares(name, comparator, value)
}

function later(column: 'last_activity_at' | 'expires_at' | 'tokens_end_at', time: Instant) {
  const stored = sql.ref<Instant>(column)
  return sql<Instant>`case when ${stored} < ${time} then ${time} else ${stored} end`
}

export function sessionRow(session: ApiSession): ApiSessionRow {
  const { primary, secondary } = session
  const oidcSession = session.kind === 'oidc' ? session : undefined
  const legacySession = session.kind === 'oidc' ? undefined : session
  const proven: ReturnType<typeof PROVEN> = {
    primary: proofOf(primary),
    extJwt: secondary.extJwt,
    factors: furtherFactors(secondary.factors),
    isRecovered: secondary.isRecovered,
    boundKey: oidcSession?.boundKey,
    isSealed: oidcSession?.isSealed,
    isDevice: oidcSession?.isDevice,
    demanded: legacySession && furtherFactors(legacySession.demanded),
  }
  return {
    id: session.id,
    kind: session.kind,
    identity_id: session.identityId,
    authenticator_id: primary.authenticatorId ?? null,
    proof: JSON.stringify(proven),
    is_totp_proven: secondary.factors.has('totp') ? 1 : 0,
    amr: JSON.stringify(session.amr),
    config_types: JSON.stringify(session.configTypes),
    address: session.address,
    user_agent: session.userAgent ?? null,
    issuer: oidcSession?.issuer ?? null,
    client_id: oidcSession?.clientId ?? null,
    scopes: oidcSession === undefined ? null : JSON.stringify(oidcSession.scopes),
    token_hash: legacySession?.tokenHash ?? null,
    last_activity_at: legacySession?.lastActivityAt ?? null,
    is_totp_demanded:
      legacySession === undefined ? null : Number(legacySession.demanded.has('totp')),
    created_at: session.createdAt,
    ends_at: session.endsAt,
    expires_at: session.expiresAt,
    tokens_end_at: oidcSession?.tokensEndAt ?? null,
  }
}

export function sessionOf(row: Selectable<ApiSessionRow>): ApiSession {
  const read = reading('api_sessions', row.id, row)
  return read('kind', oneOf('oidc', 'legacy')) === 'oidc' ? oidc(row) : legacy(row)
}

function oidc(row: Selectable<ApiSessionRow>): OidcSession {
  const read = reading('api_sessions', row.id, row)
  const proven = read('proof', json(PROVEN))
  const { boundKey, isSealed, isDevice } = proven
  return {
    ...common(row, proven),
    kind: read('kind', oneOf('oidc')),
    issuer: read('issuer', text<OidcSession['issuer']>),
    clientId: read('client_id', text),
    scopes: read('scopes', json(listOf(text<OidcSession['scopes'][number]>))),
    boundKey,
    ...(isSealed === true ? { isSealed } : {}),
    ...(isDevice === true ? { isDevice } : {}),
    ...(row.tokens_end_at === null ? {} : { tokensEndAt: row.tokens_end_at }),
  }
}

function legacy(row: Selectable<ApiSessionRow>): LegacySession {
  const read = reading('api_sessions', row.id, row)
  const proven = read('proof', json(PROVEN))
  return {
    ...common(row, proven),
    kind: read('kind', oneOf('legacy')),
    tokenHash: read('token_hash', text<SecretHash>),
    lastActivityAt: read('last_activity_at', integer<Instant>),
    demanded: factorsOf(read('is_totp_demanded', truth), proven.demanded),
  }
}

function common(
  row: Selectable<ApiSessionRow>,
  { primary, extJwt, factors, isRecovered }: ReturnType<typeof PROVEN>,
) {
  const read = reading('api_sessions', row.id, row)
  return {
    id: row.id,
    identityId: row.identity_id,
    primary: { ...primary, identityId: row.identity_id },
    secondary: {
      factors: factorsOf(read('is_totp_proven', truth), factors),
      extJwt,
      ...(isRecovered === undefined ? {} : { isRecovered }),
    },
    amr: read('amr', json(listOf(text))),
    configTypes: read('config_types', json(listOf(text))),
    address: row.address,
    userAgent: read('user_agent', optional(text)),
    createdAt: row.created_at,
    endsAt: row.ends_at,
    expiresAt: row.expires_at,
  }
}
