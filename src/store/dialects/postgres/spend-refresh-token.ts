/** Spends a refresh token in one statement, as `../sqlite/spend-refresh-token.ts` does it in steps: D-322. */
import { sql } from 'kysely'
import type {
  RefreshSpending,
  SpendingOutcome,
  SpendRefreshToken,
} from '../../../domain/tokens/stores.ts'
import { eventRow, namesIn } from '../../events.ts'
import type { InOneStatement } from '../database.ts'
import {
  type CredentialTable,
  createVariants,
  credentialTableOf,
  eventPart,
  lockedCredential,
  proofPart,
  proofValues,
  type RecordedNames,
} from './statement-parts.ts'

export const spendRefreshToken: InOneStatement<SpendRefreshToken> = async (
  db,
  onEvent,
  spending,
) => {
  const { proof, primary, event } = spending
  const hasProof = proof !== undefined
  const query = queryFor({ hasProof, credentials: credentialTableOf(primary) })
  const row = await query.first(db, valuesOf(spending))
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
    ...proofValues(proof),
    ...eventRow(event),
  }
}

interface Variant extends Readonly<Record<string, unknown>> {
  readonly hasProof: boolean
  readonly credentials: CredentialTable | undefined
}

interface Outcome extends RecordedNames {
  readonly outcome: SpendingOutcome
}

const queryFor = createVariants<Variant, ReturnType<typeof valuesOf>, Outcome>(
  (values, { hasProof, credentials }) => {
    const { now, hash, successor, sessionId, tokensEndAt } = values
    const credential =
      credentials === undefined
        ? sql`select from owner`
        : lockedCredential(values.credentialId, credentials)
    return sql<Outcome>`
      with proof as (
        ${proofPart(values, hasProof)}
      ), owner as materialized (
        select identities.id from proof, identities
        where identities.id = ${values.identityId}
          and (disabled_at is null or disabled_until <= ${now})
        for no key update of identities
      ), credential as materialized (
        ${credential}
      ), renewed as (
        update api_sessions set
          expires_at = greatest(expires_at, ${values.expiresAt}),
          tokens_end_at =
            case when tokens_end_at < ${tokensEndAt} then ${tokensEndAt} else tokens_end_at end
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
        ${eventPart(values, 'succeeded')}
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
  },
)
