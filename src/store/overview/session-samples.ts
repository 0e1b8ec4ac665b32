/** How many sessions were live at which time: D-361. */
import { type Kysely, sql } from 'kysely'
import { days } from '../../base/time/duration.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { SessionSamples } from '../../domain/overview/stores.ts'
import { insertRow } from '../fixed-query.ts'
import { findRow } from '../one-row.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

const DAY = days(1)

export function sqlSessionSamples(db: Kysely<Tables>): SessionSamples {
  return {
    has: async (at) => (await findRow(db, 'session_samples', { at }, () => true)) ?? false,

    async insert(sample) {
      await insertRow(db, 'session_samples', sample, 'at')
    },

    async list(from) {
      const query = db.selectFrom('session_samples').selectAll().where('at', '>=', from)
      return (await query.orderBy('at').execute()).map((row) => ({ ...row }))
    },

    async listHighest(from) {
      const day = sql<Instant>`at - at % ${sql.lit(DAY)}`
      const rows = await db
        .selectFrom('session_samples')
        .select([day.as('from'), sql<number>`max(oidc + legacy)`.as('highest')])
        .where('at', '>=', from)
        .groupBy(day)
        .orderBy(day)
        .execute()
      return rows.map((row) => ({ ...row }))
    },

    removeExpired: removeBefore(db, { table: 'session_samples', key: ['at'], time: 'at' }),
  }
}
