/** Audit events: columns for the fields that are searched, one JSON column for those specific to the type. */
import type { ExpressionBuilder, Kysely, Selectable, Transaction } from 'kysely'
import type { IdentityId } from '../base/ids.ts'
import type { AuditEvent } from '../domain/audit/events.ts'
import { type EventNames, recorded } from '../domain/audit/recorded-event.ts'
import type { Events } from '../domain/audit/stores.ts'
import type { EVENT_FIELDS } from '../domain/lists/fields.ts'
import { EVENT } from '../entities/event.ts'
import { describedRows, listColumns } from './described-rows.ts'
import type { ListFacts } from './dialects/list-facts.ts'
import { fixedQuery } from './fixed-query.ts'
import { type Listed, listRows } from './lists/list-rows.ts'
import { findRow } from './one-row.ts'
import { removeBefore } from './remove-before.ts'
import type { EventRow, Tables } from './tables.ts'

const { fromRow } = describedRows('events', EVENT)

const LIST: Listed<'events', typeof EVENT_FIELDS> = {
  table: 'events',
  columns: listColumns(EVENT),
  order: { field: 'at', direction: 'desc' },
}

/** How an event was stored: as a row, as one more in the row that counts its repeats, or not at all (D-207). */
export interface KeptEvent {
  readonly event: AuditEvent
  readonly names: EventNames
  readonly kept: 'row' | 'counted' | 'dropped'
}

export function sqlEvents(
  db: Kysely<Tables>,
  facts: ListFacts,
  /** Called with inserted events; inside a transaction they are not committed yet. */
  onInserted: (kept: KeptEvent) => void,
): Events {
  return {
    async insert(event) {
      const { fold } = event
      const row = eventRow(event)
      if (fold === 'dropped') {
        if (event.type === 'login.failed') await writeNothing(db, row)
        return onInserted({ event, names: NO_NAMES, kept: fold })
      }
      if (fold === undefined) return onInserted(keptAs(event, await INSERT.first(db, row)))
      const inserted = await db
        .insertInto('events')
        .values((eb) => ({ ...withNames(eb, row), fold_key: fold.key }))
        .onConflict((conflict) =>
          conflict
            .column('fold_key')
            .where('fold_key', 'is not', null)
            .doUpdateSet(({ eb }) => ({ count: eb('events.count', '+', 1) })),
        )
        .returning(['count', 'identity_name', 'actor_name'])
        .executeTakeFirstOrThrow()
      const kept = inserted.count === 1 ? 'row' : 'counted'
      onInserted({ event, names: namesIn(inserted), kept })
    },

    find: (id) => findRow(db, 'events', { id }, fromRow),

    list: (query) => listRows(db, facts, LIST, fromRow, query),

    removeOlderThan: removeBefore(db, { table: 'events', key: ['id'], time: 'at' }),
  }
}

/** An event that is a row of its own, in a transaction on SQLite, where nothing is waited for (D-466). */
export function insertEventNow(tx: Transaction<Tables>, event: AuditEvent): KeptEvent {
  return keptAs(event, INSERT.firstNow(tx, eventRow(event)))
}

function keptAs(event: AuditEvent, row: Parameters<typeof namesIn>[0]): KeptEvent {
  return { event, names: namesIn(row), kept: 'row' }
}

/**
 * R077: a failure for a known name is always written. One for an unknown name has nothing else to write, so its commit
 * would not wait for the disk: an attacker who has used up the rate for anonymous events could tell the two apart.
 */
async function writeNothing(db: Kysely<Tables>, row: EventColumns): Promise<void> {
  await INSERT.run(db, row)
  await db.deleteFrom('events').where('id', '=', row.id).execute()
}

/** The columns that an event fills itself; the names come from the database. */
export type EventColumns = Omit<EventRow, 'identity_name' | 'actor_name' | 'fold_key' | 'count'> & {
  count: number
}

export const EVENT_COLUMNS = [
  'id',
  'at',
  'type',
  'actor_id',
  'identity_id',
  'session_id',
  'address',
  'request_id',
  'user_agent',
  'reason',
  'details',
  'count',
] as const satisfies readonly (keyof EventColumns)[]

const NO_NAMES: EventNames = { identityName: undefined, actorName: undefined }

/** One statement, so that the names cost no round trip: they are read by primary key where the row is written (D-350). */
const INSERT = fixedQuery((db, slots: EventColumns) => {
  const row = Object.fromEntries(EVENT_COLUMNS.map((name) => [name, slots[name]]))
  return db
    .insertInto('events')
    .values((eb) => withNames(eb, row as unknown as EventColumns))
    .returning(['identity_name', 'actor_name'])
})

function withNames(eb: ExpressionBuilder<Tables, 'events'>, row: EventColumns) {
  const nameOf = (id: IdentityId | null) =>
    eb.selectFrom('identities').select('identities.name').where('identities.id', '=', id)
  return { ...row, identity_name: nameOf(row.identity_id), actor_name: nameOf(row.actor_id) }
}

export function namesIn(
  row: Pick<Selectable<EventRow>, 'identity_name' | 'actor_name'> | undefined,
): EventNames {
  return {
    identityName: row?.identity_name ?? undefined,
    actorName: row?.actor_name ?? undefined,
  }
}

/** Without the names. */
export function eventRow(what: AuditEvent): EventColumns {
  const event = recorded(what, NO_NAMES)
  return {
    id: event.id,
    at: event.at,
    type: event.type,
    actor_id: event.actorId ?? null,
    identity_id: event.identityId ?? null,
    session_id: event.sessionId ?? null,
    address: event.address ?? null,
    request_id: event.requestId ?? null,
    user_agent: event.userAgent ?? null,
    reason: event.reason ?? null,
    details: event.details === undefined ? null : JSON.stringify(event.details),
    count: event.count,
  }
}
