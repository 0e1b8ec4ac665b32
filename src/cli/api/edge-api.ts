/**
 * Calls the client and management APIs for commands: returns responses without their envelope, and throws refusals as
 * one sentence with an exit code. API 1, D-45.
 */
import { isJsonObject, parseJson } from '../../base/json.ts'
import type { CallOptions, Session } from '../../client/client.ts'
import type { Row } from '../admin/entities/columns.ts'
import { CommandFailed, EXIT, type ExitCode } from '../terminal/io.ts'
import { plain } from '../terminal/output.ts'
import { faultyPart } from './list-fault.ts'

export interface ListQuery {
  readonly filter?: string | undefined
  readonly sort?: string | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

export interface Page {
  readonly rows: readonly Row[]
  readonly offset: number
  readonly total: number
}

export interface EdgeApi {
  list(path: string, query?: ListQuery): Promise<Page>
  get(path: string): Promise<Row>
  /** Returns `data` of the response. */
  send(method: 'POST' | 'PATCH' | 'DELETE', path: string, json?: unknown): Promise<Row>
  sendText(path: string, text: string): Promise<void>
  /** Returns a text without an envelope. */
  getText(path: string): Promise<string>
  /** Returns the id of what the calls since the last question have ended; undefined if they ended nothing (D-382). */
  takeEnding(): string | undefined
}

/** The API refused. */
export class ApiRefused extends CommandFailed {
  readonly code: string

  constructor(
    { status, code, message, requestId, field, reason }: Refusal,
    /** The fault of a field of the body. */
    optionFor: (field: string) => string | undefined = () => undefined,
  ) {
    const option = field === undefined ? undefined : optionFor(field)
    const what = field === undefined ? '' : `: ${field}${option ? ` (${option})` : ''} ${reason}`
    const request = requestId === undefined ? '' : ` [request ${requestId}]`
    super(plain(`${code}: ${message}${what}${request}`), exitOf(status))
    this.code = code
  }
}

/** The same as in protocol/headers.ts, which the command line does not import. */
const ENDING_HEADER = 'latchkey-ending'

const PREFIXES = { client: '/edge/client/v1', management: '/edge/management/v1' } as const

export function createEdgeApi(
  session: Pick<Session, 'call'>,
  which: keyof typeof PREFIXES,
  /** Which option a field of a body came from, for messages about it. */
  optionFor?: (field: string) => string | undefined,
): EdgeApi {
  let ending: string | undefined

  async function callForText(path: string, given: CallOptions, query = {}): Promise<string> {
    const response = await session.call(`${PREFIXES[which]}${path}`, given)
    ending = response.headers.get(ENDING_HEADER) ?? ending
    const text = await response.text()
    if (response.ok) return text
    throw new ApiRefused(withFaultyPart(refusalIn(response, text), query), optionFor)
  }
  const call = async (path: string, given: CallOptions, query: ListQuery = {}) =>
    envelopeIn(await callForText(`${path}${queryOf(query)}`, given, query))

  return {
    async list(path, query = {}) {
      const { data, meta } = await call(path, {}, query)
      const pagination = isJsonObject(meta['pagination']) ? meta['pagination'] : {}
      if (!Array.isArray(data) || !data.every(isJsonObject)) throw strange()
      return {
        rows: data,
        offset: numberOr(pagination['offset'], 0),
        total: numberOr(pagination['totalCount'], data.length),
      }
    },

    get: async (path) => rowIn(await call(path, {})),

    send: async (method, path, json) => rowIn(await call(path, { method, json })),

    async sendText(path, body) {
      await call(path, { method: 'POST', body, headers: { 'content-type': 'text/plain' } })
    },

    takeEnding() {
      const taken = ending
      ending = undefined
      return taken
    },

    getText: (path) => callForText(path, { headers: { accept: '*/*' } }),
  }
}

/** Returns the path of one entity. Encodes the id, which may be user input. */
export function pathOf(collection: string, id: string, action?: string): string {
  const one = `${collection}/${encodeURIComponent(id)}`
  return action === undefined ? one : `${one}/${action}`
}

/** Returns a string in the language of filters: docs/lists.md. */
export function quoted(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, '\\$&')}"`
}

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly requestId: string | undefined
  readonly field: string | undefined
  readonly reason: string | undefined
}

interface Envelope {
  readonly data: unknown
  readonly meta: Row
}

function queryOf(query: ListQuery): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

function rowIn({ data }: Envelope): Row {
  if (!isJsonObject(data)) throw strange()
  return data
}

function envelopeIn(text: string): Envelope {
  const value = jsonIn(text)
  if (!isJsonObject(value) || !('data' in value)) throw strange()
  return { data: value['data'], meta: isJsonObject(value['meta']) ? value['meta'] : {} }
}

function refusalIn(response: Response, text: string): Refusal {
  const value = jsonIn(text)
  const error = isJsonObject(value) && isJsonObject(value['error']) ? value['error'] : {}
  const cause = isJsonObject(error['cause']) ? error['cause'] : {}
  const { status } = response
  return {
    status,
    code: textOr(error['code'], `HTTP ${status}`),
    message: textOr(error['message'], 'the server refuses it'),
    requestId: textOr(error['requestId'], response.headers.get('x-request-id') ?? undefined),
    field: textOr(cause['field'], undefined),
    reason: textOr(cause['reason'], 'is not valid'),
  }
}

function withFaultyPart(refusal: Refusal, query: ListQuery): Refusal {
  const { field = '', reason = '' } = refusal
  if ((field !== 'filter' && field !== 'sort') || query[field] === undefined) return refusal
  const part = faultyPart(field, reason, query)
  // The option with a colon: the reason is often a sentence of its own, such as "a value is missing".
  return {
    ...refusal,
    field: `--${field}:`,
    reason: part === undefined ? reason : `${reason}: ${part}`,
  }
}

function exitOf(status: number): ExitCode {
  // A redirect, or anything else that our APIs never send, is not followed.
  return status < 400 ? EXIT.protocol : (EXITS[status] ?? EXIT.data)
}

const EXITS: Readonly<Record<number, ExitCode>> = {
  401: EXIT.denied,
  403: EXIT.denied,
  404: EXIT.missing,
  409: EXIT.conflict,
  429: EXIT.again,
  500: EXIT.failed,
  502: EXIT.unavailable,
  503: EXIT.unavailable,
  504: EXIT.unavailable,
}

const DEEPEST = 32

function jsonIn(text: string): unknown {
  return parseJson(text, DEEPEST)?.value
}

function textOr<T extends string | undefined>(value: unknown, other: T): string | T {
  return typeof value === 'string' ? value : other
}

function numberOr(value: unknown, other: number): number {
  return typeof value === 'number' ? value : other
}

function strange(): CommandFailed {
  return new CommandFailed('the response does not come from Latchkey', EXIT.protocol)
}
