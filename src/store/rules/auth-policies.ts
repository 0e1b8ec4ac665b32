/** Authentication policies. The requirements are one JSON column, because nothing searches in them. */
import type { Kysely, Selectable } from 'kysely'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import { isStorable } from '../../base/text.ts'
import { eachDemand } from '../../domain/factors/proven.ts'
import type { AuthPolicy } from '../../domain/policies/auth-policy.ts'
import type { AuthPolicies } from '../../domain/policies/stores.ts'
import { insertUnique } from '../insert-unique.ts'
import {
  boolean,
  integer,
  json,
  listOf,
  object,
  optional,
  reading,
  tags,
  text,
} from '../reading.ts'
import type { AuthPolicyRow, Tables } from '../tables.ts'
import { updateUnique } from '../update-unique.ts'
import { ruleTable } from './rule-table.ts'

const PASSKEY = object({ allowed: boolean })

const BODY = object({
  primary: object({
    cert: object({ allowed: boolean, allowExpiredCerts: boolean, bindTokens: boolean }),
    extJwt: object({ allowed: boolean, allowedSigners: listOf(text<ExternalJwtSignerId>) }),
    updb: object({
      allowed: boolean,
      minPasswordLength: integer,
      maxAttempts: integer,
      lockoutDurationMinutes: integer,
    }),
    // A policy that is older than passkeys does not allow them (D-431).
    passkey: (value: unknown) => (value === undefined ? { allowed: false } : PASSKEY(value)),
  }),
  secondary: object({
    ...eachDemand((_, { isAlwaysStated }) => (isAlwaysStated ? boolean : unlessMissing)),
    requireExtJwt: optional(text<ExternalJwtSignerId>),
    // A policy from before D-454 does not require it.
    requireBoundToken: unlessMissing,
  }),
})

/** The policy is older than the factor, and does not demand it (D-262). */
function unlessMissing(value: unknown): boolean {
  return value === undefined ? false : boolean(value)
}

export function sqlAuthPolicies(db: Kysely<Tables>): AuthPolicies {
  return {
    ...ruleTable(db, 'auth_policies', fromRow),

    async hold(id) {
      if (!isStorable(id)) return undefined
      // Locks the row on PostgreSQL.
      const row = await db
        .selectFrom('auth_policies')
        .selectAll()
        .where('id', '=', id)
        .forNoKeyUpdate()
        .executeTakeFirst()
      return row && fromRow(row)
    },

    insert: (policy) =>
      insertUnique(db, 'auth_policies', toRow(policy), { 'name-in-use': ['name'] }),

    replace(policy) {
      const { id, created_at: _, ...changes } = toRow(policy)
      return updateUnique(db, 'auth_policies', { id }, changes, { 'name-in-use': 'name' })
    },
  }
}

function toRow({ primary, secondary, ...policy }: AuthPolicy): AuthPolicyRow {
  const body: ReturnType<typeof BODY> = { primary, secondary }
  return {
    id: policy.id,
    name: policy.name,
    body: JSON.stringify(body),
    tags: JSON.stringify(policy.tags),
    created_at: policy.createdAt,
    updated_at: policy.updatedAt,
  }
}

function fromRow(row: Selectable<AuthPolicyRow>): AuthPolicy {
  const read = reading('auth_policies', row.id, row)
  return {
    id: row.id,
    name: row.name,
    ...read('body', json(BODY)),
    tags: read('tags', json(tags)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
