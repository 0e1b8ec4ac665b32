/** Authentication policies. The requirements are one JSON column, because nothing searches in them. */
import type { Kysely } from 'kysely'
import type { AuthPolicyId, ExternalJwtSignerId } from '../../base/ids.ts'
import { isStorable } from '../../base/text.ts'
import { eachDemand } from '../../domain/factors/proven.ts'
import type { AuthPolicies } from '../../domain/policies/stores.ts'
import { boolean, integer, listOf, object, optional, text } from '../reading.ts'
import type { Tables } from '../tables.ts'
import { insertUnique, updateUnique } from '../unique-rows.ts'
import { ruleRows, ruleTable } from './rule-table.ts'

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

const UNIQUE = { 'name-in-use': ['name'] } as const
const { fromRow, toRow } = ruleRows('auth_policies', { id: text<AuthPolicyId> }, BODY)

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

    insert: (policy) => insertUnique(db, 'auth_policies', toRow(policy), UNIQUE),

    replace(policy) {
      const { id, created_at: _, ...changes } = toRow(policy)
      return updateUnique(db, 'auth_policies', { id }, changes, UNIQUE)
    },
  }
}
