/** The running instances and their newest confirmations: D-381. */
import type { Kysely } from 'kysely'
import type { Instances } from '../../domain/sessions/confirming/stores.ts'
import { reading } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import { STEPS, writeSteps } from '../sessions/router-runs.ts'
import type { Tables } from '../tables.ts'

/** Far more than one installation has. */
const MOST = 1_000

export function sqlInstances(db: Kysely<Tables>): Instances {
  return {
    async list() {
      const rows = await db
        .selectFrom('instances')
        .selectAll()
        .orderBy('started_at')
        .orderBy('id')
        .limit(MOST)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        place: row.place,
        host: row.host,
        version: row.version,
        startedAt: row.started_at,
        seenAt: row.seen_at,
        steps: reading('instances', row.id, row)('steps', STEPS),
      }))
    },

    async replace({ id, place, host, version, startedAt, seenAt, steps }) {
      const changing = { seen_at: seenAt, steps: writeSteps(steps) }
      await db
        .insertInto('instances')
        .values({ id, place, host, version, started_at: startedAt, ...changing })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
        .execute()
    },

    async remove(id) {
      await db.deleteFrom('instances').where('id', '=', id).execute()
    },

    async removeAt(place) {
      await db.deleteFrom('instances').where('place', '=', place).execute()
    },

    removeExpired: (before, limit) =>
      removeBefore(db, { table: 'instances', key: 'id', time: 'seen_at' }, before, limit),
  }
}
