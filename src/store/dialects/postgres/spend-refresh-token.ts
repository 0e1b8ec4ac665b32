/**
 * Spends a refresh token in one statement, which is a transaction of its own: one round trip, and no lock is held while
 * a message travels (D-322). It does what `domain/tokens/spend-in-steps.ts` describes.
 *
 * The parts of such a statement run in no defined order, and all see the same snapshot. So each part reads what the one
 * before it returned, which fixes the order of the locks and stops at the first obstacle. And a row that decides is
 * locked or updated, never just read: if the statement had to wait for it, PostgreSQL then checks the conditions
 * against its newest version, which is not in the snapshot.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { RefreshSpending, SpendingOutcome } from '../../../domain/tokens/stores.ts'
import {
  EVENT_COLUMNS,
  type EventColumns,
  eventRow,
  type KeptEvent,
  namesIn,
} from '../../events.ts'
import { type FixedQuery, fixedQuery } from '../../fixed-query.ts'
import type { Tables } from '../../tables.ts'

interface Outcome {
  readonly outcome: SpendingOutcome
  readonly identity_name: string | null
  readonly actor_name: string | null
}

/** Returns the outcome. `onEvent` is called if the token was spent. */
export async function spendRefreshToken(
  db: Kysely<Tables>,
  onEvent: (event: KeptEvent) => void,
  spending: RefreshSpending,
): Promise<SpendingOutcome> {
  const { event } = spending
  const row = await queryFor(spending).first(db, valuesOf(spending))
  if (row === undefined) throw new Error('spending a refresh token has no outcome')
  if (row.outcome === 'spent') onEvent({ event, names: namesIn(row), kept: 'row' })
  return row.outcome
}

function valuesOf(spending: RefreshSpending) {
  const { at, hash, successor, primary, expiresAt, tokensEndAt, proof, event } = spending
  return {
    now: at,
    hash,
    successor: successor.hash,
    sessionId: successor.sessionId,
    successorExpiresAt: successor.expiresAt,
    identityId: primary.identityId,
    credentialId: primary.authenticatorId,
    expiresAt,
    tokensEndAt,
    proofHash: proof?.hash,
    proofExpiresAt: proof?.expiresAt,
    ...eventRow(event),
  }
}

type Values = ReturnType<typeof valuesOf>

/** The tables of credentials, by what proved the session; undefined if it was a claim. */
type Credentials = 'authenticators' | 'passkeys' | undefined

const queries = new Map<string, FixedQuery<Values, Outcome>>()

/** There are six: what the session began with and whether the request proved a key change the text. */
function queryFor({ proof, primary }: RefreshSpending): FixedQuery<Values, Outcome> {
  const hasProof = proof !== undefined
  const registered = primary.method === 'passkey' ? 'passkeys' : 'authenticators'
  const credentials = primary.authenticatorId === undefined ? undefined : registered
  const key = `${hasProof} ${credentials}`
  let query = queries.get(key)
  if (query === undefined) {
    query = fixedQuery((db, values: Values) => {
      const statement = statementOf(values, hasProof, credentials)
      return { compile: () => statement.compile(db) }
    })
    queries.set(key, query)
  }
  return query
}

function statementOf(
  values: Values,
  hasProof: boolean,
  credentials: Credentials,
): RawBuilder<Outcome> {
  const { now, hash, successor, sessionId } = values
  const columns = EVENT_COLUMNS.map((column) => sql.ref(column))
  const cells = EVENT_COLUMNS.map((column: keyof EventColumns) => sql`${values[column]}`)
  const nameOf = (id: unknown) => sql`(select name from identities where id = ${id})`
  return sql<Outcome>`
    with proof as (
      ${hasProof ? insertProof(values) : sql`select`}
    ), owner as materialized (
      select identities.id from proof, identities
      where identities.id = ${values.identityId}
        and (disabled_at is null or disabled_until <= ${now})
      for no key update of identities
    ), credential as materialized (
      ${credentials === undefined ? sql`select from owner` : lockCredential(values, credentials)}
    ), renewed as (
      update api_sessions set
        expires_at = greatest(expires_at, ${values.expiresAt}),
        tokens_end_at = case
          when tokens_end_at < ${values.tokensEndAt} then ${values.tokensEndAt} else tokens_end_at
        end
      from credential where api_sessions.id = ${sessionId} and kind = 'oidc'
      returning api_sessions.id
    ), taken as (
      update refresh_tokens set spent_at = ${now}, successor = ${successor}
      from renewed where refresh_tokens.hash = ${hash} and spent_at is null
      returning refresh_tokens.hash
    ), succeeded as (
      insert into refresh_tokens (hash, session_id, issued_at, expires_at)
      select ${successor}, ${sessionId}, ${now}, ${values.successorExpiresAt} from taken
      returning hash
    ), recorded as (
      insert into events (${sql.join(columns)}, identity_name, actor_name)
      select ${sql.join(cells)}, ${nameOf(values.identity_id)}, ${nameOf(values.actor_id)} from succeeded
      returning identity_name, actor_name
    )
    select
      case
        when not exists (select from proof) then 'replayed'
        when not exists (select from credential) then 'identity-disabled'
        when not exists (select from renewed) then 'session-ended'
        when not exists (select from taken) then 'taken'
        else 'spent'
      end as outcome,
      (select identity_name from recorded), (select actor_name from recorded)`
}

function insertProof({ proofHash, proofExpiresAt }: Values): RawBuilder<unknown> {
  return sql`
    insert into used_proofs (hash, expires_at) values (${proofHash}, ${proofExpiresAt})
    on conflict (hash) do nothing returning hash`
}

/** Removing it waits for the identity; but it may have happened since the snapshot was taken. */
function lockCredential(
  { credentialId }: Values,
  credentials: 'authenticators' | 'passkeys',
): RawBuilder<unknown> {
  const table = sql.table(credentials)
  return sql`
    select ${table}.id from owner, ${table} where ${table}.id = ${credentialId} for key share of ${table}`
}
