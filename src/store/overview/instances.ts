/** The instances that share the database: D-368. */
import type { Kysely, Selectable } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import type { Instance } from '../../domain/overview/instance.ts'
import type { Instances } from '../../domain/overview/stores.ts'
import { boolean, integer, json, listOf, object, reading, text } from '../reading.ts'
import type { InstanceRow, Tables } from '../tables.ts'

const BODY = object({
  host: text,
  revision: text,
  // Another version may have other checks.
  failing: listOf(text),
  serverCertificates: listOf(object({ listener: text, endsAt: integer<Instant>, isOwn: boolean })),
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
      return (await query.orderBy('id').execute()).map(fromRow)
    },

    async removeUnseenSince(before) {
      await db.deleteFrom('instances').where('seen_at', '<', before).execute()
    },
  }
}

function toRow({ id, version, startedAt, seenAt, ...body }: Instance): InstanceRow {
  return {
    id,
    version,
    started_at: startedAt,
    seen_at: seenAt,
    body: JSON.stringify(body satisfies ReturnType<typeof BODY>),
  }
}

function fromRow(row: Selectable<InstanceRow>): Instance {
  const body = reading('instances', row.id, row)('body', json(BODY))
  const { id, version, started_at: startedAt, seen_at: seenAt } = row
  return { id, version, startedAt, seenAt, ...body }
}
