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
      const totp = await db
        .selectFrom('totp_enrollments')
        .select(['identity_id as key', 'id as context', 'sealed_secret as sealed'])
        .execute()
      const keys = await db
        .selectFrom('signing_keys')
        .select(['kid as key', 'kid as context', 'sealed_private_jwk as sealed'])
        .execute()
      const authorities = await db
        .selectFrom('authorities')
        .select(['role', 'generation', 'sealed_key as sealed'])
        .execute()
      const jwts = await db
        .selectFrom('enrollments')
        .select(['id as key', 'id as context', 'sealed_jwt as sealed'])
        .where('sealed_jwt', 'is not', null)
        .execute()
      return [
        ...jwts.flatMap(({ sealed, ...row }) =>
          sealed === null ? [] : [{ purpose: 'enrollment-jwt' as const, ...row, sealed }],
        ),
        ...totp.map((row) => ({ purpose: 'totp-secret' as const, ...row })),
        ...keys.map((row) => ({ purpose: 'signing-key' as const, ...row })),
        ...authorities.map(({ role, generation, sealed }) => {
          const key = `${role}/${generation}`
          return { purpose: 'authority-key' as const, key, context: key, sealed }
        }),
      ]
    },

    async replace(values) {
      let count = 0n
      for (const purpose of Object.keys(COLUMNS) as SealedValue['purpose'][]) {
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

const COLUMNS = {
  'enrollment-jwt': ['enrollments', 'sealed_jwt', sql`id`],
  'totp-secret': ['totp_enrollments', 'sealed_secret', sql`identity_id`],
  'signing-key': ['signing_keys', 'sealed_private_jwk', sql`kid`],
  'authority-key': ['authorities', 'sealed_key', sql`(role || '/' || generation)`],
} as const

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
