/**
 * `latchkey explain`: explains the error with a request id in plain words, and says what to do. The reasons are only in
 * the audit log (API 4.8); the caller got a generic message.
 */
import { shellWord } from '../../../base/shell-word.ts'
import { LARGEST_PAGE } from '../../../contract/lists.ts'
import { clockSentence } from '../../../domain/audit/clock-sentence.ts'
import { type EdgeApi, quoted } from '../../api/edge-api.ts'
import { openApi, type SessionValues } from '../../api/open-api.ts'
import type { Run } from '../../table/command.ts'
import { CommandFailed, EXIT, type ExitCode, type Io, Misuse } from '../../terminal/io.ts'
import { plain, printJson } from '../../terminal/output.ts'
import type { Row } from '../entities/columns.ts'
import { changesOf, isOf } from './events.ts'
import { findLogLine, gatewayLines, gatewayMeaning } from './explain-gateway.ts'
import { type Meaning, meaningOf } from './meanings.ts'

/** Events of requests that were refused. */
const REFUSALS = ['login.failed', 'token.refused', 'token.reused', 'enrollment.refused']

export interface ExplainValues extends SessionValues {
  readonly last?: boolean
  readonly identity?: string
  /** The log of a gateway. */
  readonly log?: string
}

export const explain: Run<ExplainValues> = async (values, io, [given]) => {
  const { last, identity, log } = values
  if ((given === undefined) !== (last === true)) {
    throw new Misuse('"explain" needs a REQUEST-ID or --last, one of them')
  }
  if (identity !== undefined && last !== true) throw new Misuse('--identity is for --last')
  if (log !== undefined && given === undefined) throw new Misuse('--log needs a REQUEST-ID')
  const api = await openApi(values, io)
  if (log !== undefined && given !== undefined) return explainAtGateway(api, given, log, values, io)
  const requestId = given ?? (await lastRefused(api, identity))
  const filter = `requestId = ${quoted(requestId)}`
  const { rows } = await api.list('/events', { filter, limit: LARGEST_PAGE, sort: 'at' })
  if (rows.length === 0) throw nothingKnown(requestId)
  const names = await namesOf(api, rows)
  if (values.json === true) {
    printJson(
      io,
      rows.map((event) => ({ event, ...meaningFor(event, names) })),
    )
  } else for (const event of rows) for (const line of explainedLines(event, names)) io.out(line)
  return EXIT.ok
}

/** D-406: the controller has no event of it. */
async function explainAtGateway(
  api: Pick<EdgeApi, 'list'>,
  requestId: string,
  path: string,
  values: ExplainValues,
  io: Io,
): Promise<ExitCode> {
  const line = await findLogLine(path, requestId, io)
  if (line === undefined) {
    const shown = plain(JSON.stringify(requestId))
    throw new CommandFailed(`no line of ${path} has the request id ${shown}`, EXIT.missing)
  }
  const { identityId } = line
  const filter = isString(identityId) ? `id = ${quoted(identityId)}` : undefined
  const [identity] =
    filter === undefined ? [] : (await api.list('/identities', { filter, limit: 1 })).rows
  const meaning = gatewayMeaning(line, identity)
  if (values.json === true) printJson(io, [{ line, ...meaning }])
  else for (const text of gatewayLines(line, meaning, identity)) io.out(text)
  return EXIT.ok
}

/** The request of the newest refusal. */
async function lastRefused(
  api: Pick<EdgeApi, 'list'>,
  identity: string | undefined,
): Promise<string> {
  const whose = identity === undefined ? '' : ` and ${await isOf(api, 'identityId', identity)}`
  const filter = `type in [${REFUSALS.map(quoted).join(', ')}] and requestId != null${whose}`
  const [newest] = (await api.list('/events', { filter, limit: 1, sort: 'at desc' })).rows
  if (newest === undefined) throw new CommandFailed('no refused request is known', EXIT.missing)
  return String(newest['requestId'])
}

type Names = ReadonlyMap<unknown, string>

/** Names for the ids in the events: as the events have them, or for older ones those of today (D-350). */
async function namesOf(api: Pick<EdgeApi, 'list'>, events: readonly Row[]): Promise<Names> {
  const people = events.flatMap(({ identityId, identityName, actorId, actorName }) => [
    [identityId, identityName] as const,
    [actorId, actorName] as const,
  ])
  const own = people.flatMap(([id, name]) => (isString(name) ? [[id, name] as const] : []))
  const known = new Map<unknown, string>(own)
  const ids = new Set(people.map(([id]) => id).filter((id) => isString(id) && !known.has(id)))
  if (ids.size === 0) return known
  const filter = [...ids]
    .slice(0, 50)
    .map((id) => `id = ${quoted(String(id))}`)
    .join(' or ')
  const { rows } = await api.list('/identities', { filter, limit: LARGEST_PAGE })
  return new Map([...rows.map(({ id, name }) => [id, String(name)] as const), ...known])
}

/** Fills the names of this event into the commands. Users choose these names, so they are quoted for a shell. */
export function meaningFor(event: Row, names: Names): Meaning {
  const { type, reason } = event
  const found = meaningOf(String(type), isString(reason) ? reason : null)
  if (found === undefined) return { what: `${type}${isString(reason) ? `: ${reason}` : ''}` }
  const { what, todo } = found
  if (todo === undefined) return { what }
  const identity = names.get(event['identityId']) ?? event['identityId']
  const username = (event['details'] as Row | null)?.['username']
  return {
    what,
    todo: todo.replaceAll(/\b(IDENTITY|USERNAME)\b/g, (word) => {
      const value = word === 'IDENTITY' ? identity : (username ?? identity)
      return isString(value) ? shellWord(plain(value)) : word
    }),
  }
}

/** Explains an event to the operator. The text contains nothing that controls a terminal. */
export function explainedLines(event: Row, names: Names): readonly string[] {
  const { what, todo } = meaningFor(event, names)
  const { at, type, reason, identityId, actorId, address, userAgent, count } = event
  const details = (event['details'] as Row | null) ?? {}
  const facts: readonly (readonly [string, unknown])[] = [
    ['when', at],
    ['times in that minute', typeof count === 'number' && count > 1 ? count : undefined],
    ['event', isString(reason) ? `${type}: ${reason}` : type],
    ['identity', called(identityId, names)],
    ['done by', actorId === identityId ? undefined : called(actorId, names)],
    ['from', address],
    ['with', userAgent],
    ...Object.entries(details)
      .filter(([name]) => name !== 'changed' && name !== 'changes')
      .map(
        ([name, value]) =>
          [name, name === 'clock' ? (clockSentence(value) ?? value) : value] as const,
      ),
    ...changesOf(event).map((change) => ['changed', change] as const),
  ]
  return [
    what,
    ...facts
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => `  ${name}: ${isString(value) ? value : JSON.stringify(value)}`),
    ...(todo === undefined ? [] : [`  → ${todo}`]),
  ].map(plain)
}

function called(id: unknown, names: Names): string | undefined {
  if (!isString(id)) return undefined
  const name = names.get(id)
  return name === undefined ? id : `${JSON.stringify(name)} (${id})`
}

/** docs/audit.md, "What has no event". */
function nothingKnown(requestId: string): CommandFailed {
  return new CommandFailed(
    `no event has the request id ${plain(JSON.stringify(requestId))}. Calls that succeed, bodies that are not valid, ` +
      'wrong tokens and addresses that must wait have none, and a failure that repeats is counted in the event of the ' +
      'first one; the log of the service has a line with this id. A gateway has it in its own log: pass --log FILE',
    EXIT.missing,
  )
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}
