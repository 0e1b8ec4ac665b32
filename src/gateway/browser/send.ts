/** From an exchange of the gateway to a visit of a browser, and its answer back. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isGone } from '../../https-server/http2.ts'
import { REQUEST_ID_HEADER } from '../../protocol/headers.ts'
import { writeHead } from '../http/write-head.ts'
import type { Exchange } from '../passing/exchange.ts'
import { type BrowserAnswer, originOf, type Visit } from './visit.ts'

/** Undefined if the Host is not one that a browser has. */
export function visitOf(exchange: Exchange): Visit | undefined {
  const { inbound, requestId, upgrade } = exchange
  const origin = originOf(inbound.host)
  if (origin === undefined) return undefined
  const { method, target, fields } = inbound
  return { origin, method, target, fields, isUpgrade: upgrade !== undefined, requestId }
}

export function sendToBrowser(exchange: Exchange, answer: BrowserAnswer): void {
  if (answer.code !== undefined) exchange.note({ code: answer.code })
  writeToBrowser(exchange.message, exchange.response, answer, exchange.requestId)
}

export function writeToBrowser(
  message: IncomingMessage,
  response: ServerResponse,
  { status, fields, body, afterwards }: BrowserAnswer,
  requestId: string,
): void {
  if (afterwards !== undefined) {
    if (isGone(response)) afterwards()
    else response.once('close', afterwards)
  }
  if (response.headersSent || isGone(response)) return
  writeHead(response, status, [
    ...fields,
    [REQUEST_ID_HEADER, requestId],
    ['content-length', String(Buffer.byteLength(body))],
    // Unread body bytes would be parsed as the next request.
    ...(message.complete ? [] : [['connection', 'close'] as const]),
  ])
  response.end(body)
}
