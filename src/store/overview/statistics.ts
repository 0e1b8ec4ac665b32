/** Counts for the overview, and the ends of enrolled certificates: D-367, D-369. */
import { type Kysely, sql } from 'kysely'
import type { EventType } from '../../domain/audit/events.ts'
import { FOLDED_TYPES } from '../../domain/audit/fold-repeats.ts'
import type { Statistics } from '../../domain/overview/stores.ts'
import { countRows } from '../count-rows.ts'
import { json, listOf, oneOf, reading, text } from '../reading.ts'
import { countLiveByProof } from '../sessions/live-by-proof.ts'
import type { Tables } from '../tables.ts'

export function sqlStatistics(db: Kysely<Tables>): Statistics {
  const events = (types: readonly EventType[], from: number, to: number) =>
    db
      .selectFrom('events')
      .where('type', 'in', types)
      .where('at', '>=', from as never)
      .where('at', '<', to as never)
      .groupBy('type')

  return {
    async countEvents(types, from, to) {
      const folded = new Set<string>(FOLDED_TYPES)
      // The index alone counts rows. Repeats are in the row itself, and only some types have them.
      const single = types.filter((type) => !folded.has(type))
      const repeated = types.filter((type) => folded.has(type))
      const rows = [
        ...(single.length === 0
          ? []
          : await events(single, from, to)
              .select(['type', ({ fn }) => fn.countAll<number>().as('number')])
              .execute()),
        ...(repeated.length === 0
          ? []
          : await events(repeated, from, to)
              .select(['type', ({ fn }) => fn.sum<number>('count').as('number')])
              .execute()),
      ]
      return new Map(rows.map(({ type, number }) => [type, Number(number)]))
    },

    async countSessionsByProof(at) {
      const rows = await countLiveByProof(db, at)
      return rows.map((row) => {
        const read = reading('api_sessions', 'amr', row)
        return {
          kind: read('kind', oneOf('oidc', 'legacy')),
          amr: read('amr', json(listOf(text))),
          sessions: row.sessions,
        }
      })
    },

    countLocked: (at) =>
      countRows(
        db
          .selectFrom('authenticators')
          .where(({ or, eb }) => or([eb('locked_until', '>', at), eb('closed_until', '>', at)])),
      ),

    async listCertificateEnds(from, limit) {
      const rows = await db
        .selectFrom('authenticators')
        .innerJoin('identities', 'identities.id', 'authenticators.identity_id')
        .select(['authenticators.id', 'identity_id', 'name'])
        .select(sql.ref<number>('not_after').as('ends_at'))
        .where('not_after', '>=', from)
        .orderBy('not_after')
        .orderBy('authenticators.id')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        identity: { id: row.identity_id, name: row.name },
        endsAt: row.ends_at as never,
      }))
    },

    countCertificateEnds(from, until) {
      const later = db.selectFrom('authenticators').where('not_after', '>=', from)
      return countRows(later.where('not_after', '<', until))
    },
  }
}
