/**
 * Everything that is sealed under the installation secret, for replacing that secret (D-141). A new sealed column must
 * be added here; `installation` seals its own.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { SealedValue, SealedValues } from '../../domain/installation/stores.ts'
import type { Tables } from '../tables.ts'

/** Rows per statement: a transaction must be short, and one statement cannot hold all rows. */
const BATCH = 200

export function sqlSealedValues(db: Kysely<Tables>): SealedValues {
  return {
    async list() {
      const values: SealedValue[] = []
      for (const purpose of PURPOSES) {
        const [table, column, key, context] = COLUMNS[purpose]
        const { rows } = await sql<Omit<SealedValue, 'purpose'>>`
          select ${key} as key, ${context} as context, ${sql.ref(column)} as sealed
          from ${sql.table(table)} where ${sql.ref(column)} is not null
        `.execute(db)
        for (const row of rows) values.push({ purpose, ...row })
      }
      return values
    },

    async replace(values) {
      let count = 0n
      for (const purpose of PURPOSES) {
        const rows = values.filter((value) => value.purpose === purpose)
        for (let from = 0; from < rows.length; from += BATCH) {
          const update = updateOf(purpose, rows.slice(from, from + BATCH))
          count += (await update.execute(db)).numAffectedRows ?? 0n
        }
      }
      return Number(count)
    },
  }
}

const AUTHORITY = sql`(role || '/' || generation)`

/** The table, the sealed column, the key of the row, and what the value is sealed for. */
const COLUMNS = {
  'enrollment-jwt': ['enrollments', 'sealed_jwt', sql`id`, sql`id`],
  'totp-secret': ['totp_enrollments', 'sealed_secret', sql`identity_id`, sql`id`],
  'signing-key': ['signing_keys', 'sealed_private_jwk', sql`kid`, sql`kid`],
  'authority-key': ['authorities', 'sealed_key', AUTHORITY, AUTHORITY],
} as const
const PURPOSES = Object.keys(COLUMNS) as SealedValue['purpose'][]

function updateOf(
  purpose: SealedValue['purpose'],
  rows: readonly SealedValue[],
): RawBuilder<unknown> {
  const [table, column, key] = COLUMNS[purpose]
  const cases = rows.map((row) => sql`when ${row.key} then ${row.sealed}`)
  const keys = rows.map((row) => row.key)
  return sql`
    update ${sql.table(table)}
    set ${sql.ref(column)} = case ${key} ${sql.join(cases, sql` `)} end
    where ${key} in (${sql.join(keys)})
  `
}
