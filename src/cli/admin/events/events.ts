/**
 * `latchkey events`: shows the audit log, newest last, and follows it. Following polls by time with an overlap, because
 * commits can come late, and shows nothing twice. The time is the server's, never ours. API 4.8.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { isJsonObject } from '../../../base/json.ts'
import { type Duration, seconds } from '../../../base/time/duration.ts'
import {
  fromRfc3339,
  type Instant,
  instant,
  later,
  minus,
  toRfc3339,
} from '../../../base/time/instant.ts'
import { ServerUnavailable } from '../../../client/client.ts'
import { EVENT_TYPES } from '../../../domain/audit/event-types.ts'
import { type EdgeApi, quoted } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import { didYouMean, suggestedNames } from '../../table/did-you-mean.ts'
import { CommandFailed, EXIT, type ExitCode, type Io } from '../../terminal/io.ts'
import { jsonOf, plain, printJson } from '../../terminal/output.ts'
import type { Column, Row } from '../entities/columns.ts'
import { numberOf } from '../entities/fields.ts'
import { printRows, readAll } from '../entities/list-entities.ts'
import { idOf, idOfNamed } from '../entities/names.ts'

export interface EventValues extends SessionValues {
  readonly follow?: boolean
  readonly type?: string
  readonly identity?: string
  readonly actor?: string
  readonly request?: string
  readonly filter?: string
  readonly limit?: string
}

type Api = Pick<EdgeApi, 'list'>

const PATH = '/events'
const DEFAULT_LIMIT = 20
const OVERLAP: Duration = seconds(30)
const PAUSE_MILLISECONDS = 1_000

export const EVENT_COLUMNS = [
  { title: 'AT', path: 'at' },
  { title: 'TYPE', path: 'type' },
  { title: 'REASON', path: 'reason' },
  { title: 'COUNT', path: 'count' },
  { title: 'IDENTITY', path: 'identity' },
  { title: 'BY', path: 'actor' },
  { title: 'ADDRESS', path: 'address' },
  { title: 'REQUEST', path: 'requestId' },
  { title: 'CHANGES', path: 'changes' },
] as const

/** An event for the table: people by name (D-350), and what changed in words. */
export function shownEvent(event: Row): Row {
  const { identityId, identityName, actorId, actorName } = event
  const changes = changesOf(event)
  return {
    ...event,
    identity: identityName ?? identityId,
    // Left empty if people changed something of their own: the identity already names them.
    actor: actorId === identityId ? null : (actorName ?? actorId),
    changes: changes.length === 0 ? null : changes.join('; '),
  }
}

/** Prints a table of events. The column of changes is there only if an event has some. */
export function printEvents(io: Io, events: readonly Row[], columns: readonly Column[]): void {
  const shown = events.map(shownEvent)
  const hasChanges = shown.some(({ changes }) => changes !== null)
  printRows(
    io,
    shown,
    columns.filter(({ path }) => path !== 'changes' || hasChanges),
  )
}

/** `name: "Ada" → "Ada L."`, for each field that has changed; its name alone if its values are secret (D-351). */
export function changesOf(event: Row): readonly string[] {
  const { changed, changes } = isJsonObject(event['details']) ? event['details'] : {}
  const known = isJsonObject(changes) ? Object.entries(changes) : []
  const silent = (Array.isArray(changed) ? changed.map(String) : []).filter(
    (name) => !known.some(([path]) => path === name || path.startsWith(`${name}.`)),
  )
  return [
    ...known.map(([path, change]) => {
      const { from = null, to = null } = isJsonObject(change) ? change : {}
      return `${path}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`
    }),
    ...silent,
  ]
}

export async function showEvents(values: EventValues, io: Io): Promise<ExitCode> {
  const limit = values.limit === undefined ? DEFAULT_LIMIT : numberOf('limit', values.limit)
  if (values.type !== undefined) warnOfUnknown(values.type, io)
  const api = await openApi(values, io)
  const filter = await filterOf(api, values)
  if (values.follow !== true) {
    const { rows } = await api.list(PATH, { filter, limit, sort: 'at desc' })
    const events = [...rows].reverse()
    if (values.json === true) printJson(io, events)
    else printEvents(io, events, EVENT_COLUMNS)
    return EXIT.ok
  }
  const stop = new AbortController()
  const stopListening = io.onInterrupt(() => stop.abort())
  const show = (event: Row) => io.out(values.json === true ? jsonOf(event) : lineOf(event))
  try {
    await follow({ api, show, warn: (line) => io.err(line), signal: stop.signal }, filter, limit)
  } catch (error) {
    // Ctrl-C is the normal way to end this command, so it is not a failure, even while a request is running.
    if (!stop.signal.aborted) throw error
  } finally {
    stopListening()
  }
  return EXIT.ok
}

