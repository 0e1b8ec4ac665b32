/** The end of a session, and who has confirmed it: D-381. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { presenting } from '../certificates/certificate-login.ts'
import { type EnrolledRouter, openFeed } from '../edge/feed-client.ts'
import { CLIENT_API } from '../login/legacy.ts'
import type { Administrator } from '../management.ts'
import type { Service } from '../service.ts'

export const CONFIRM = `${CLIENT_API}/router-confirmations`
export const RUN = 'program-number-1'

// biome-ignore lint/suspicious/noExplicitAny: the answer is checked by its schema
export type Confirmations = any

/** Ends a session as an administrator; answers the id of the ending. */
export async function end(admin: Administrator, id: string): Promise<string> {
  const reply = await admin.call('DELETE', `/api-sessions/${id}`)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.json(), { data: {}, meta: {} })
  const ending = reply.headers['latchkey-ending']
  assert.ok(typeof ending === 'string')
  return ending
}

export const confirmationsOf = (
  admin: Administrator,
  ending: string,
  wait = 0,
): Promise<Confirmations> => admin.get(`/endings/${ending}?wait=${wait}`)

export async function feedOf(t: TestContext, service: Service, router: EnrolledRouter, run = RUN) {
  const feed = await openFeed(t, service, router, undefined, run)
  await feed.line(({ type }) => type === 'mark', 'a mark')
  const calls = presenting(service, router.certificate)
  return {
    ...feed,
    mark: () => feed.lines.findLast(({ type }) => type === 'mark').mark as string,
    confirm: (json: unknown) => calls.call(CONFIRM, { json }),
  }
}

/** The mark that comes after the end of this session. */
export async function markAfter(
  feed: Awaited<ReturnType<typeof feedOf>>,
  subject: string,
): Promise<string> {
  const ended = await feed.ended(subject)
  const line = await feed.line(
    (one) => one.type === 'mark' && feed.lines.indexOf(one) > feed.lines.indexOf(ended),
    'the mark after it',
  )
  return line.mark
}
