/** Authentication policies. What a policy demands is one JSON column: nothing searches in it. */
import type { Kysely, Selectable } from 'kysely'
import type { AuthPolicy } from '../domain/policies/auth-policy.ts'
import type { AuthPolicies } from '../domain/policies/stores.ts'
import { boolean, integer, json, object, reading } from './reading.ts'
import type { AuthPolicyRow, Tables } from './tables.ts'

const BODY = object({
  primary: object({ updb: object({ allowed: boolean, minPasswordLength: integer }) }),
})

export function sqlAuthPolicies(db: Kysely<Tables>): AuthPolicies {
  return {
    async find(id) {
      const query = db.selectFrom('auth_policies').selectAll().where('id', '=', id)
      const row = await query.executeTakeFirst()
      return row && fromRow(row)
    },

    async insert({ id, name, primary, createdAt, updatedAt }) {
      const body: ReturnType<typeof BODY> = { primary }
      await db
        .insertInto('auth_policies')
        .values({
          id,
          name,
          body: JSON.stringify(body),
          created_at: createdAt,
          updated_at: updatedAt,
        })
        .execute()
    },
  }
}

function fromRow(row: Selectable<AuthPolicyRow>): AuthPolicy {
  const read = reading('auth_policies', row.id, row)
  return {
    id: row.id,
    name: row.name,
    ...read('body', json(BODY)),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