/** A mistyped type would look like a log without such events. It is no error: a newer server may have types of its own. */
function warnOfUnknown(type: string, io: Io): void {
  if (Object.hasOwn(EVENT_TYPES, type)) return
  const suggestion = didYouMean(suggestedNames(type, Object.keys(EVENT_TYPES)))
  io.err(plain(`latchkey: this version knows no event type ${JSON.stringify(type)}${suggestion}`))
}

/** Until the signal. */
export async function follow(
  deps: {
    readonly api: Api
    readonly show: (event: Row) => void
    readonly warn: (line: string) => void
    readonly signal: AbortSignal
    readonly pauseMilliseconds?: number
  },
  filter: string | undefined,
  limit: number,
): Promise<void> {
  const { api, show, warn, signal, pauseMilliseconds = PAUSE_MILLISECONDS } = deps
  const [newest] = (await api.list(PATH, { limit: 1, sort: 'at desc' })).rows
  let reached = newest === undefined ? instant(0) : timeOf(newest)
  const read = async (from: Instant) =>
    (await readAll(api, PATH, { filter: since(from, filter), sort: 'at' })).rows

  // Existing events are not new; show only the newest of them first.
  let known = new Map<string, Instant>()
  for (const event of await read(minus(reached, OVERLAP))) known.set(idOf(event), timeOf(event))
  const first = await api.list(PATH, { filter, limit, sort: 'at desc' })
  for (const event of [...first.rows].reverse()) take(event)

  function take(event: Row): void {
    known.set(idOf(event), timeOf(event))
    reached = later(reached, timeOf(event))
    show(event)
  }

  let isLost = false
  while (!signal.aborted) {
    await wait(pauseMilliseconds, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const from = minus(reached, OVERLAP)
    try {
      for (const event of await read(from)) if (!known.has(idOf(event))) take(event)
      isLost = false
    } catch (error) {
      if (!isPassing(error)) throw error
      if (!isLost) warn('latchkey: the server does not answer; still trying')
      isLost = true
    }
    known = new Map([...known].filter(([, at]) => at >= from))
  }
}

async function filterOf(api: Api, values: EventValues): Promise<string | undefined> {
  const { type, identity, actor, request, filter } = values
  const parts = [
    ...(type === undefined ? [] : [`type = ${quoted(type)}`]),
    ...(identity === undefined ? [] : [await isOf(api, 'identityId', identity)]),
    ...(actor === undefined ? [] : [await isOf(api, 'actorId', actor)]),
    ...(request === undefined ? [] : [`requestId = ${quoted(request)}`]),
  ]
  // Without other conditions, the filter may contain its own order.
  if (parts.length === 0) return filter
  return [...parts, ...(filter === undefined ? [] : [`(${filter})`])].join(' and ')
}

const ID = /^[a-z0-9]{19}$/
/** How many deleted identities with one name are looked for. */
const MOST_DELETED = 50

/**
 * Returns the filter for the events of an identity, by its id, its name, or the name that it had when it was deleted
 * (D-350). It asks for ids, which have an index. Throws CommandFailed if no identity has or had the name.
 */
export async function isOf(
  api: Api,
  field: 'identityId' | 'actorId',
  name: string,
): Promise<string> {
  const filter = `type = "identity.deleted" and identityName = ${quoted(name)}`
  const deleted = await api.list(PATH, { filter, limit: MOST_DELETED, sort: 'at desc' })
  const ids = new Set(deleted.rows.map(({ identityId }) => String(identityId)))
  try {
    ids.add(await idOfNamed(api, 'identity', name))
  } catch (error) {
    const isGone = error instanceof CommandFailed && error.exit === EXIT.missing
    if (isGone && ID.test(name)) ids.add(name)
    if (!isGone || ids.size === 0) throw error
  }
  return `${field} in [${[...ids].map(quoted).join(', ')}]`
}

function since(from: Instant, filter: string | undefined): string {
  const newer = `at >= datetime(${quoted(toRfc3339(later(from, instant(0))))})`
  return filter === undefined ? newer : `${newer} and (${filter})`
}

function isPassing(error: unknown): boolean {
  return (
    error instanceof ServerUnavailable ||
    (error instanceof CommandFailed && error.exit === EXIT.unavailable)
  )
}

function timeOf(event: Row): Instant {
  return fromRfc3339(String(event['at'])) ?? instant(0)
}

/** One event in one line. */
export function lineOf(event: Row): string {
  const { at, type, reason, identity, actor, address, requestId, count } = shownEvent(event)
  const times = typeof count === 'number' && count > 1 ? count : undefined
  const rest = Object.entries({ count: times, identity, by: actor, address, request: requestId })
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
  const what = reason === null || reason === undefined ? type : `${type}: ${reason}`
  return plain([at, what, ...rest, ...changesOf(event)].join('  '))
}
