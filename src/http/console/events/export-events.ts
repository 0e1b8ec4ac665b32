/**
 * Audit events as files: JSON lines like those of the management API, and CSV for spreadsheets. Read in batches while the
 * file is being sent, so that memory stays small. A client that reads slowly can take hours, so a download is cut when
 * its session ends (D-490).
 */
import { Readable } from 'node:stream'
import { toRfc3339 } from '../../../base/time/instant.ts'
import type { RecordedEvent } from '../../../domain/audit/recorded-event.ts'
import { findEvents, type WantedEvents } from '../../../domain/management/finding/find-events.ts'
import { BATCH_ROWS } from '../../../domain/paging.ts'
import type { CallSession } from '../../../domain/sessions/call-session.ts'
import type { Answer } from '../../answer.ts'
import { eventLine } from '../../management-api/events.ts'
import type { ConsolePorts } from '../ports.ts'

/** The most events in one file; for the others, choose a shorter period. */
const MOST_EVENTS = 100_000

interface Form {
  readonly name: string
  readonly type: string
  readonly head: string
  readonly row: (event: RecordedEvent) => string
}

export const JSON_LINES: Form = {
  name: 'latchkey-audit.jsonl',
  type: 'application/x-ndjson',
  head: '',
  row: (event) => `${JSON.stringify(eventLine(event))}\n`,
}

const COLUMNS = [
  'at',
  'type',
  'reason',
  'identityName',
  'identityId',
  'actorName',
  'actorId',
  'address',
  'userAgent',
  'requestId',
  'sessionId',
  'count',
  'details',
  'id',
] as const

export const CSV: Form = {
  name: 'latchkey-audit.csv',
  type: 'text/csv; charset=utf-8',
  head: `${COLUMNS.join(',')}\r\n`,
  row: (event) => `${COLUMNS.map((name) => cell(textOf(event, name))).join(',')}\r\n`,
}

export function exportEvents(
  ports: Pick<ConsolePorts, 'events' | 'clock' | 'endedSessions'>,
  { sessionId }: Pick<CallSession, 'sessionId'>,
  wanted: WantedEvents,
  form: Form,
): Answer {
  // Events that happen meanwhile would shift the pages.
  const until = wanted.until ?? ports.clock.now()
  async function* lines() {
    // Remembered here: a client can pause until the ending itself is forgotten.
    let hasEnded = ports.endedSessions.has(sessionId)
    const unwatch = ports.endedSessions.onEnd(({ subject }) => {
      if (subject === sessionId) hasEnded = true
    })
    try {
      yield form.head
      for (let offset = 0; offset < MOST_EVENTS; offset += BATCH_ROWS) {
        // An error, so that the client does not take a part for the whole file.
        if (hasEnded) throw new Error('the session of a download has ended')
        const page = { limit: BATCH_ROWS, offset }
        const { rows } = await findEvents(ports, { ...wanted, until }, page)
        yield rows.map(form.row).join('')
        if (rows.length < BATCH_ROWS) return
      }
    } finally {
      unwatch()
    }
  }
  const disposition = `attachment; filename="${form.name}"`
  return {
    status: 200,
    headers: { 'content-disposition': disposition },
    content: {
      kind: 'lines',
      type: form.type,
      lines: Readable.from(lines(), { objectMode: false }),
    },
  }
}

function textOf(event: RecordedEvent, name: (typeof COLUMNS)[number]): string {
  if (name === 'at') return toRfc3339(event.at)
  const value = event[name]
  if (value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * RFC 4180 §2. Spreadsheets run a cell that begins with one of these as a formula, and names, user agents and usernames
 * are chosen by others: an apostrophe makes it text.
 */
export function cell(text: string): string {
  const safe = /^[=+\-@\t\r\n|%]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
