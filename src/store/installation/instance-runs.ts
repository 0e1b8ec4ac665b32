/** The running instances and their newest confirmations: D-381. */
import type { Kysely } from 'kysely'
import type { InstanceRuns } from '../../domain/sessions/confirming/stores.ts'
import { reading } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import { STEPS, writeSteps } from '../sessions/router-runs.ts'
import type { Tables } from '../tables.ts'

/** Far more than one installation has. */
const MOST = 1_000

export function sqlInstanceRuns(db: Kysely<Tables>): InstanceRuns {
  return {
    async list() {
      const rows = await db
        .selectFrom('instance_runs')
        .selectAll()
        .orderBy('started_at')
        .orderBy('id')
        .limit(MOST)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        place: row.place,
        host: row.host,
        startedAt: row.started_at,
        seenAt: row.seen_at,
        steps: reading('instance_runs', row.id, row)('steps', STEPS),
      }))
    },

    async replace({ id, place, host, startedAt, seenAt, steps }) {
      const changing = { seen_at: seenAt, steps: writeSteps(steps) }
      await db
        .insertInto('instance_runs')
        .values({ id, place, host, started_at: startedAt, ...changing })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(changing))
        .execute()
    },

    async remove(id) {
      await db.deleteFrom('instance_runs').where('id', '=', id).execute()
    },

    async removeAt(place) {
      await db.deleteFrom('instance_runs').where('place', '=', place).execute()
    },

    removeExpired: (before, limit) =>
      removeBefore(db, { table: 'instance_runs', key: 'id', time: 'seen_at' }, before, limit),
  }
}
