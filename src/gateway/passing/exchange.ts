/**
 * One request at the gateway: its id, its line in the log, and its response if the gateway gives it itself. The steps
 * of the pipeline pass it on; `gateway.ts` names them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { newId, type RequestId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Random } from '../../base/secrets/random.ts'
import { connectionOf } from '../../https-server/http2.ts'
import type { Upgraded } from '../../https-server/https-server.ts'
import {
  type Answer,
  type AnswerCode,
  type OwnAnswer,
  ownAnswer,
  sendOwn,
} from '../http/answers.ts'
import type { InboundRequest } from '../http/read-request.ts'

/** A request that has not been read yet. */
export interface Arrival extends Arriving {
  readonly requestId: string
  /** The connection of the client. */
  readonly socket: TLSSocket
  readonly remoteAddress: string
  /** It goes to an upstream from here on. */
  markPassed(): void
  /** Adds fields to the line in the log. */
  note(fields: object): void
  /** Responds; the fields of `why` are for the log alone. */
  answer(answer: Answer, why: object): void
}

/** A request that is well-formed. */
export interface Exchange extends Arrival {
  readonly inbound: InboundRequest
}

export interface Arriving {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** The bare connection, if the request asks to upgrade it. */
  readonly upgrade?: Upgraded
  /** The client waits for `100 Continue` before it sends the body. */
  readonly isWaiting?: true
}

/** What the metrics count. */
export interface EndedRequest {
  readonly status: number
  /** Of an answer that the gateway gave itself. */
  readonly code: AnswerCode | undefined
  /** It was admitted to an upstream. */
  readonly isPassed: boolean
  /** Why the router refused it. */
  readonly reason: string | undefined
}

export interface ExchangePorts {
  readonly onEnd?: ((ended: EndedRequest) => void) | undefined
  readonly log: Log
  readonly random: Random
  /** Returns the answer as a page if the client is a browser that shows it; undefined: JSON. */
  readonly asPage?:
    | ((arriving: Arriving, answer: OwnAnswer & Answer) => OwnAnswer | undefined)
    | undefined
}

export function beginExchange(
  arriving: Arriving,
  { log, random, asPage, onEnd }: ExchangePorts,
): Arrival {
  const { message, response } = arriving
  const requestId = newId<RequestId>(random)
  const socket = connectionOf(message)
  const [path = ''] = (message.url ?? '').split('?') // the query may contain a secret of the upstream
  const method = shortened(message.method ?? '')
  const line: Record<string, unknown> = { requestId, method, path: shortened(path) }
  let code: AnswerCode | undefined
  let isPassed = false
  response.once('close', () => {
    const { statusCode: status } = response
    log.info({ ...line, status }, 'request')
    const reason = typeof line['reason'] === 'string' ? line['reason'] : undefined
    onEnd?.({ status, code, isPassed, reason })
  })
  return {
    ...arriving,
    requestId,
    socket,
    remoteAddress: addressOf(socket),
    markPassed() {
      isPassed = true
    },
    note: (fields) => void Object.assign(line, fields),
    answer(answer, why) {
      code = answer.code
      Object.assign(line, { code, ...why })
      // Close the connection: unread body bytes would be parsed as the next request.
      const isSafe = message.complete && answer.code !== 'BAD_REQUEST'
      const own = ownAnswer(answer, requestId)
      const page = asPage?.(arriving, { ...own, ...answer })
      sendOwn(response, page ?? own, isSafe ? 'keep' : 'close')
    },
  }
}

const LONGEST_LOGGED = 500

/** For the log, which callers without credentials write to: over HTTP/2 a long path costs them one byte (RFC 7541). */
export function shortened(text: string): string {
  return text.length <= LONGEST_LOGGED ? text : `${text.slice(0, LONGEST_LOGGED)}…`
}

/** Returns an IPv4 address in its own form, even on a dual-stack socket. */
function addressOf({ remoteAddress = '' }: TLSSocket): string {
  return remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '')
}
