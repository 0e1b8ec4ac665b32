/** Running routers and their newest confirmations: D-381. */
import type { Insertable, Kysely, Selectable } from 'kysely'
import type { Instant } from '../../base/time/instant.ts'
import { readPosition, writePosition } from '../../domain/sessions/confirming/position.ts'
import type {
  RouterRun,
  RouterRuns,
  RunChange,
  Step,
} from '../../domain/sessions/confirming/stores.ts'
import { integer, json, listOf, object, reading, type Shape, text } from '../reading.ts'
import type { RouterRunRow, Tables } from '../tables.ts'

/** How many confirmations a row remembers, to say when an ending was confirmed. */
const MOST_STEPS = 32
/** How many runs a router can have. */
const MOST_RUNS = 8

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
      const rows = await db
        .selectFrom('router_runs')
        .selectAll()
        .where('router_id', 'in', ids)
        // In one order, so that two instances do not wait for each other.
        .orderBy('router_id')
        .orderBy('run')
        .forNoKeyUpdate()
        .execute()
      const runs = new Map(rows.map((row) => [keyOf(row.router_id, row.run), fromRow(row)]))
      const changed = new Map<string, RouterRun>()
      for (const change of changes) {
        const key = keyOf(change.routerId, change.run)
        changed.set(key, merge(changed.get(key) ?? runs.get(key), change))
      }
      await db
        .insertInto('router_runs')
        .values([...changed.values()].map(toRow))
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

    async removeExpired(before) {
      const { numDeletedRows } = await db
        .deleteFrom('router_runs')
        .where('contact_at', '<', before)
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  }
}

/** A change of an older feed says nothing about the newer one. */
function merge(run: RouterRun | undefined, change: RunChange): RouterRun {
  const { routerId, opened, closed, step } = change
  const contactAt =
    run !== undefined && run.contactAt > change.contactAt ? run.contactAt : change.contactAt
  let merged: RouterRun = run ?? {
    routerId,
    run: change.run,
    feed: '',
    openedAt: change.contactAt,
    closedAt: undefined,
    contactAt,
    steps: [],
  }
  if (opened !== undefined && (merged.feed === '' || opened.at >= merged.openedAt)) {
    merged = { ...merged, feed: opened.feed, openedAt: opened.at, closedAt: undefined }
  }
  if (closed !== undefined && closed.feed === merged.feed) {
    merged = { ...merged, closedAt: closed.at }
  }
  const steps = step === undefined ? merged.steps : [...merged.steps, step].slice(-MOST_STEPS)
  return { ...merged, contactAt, steps }
}

function keyOf(routerId: string, run: string): string {
  return `${routerId} ${run}`
}

function toRow(run: RouterRun): Insertable<RouterRunRow> {
  return {
    router_id: run.routerId,
    run: run.run,
    feed: run.feed,
    opened_at: run.openedAt,
    closed_at: run.closedAt ?? null,
    contact_at: run.contactAt,
    steps: writeSteps(run.steps),
  }
}

function fromRow(row: Selectable<RouterRunRow>): RouterRun {
  const read = reading('router_runs', row.router_id, row)
  return {
    routerId: row.router_id,
    run: row.run,
    feed: row.feed,
    openedAt: row.opened_at,
    closedAt: row.closed_at ?? undefined,
    contactAt: row.contact_at,
    steps: read('steps', STEPS),
  }
}

export function writeSteps(steps: readonly Step[]): string {
  return JSON.stringify(
    steps.slice(-MOST_STEPS).map(({ position, at }) => ({ position: writePosition(position), at })),
  )
}

const position: Shape<Step['position']> = (value) => {
  const found = readPosition(text(value))
  if (found === undefined) throw new TypeError('not a position')
  return found
}

export const STEPS: Shape<readonly Step[]> = json(
  listOf(object({ position, at: integer<Instant> })),
)
