/** What the audit log says about an answer: the events of its request. API 4.8. */
import assert from 'node:assert/strict'
import type { Reply } from './http-client.ts'
import type { Service } from './service.ts'
import { sql } from './stores/sql.ts'

export interface RecordedEvent {
  readonly type: string
  readonly reason: string | null
  readonly identityId: string | null
  readonly sessionId: string | null
  // biome-ignore lint/suspicious/noExplicitAny: each kind of event has its own details
  readonly details: any
}

/** In the order in which they happened. */
export async function eventsOf(
  service: Pick<Service, 'config'>,
  reply: Pick<Reply, 'headers'>,
): Promise<readonly RecordedEvent[]> {
  const requestId = reply.headers['x-request-id']
  assert.match(String(requestId), /^[\w-]+$/)
  const rows = await sql(service, `select * from events where request_id = '${requestId}'`)
  return rows.map((row) => ({
    type: String(row['type']),
    reason: row['reason'] as string | null,
    identityId: row['identity_id'] as string | null,
    sessionId: row['session_id'] as string | null,
    details: JSON.parse(String(row['details'])),
  }))
}

/** The one event of a login that failed. */
export async function failureOf(
  service: Pick<Service, 'config'>,
  reply: Pick<Reply, 'headers'>,
): Promise<RecordedEvent> {
  const [event, ...more] = await eventsOf(service, reply)
  assert.deepEqual(more, [])
  assert.equal(event?.type, 'login.failed')
  return event
}

/**
 * The answer without what may differ from one request to the next, or from one connection to another: to compare
 * refusals (R077).
 */
export function comparable(reply: Reply): object {
  const fields = reply.rawHeaders
    .map((name, i) => [name.toLowerCase(), reply.rawHeaders[i + 1]] as const)
    .filter(([name], i) => i % 2 === 0 && !DIFFERENT.includes(name))
  const { error, ...body } = reply.json()
  return { status: reply.status, fields, ...body, error: { ...error, requestId: '' } }
}

const DIFFERENT = ['x-request-id', 'date', 'connection', 'keep-alive']
