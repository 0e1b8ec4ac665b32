/**
 * Parts of statements that write several tables at once (D-322, D-328). Such a statement is a transaction of its own: one
 * round trip, and no lock is held while a message travels.
 *
 * Its parts run in no defined order, and all see the same snapshot. So each part reads what the one before it returned,
 * which fixes the order of the locks and stops at the first obstacle. And a row that decides is locked or updated, never
 * just read: if the statement had to wait for it, PostgreSQL then checks the conditions against its newest version,
 * which is not in the snapshot.
 */
import { type RawBuilder, sql } from 'kysely'
import type { ProvenPrimary } from '../../../domain/factors/proven.ts'
import type { UsedProof } from '../../../domain/tokens/stores.ts'
import { EVENT_COLUMNS, type EventColumns } from '../../events.ts'
import { type FixedQuery, fixedQuery } from '../../fixed-query.ts'

/** The table that has what proved the login. */
export type CredentialTable = 'authenticators' | 'passkeys'

/** Undefined if a claim named the identity. */
export function credentialTableOf({
  method,
  authenticatorId,
}: ProvenPrimary): CredentialTable | undefined {
  if (authenticatorId === undefined) return undefined
  return method === 'passkey' ? 'passkeys' : 'authenticators'
}

/** Queries whose text depends on a few facts, each made when it is first needed. */
export function createVariants<
  Variant extends Readonly<Record<string, unknown>>,
  Values extends object,
  Row,
>(
  statement: (values: Values, variant: Variant) => RawBuilder<Row>,
): (variant: Variant) => FixedQuery<Values, Row> {
  const queries = new Map<string, FixedQuery<Values, Row>>()
  return (variant) => {
    const key = JSON.stringify(variant)
    let query = queries.get(key)
    if (query === undefined) {
      query = fixedQuery((db, values: Values) => ({
        compile: () => statement(values, variant).compile(db),
      }))
      queries.set(key, query)
    }
    return query
  }
}

export interface ProofValues {
  readonly proofHash: string | undefined
  readonly proofExpiresAt: number | undefined
}

export function proofValues(proof: UsedProof | undefined): ProofValues {
  return { proofHash: proof?.hash, proofExpiresAt: proof?.expiresAt }
}

/** Returns a row unless the proof was used before. */
export function proofPart(
  { proofHash, proofExpiresAt }: ProofValues,
  hasProof: boolean,
): RawBuilder<unknown> {
  if (!hasProof) return sql`select`
  return sql`
    insert into used_proofs (hash, expires_at) values (${proofHash}, ${proofExpiresAt})
    on conflict (hash) do nothing returning hash`
}

/**
 * Reads `owner`, and returns the credential with this id. A transaction that removes it waits for the owner; but it
 * may have been removed since the snapshot was taken, so it is locked.
 */
export function lockedCredential(id: unknown, credentials: CredentialTable): RawBuilder<unknown> {
  const table = sql.table(credentials)
  return sql`
    select ${table}.id from owner, ${table} where ${table}.id = ${id} for key share of ${table}`
}

/** Returns the names, for a row of `from`. */
export function eventPart(values: EventColumns, from: string): RawBuilder<unknown> {
  const columns = EVENT_COLUMNS.map((column) => sql.ref(column))
  const cells = EVENT_COLUMNS.map((column: keyof EventColumns) => sql`${values[column]}`)
  const nameOf = (id: unknown) => sql`(select name from identities where id = ${id})`
  return sql`
    insert into events (${sql.join(columns)}, identity_name, actor_name)
    select ${sql.join(cells)}, ${nameOf(values.identity_id)}, ${nameOf(values.actor_id)}
    from ${sql.table(from)}
    returning identity_name, actor_name`
}

/** Beside the outcome: the names of the event, if it was recorded. */
export interface RecordedNames {
  readonly identity_name: string | null
  readonly actor_name: string | null
}
