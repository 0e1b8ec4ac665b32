/** A receiver of notifications, as docs/enrollment.md writes one: it keeps what has a good signature. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { listenUntilEnd } from '../ports.ts'

export interface ReceivedNotice {
  readonly id: string
  readonly isSigned: boolean
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
  readonly body: any
}

export const WEBHOOK_SECRET = Buffer.from('a key of thirty-two bytes, or so.')

/** `answer` gets the number of the attempt, from 1. */
export async function startReceiver(
  t: TestContext,
  answer: (attempt: number, response: ServerResponse, request: IncomingMessage) => void = (
    _,
    response,
  ) => response.writeHead(204).end(),
) {
  const received: ReceivedNotice[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const field = (name: string) => String(request.headers[name] ?? '')
    const id = field('webhook-id')
    const signature = createHmac('sha256', WEBHOOK_SECRET)
      .update(`${id}.${field('webhook-timestamp')}.${body}`)
      .digest()
    const given = Buffer.from(field('webhook-signature').replace(/^v1,/, ''), 'base64')
    const isSigned = given.length === signature.length && timingSafeEqual(given, signature)
    received.push({ id, isSigned, body: JSON.parse(body) })
    answer(received.length, response, request)
  })
  const port = await listenUntilEnd(t, server)
  return { url: `http://127.0.0.1:${port}/latchkey`, received }
}
