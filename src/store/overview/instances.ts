/** The running instances, with what they report and confirm: D-368, D-381. */
import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import type { Instance } from '../../domain/overview/instance.ts'
import type { Instances } from '../../domain/overview/stores.ts'
import { shapedRows } from '../described-rows.ts'
import { boolean, integer, json, listOf, object, optional, text } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import { STEPS, writeSteps } from '../sessions/router-runs.ts'
import type { InstanceRow, Tables } from '../tables.ts'

/** Far more than one installation has. */
const MOST = 1_000

const REPORT = json(
  object({
    revision: text,
    // Another version may have other checks.
    failing: listOf(text),
    warnings: optional(listOf(text)),
    serverCertificates: listOf(
      object({ listener: text, endsAt: integer<Instant>, isOwn: boolean }),
    ),
  }),
)

const ROWS = shapedRows('instances', ({ id }) => id, {
  id: text,
  place: text,
  host: text,
  version: text,
  startedAt: integer<Instant>,
  seenAt: integer<Instant>,
  report: REPORT,
  steps: STEPS,
})

export function sqlInstances(db: Kysely<Tables>): Instances {
  return {
    async replace(instance) {
      const { id, ...others } = toRow(instance)
      await db
        .insertInto('instances')
        .values({ id, ...others })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(others))
        .execute()
    },

    async list() {
      const query = db.selectFrom('instances').selectAll().orderBy('started_at', 'desc')
      return (await query.orderBy('id').limit(MOST).execute()).map(fromRow)
    },

    async remove(id) {
      await db.deleteFrom('instances').where('id', '=', id).execute()
    },

    async removeAt(place) {
      await db.deleteFrom('instances').where('place', '=', place).execute()
    },

    removeExpired: removeBefore(db, { table: 'instances', key: ['id'], time: 'seen_at' }),
  }
}

function toRow({ startedAt, seenAt, steps, id, place, host, version, ...report }: Instance) {
  const row = ROWS.toRow({ id, place, host, version, startedAt, seenAt, report, steps })
  return { ...row, steps: writeSteps(steps) }
}

function fromRow(row: Selectable<InstanceRow>): Instance {
  const { report, ...instance } = ROWS.fromRow(row)
  return { ...instance, ...report, warnings: report.warnings ?? [] }
}
