/** Spends a code and begins its session in one statement, as `../sqlite/begin-session.ts` does it in steps: D-328. */
import { type RawBuilder, sql } from 'kysely'
import { provenFingerprint } from '../../../domain/factors/proven.ts'
import type {
  BeginningOutcome,
  BeginSession,
  SessionBeginning,
} from '../../../domain/tokens/stores.ts'
import { eventRow, namesIn } from '../../events.ts'
import { hasCertificate } from '../../identities/authenticators.ts'
import { SESSION_COLUMNS, sessionRow } from '../../sessions/api-sessions.ts'
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

export const beginSession: InOneStatement<BeginSession> = async (db, onEvent, beginning) => {
  const { proof, session, refreshToken, event } = beginning
  const query = queryFor({
    hasProof: proof !== undefined,
    hasToken: refreshToken !== undefined,
    credentials: credentialTableOf(session.primary),
  })
  const row = await query.first(db, valuesOf(beginning))
  if (row === undefined) throw new Error('beginning a session has no outcome')
  if (row.outcome === 'begun') onEvent({ event, names: namesIn(row), kept: 'row' })
  return row.outcome
}

function valuesOf(beginning: SessionBeginning) {
  const { at, redemption, identity, session, refreshToken, proof, event } = beginning
  const { primary } = session
  return {
    now: at,
    codeHash: redemption.codeHash,
    redeemedAt: redemption.at,
    sessionId: session.id,
    identityId: identity.id,
    isAdmin: identity.isAdmin ? 1 : 0,
    identityType: identity.type,
    authPolicyId: identity.authPolicyId,
    externalId: identity.externalId ?? null,
    voidedLogins: primary.voidedLogins ?? 0,
    credentialId: primary.authenticatorId,
    credentialVersion: primary.credentialVersion ?? 0,
    credentialFingerprint: provenFingerprint(primary) ?? null,
    provenAt: primary.at,
    tokenHash: refreshToken?.hash,
    tokenExpiresAt: refreshToken?.expiresAt,
    tokenIssuedAt: refreshToken?.issuedAt,
    ...prefixed(sessionRow(session)),
    ...proofValues(proof),
    ...eventRow(event),
  }
}

type Values = ReturnType<typeof valuesOf>

/** Events have columns of the same name. */
const PREFIX = 'session.'

function prefixed(row: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [PREFIX + name, value]))
}

interface Variant extends Readonly<Record<string, unknown>> {
  readonly hasProof: boolean
  readonly hasToken: boolean
  readonly credentials: CredentialTable | undefined
}

interface Outcome extends RecordedNames {
  readonly outcome: BeginningOutcome
}

const queryFor = createVariants<Variant, Values, Outcome>(
  (values, { hasProof, hasToken, credentials }) => {
    const { now, codeHash, identityId, sessionId } = values
    const of: Readonly<Record<string, unknown>> = values
    const columns = SESSION_COLUMNS.map((column) => sql.ref(column))
    const cells = SESSION_COLUMNS.map((column) => sql`${of[PREFIX + column]}`)
    // The code is spent even if the owner or the credential is gone, but after both were locked: hence the count of it.
    return sql<Outcome>`
      with proof as (
        ${proofPart(values, hasProof)}
      ), held as materialized (
        select identities.* from proof, identities where identities.id = ${identityId}
        for no key update of identities
      ), owner as materialized (
        select id from held
        where (disabled_at is null or disabled_until <= ${now})
          and is_admin = ${values.isAdmin} and type = ${values.identityType}
          and auth_policy_id = ${values.authPolicyId}
          and external_id is not distinct from ${values.externalId}
          and voided_logins = ${values.voidedLogins}
      ), credential as ${credentialPart(values, credentials)}
      , taken as (
        update auth_requests
        set state = 'tokens-issued', session_id = ${sessionId}, redeemed_at = ${values.redeemedAt}
        from proof, (select count(*) from credential) as after_credential
        where code_hash = ${codeHash} and state = 'code-issued'
        returning key
      ), seen as (
        update identities set last_login_at = ${now} from taken, credential
        where identities.id = ${identityId} and (last_login_at is null or last_login_at < ${now})
        returning identities.id
      ), begun as (
        insert into api_sessions (${sql.join(columns)})
        select ${sql.join(cells)} from taken, credential
        returning id
      ), refreshable as (
        ${hasToken ? tokenPart(values) : sql`select from begun`}
      ), recorded as (
        ${eventPart(values, 'begun')}
      )
      select
        case
          when not exists (select from proof) then 'replayed'
          when not exists (select from taken) then 'spent'
          when not exists (select from begun) then 'gone'
          else 'begun'
        end as outcome,
        (select identity_name from recorded), (select actor_name from recorded)`
  },
)

/** A password or certificate must still be the one that was presented, and is marked as used. */
function credentialPart(
  values: Values,
  credentials: CredentialTable | undefined,
): RawBuilder<unknown> {
  const { credentialId, credentialVersion, credentialFingerprint, provenAt } = values
  if (credentials === undefined) return sql`materialized (select from owner)`
  if (credentials === 'passkeys') {
    return sql`materialized (${lockedCredential(credentialId, credentials)})`
  }
  return sql`(
    update authenticators set last_used_at = ${provenAt} from owner
    where authenticators.id = ${credentialId} and credential_version = ${credentialVersion}
      and ${hasCertificate(credentialFingerprint)}
    returning authenticators.id
  )`
}

function tokenPart({
  tokenHash,
  tokenIssuedAt,
  tokenExpiresAt,
  sessionId,
}: Values): RawBuilder<unknown> {
  return sql`
    insert into refresh_tokens (hash, session_id, issued_at, expires_at)
    select ${tokenHash}, ${sessionId}, ${tokenIssuedAt}, ${tokenExpiresAt} from begun
    returning hash`
}
