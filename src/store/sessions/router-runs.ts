/** Running routers and their newest confirmations: D-381. */
import type { Insertable, Kysely } from 'kysely'
import type { IdentityId } from '../../base/ids.ts'
import { type Instant, later } from '../../base/time/instant.ts'
import { readPosition, writePosition } from '../../domain/sessions/confirming/position.ts'
import type {
  RouterRun,
  RouterRuns,
  RunChange,
  Step,
} from '../../domain/sessions/confirming/stores.ts'
import { shapedRows } from '../described-rows.ts'
import { integer, json, listOf, object, optional, type Shape, text } from '../reading.ts'
import { removeBefore } from '../remove-before.ts'
import type { Tables } from '../tables.ts'

/** How many confirmations a row remembers, to say when an ending was confirmed. */
const MOST_STEPS = 32
/** How many runs a router can have. */
const MOST_RUNS = 8

const position: Shape<Step['position']> = (value) => {
  const found = readPosition(text(value))
  if (found === undefined) throw new TypeError('not a position')
  return found
}

export const STEPS: Shape<readonly Step[]> = json(
  listOf(object({ position, at: integer<Instant> })),
)

const { fromRow, toRow } = shapedRows('router_runs', (row) => row.router_id, {
  routerId: text<IdentityId>,
  run: text,
  feed: text,
  openedAt: integer<Instant>,
  closedAt: optional(integer<Instant>),
  contactAt: integer<Instant>,
  steps: STEPS,
})

export function sqlRouterRuns(db: Kysely<Tables>): RouterRuns {
  return {
    async list(limit) {
      const rows = await db
        .selectFrom('router_runs')
        .leftJoin('identities', 'identities.id', 'router_runs.router_id')
        .selectAll('router_runs')
        .select('identities.name')
        .orderBy('identities.name')
        .orderBy('router_id')
        .orderBy('contact_at', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...fromRow(row), name: row.name ?? undefined }))
    },

    async apply(changes) {
      if (changes.length === 0) return
      const ids = [...new Set(changes.map(({ routerId }) => routerId))]
      // A row that does not exist cannot be locked: so that two instances do not both create it, it is created first. In
      // one order, as below (D-485).
      const inOrder = changes.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
      const blank = new Map(inOrder.map((change) => [keyOf(change), blankRun(change)]))
      await db
        .insertInto('router_runs')
        .values([...blank.values()].map(rowOf))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const rows = await db
        .selectFrom('router_runs')
        .selectAll()
        .where('router_id', 'in', ids)
        // In one order, so that two instances do not wait for each other.
        .orderBy('router_id')
        .orderBy('run')
        .forNoKeyUpdate()
        .execute()
      const runs = new Map(rows.map(fromRow).map((run) => [keyOf(run), run]))
      const changed = new Map<string, RouterRun>()
      for (const change of changes) {
        const key = keyOf(change)
        changed.set(key, merge(changed.get(key) ?? runs.get(key) ?? blankRun(change), change))
      }
      await db
        .insertInto('router_runs')
        .values([...changed.values()].map(rowOf))
        .onConflict((conflict) =>
          conflict.columns(['router_id', 'run']).doUpdateSet((eb) => ({
            feed: eb.ref('excluded.feed'),
            opened_at: eb.ref('excluded.opened_at'),
            closed_at: eb.ref('excluded.closed_at'),
            contact_at: eb.ref('excluded.contact_at'),
            steps: eb.ref('excluded.steps'),
          })),
        )
        .execute()
    },

    async removeOthers(routerId, run, before) {
      await db
        .deleteFrom('router_runs')
        .where('router_id', '=', routerId)
        .where('run', '!=', run)
        .where((eb) =>
          eb.or([
            eb('closed_at', '<', before),
            // Its instance ended without a word. A program that does not confirm is not heard again.
            eb.and([eb('contact_at', '<', before), eb('run', 'not like', '~%')]),
            eb(
              'run',
              'not in',
              eb
                .selectFrom('router_runs as newest')
                .select('newest.run')
                .where('newest.router_id', '=', routerId)
                .orderBy('newest.contact_at', 'desc')
                .orderBy('newest.run')
                .limit(MOST_RUNS),
            ),
          ]),
        )
        .execute()
    },

    removeExpired: removeBefore(db, {
      table: 'router_runs',
      key: ['router_id', 'run'],
      time: 'contact_at',
    }),
  }
}

/** A change of an older feed says nothing about the newer one. */
function merge(run: RouterRun, change: RunChange): RouterRun {
  const { opened, closed, step } = change
  const contactAt = later(run.contactAt, change.contactAt)
  let merged = run
  if (opened !== undefined && (merged.feed === '' || opened.at >= merged.openedAt)) {
    merged = { ...merged, feed: opened.feed, openedAt: opened.at, closedAt: undefined }
  }
  if (closed !== undefined && closed.feed === merged.feed) {
    merged = { ...merged, closedAt: closed.at }
  }
  const steps = step === undefined ? merged.steps : [...merged.steps, step].slice(-MOST_STEPS)
  return { ...merged, contactAt, steps }
}

function blankRun({ routerId, run, contactAt }: RunChange): RouterRun {
  const feed = { feed: '', openedAt: contactAt, closedAt: undefined }
  return { routerId, run, ...feed, contactAt, steps: [] }
}

/** Positions are texts in the row. */
function rowOf(run: RouterRun): Insertable<Tables['router_runs']> {
  return { ...toRow(run), steps: writeSteps(run.steps) }
}

function keyOf({ routerId, run }: Pick<RouterRun, 'routerId' | 'run'>): string {
  return `${routerId} ${run}`
}

export function writeSteps(steps: readonly Step[]): string {
  return JSON.stringify(
    steps.slice(-MOST_STEPS).map(({ position, at }) => ({ position: writePosition(position), at })),
  )
}
