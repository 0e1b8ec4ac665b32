/**
 * Forwards one accepted request to the upstream, and its response back, both as streams with back pressure. D-42.
 * It always ends: with the response, with one of ours, or with the connection.
 */
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import type { HostPort } from '../../base/host-port.ts'
import { onUpgrade } from '../../base/node/on-upgrade.ts'
import type { AnswerCode } from './answers.ts'
import { clientFields, type Field, fieldsOf } from './fields.ts'
import type { InboundRequest } from './read-request.ts'
import { callUpstream, framing, type GatewayTimes } from './upstream.ts'
import { writeHead } from './write-head.ts'

export interface Forwarding {
  readonly inbound: InboundRequest
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** Already without the fields that the upstream must not see. */
  readonly fields: readonly Field[]
  readonly requestId: string
  /** Called if the upstream sent no response that could be passed on. */
  readonly fail: (code: AnswerCode, error: Error) => void
}

export function forward(
  { inbound, message, response, fields, requestId, fail }: Forwarding,
  { upstream, times }: { readonly upstream: HostPort; readonly times: GatewayTimes },
): void {
  const { method, target, body } = inbound
  const call = callUpstream(upstream, {
    method,
    target,
    fields: [...fields, ...framing(body, method)],
  })
  /** Nothing more is sent: we have already responded, or the client is gone. */
  let isOver = false

  function giveUp(code: AnswerCode, error: Error): void {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    call.destroy()
    if (response.headersSent) response.destroy()
    else fail(code, error)
  }

  const waitForAnswer = () =>
    setTimeout(() => giveUp('GATEWAY_TIMEOUT', new Error('no answer in time')), times.answer)
  const waitForBody = () =>
    setTimeout(
      () => giveUp('REQUEST_TIMEOUT', new Error('the body stopped arriving')),
      times.upload,
    )
  let timer = body.kind === 'none' ? waitForAnswer() : waitForBody()

  // The client is gone, or its connection was closed because its session ended.
  response.once('close', () => {
    isOver = true
    clearTimeout(timer)
    call.destroy()
  })
  call.on('error', (error) => {
    // After a response, this is an unread body; a response that is cut ends by itself.
    if (!response.headersSent) giveUp('BAD_GATEWAY', error)
  })
  onUpgrade(call, () =>
    giveUp('BAD_GATEWAY', new Error('the upstream switched protocols without a request')),
  )
  call.once('response', (answer) => {
    clearTimeout(timer)
    // A response before the end of the body: do not wait for the rest, and do not reuse the connection.
    const then: readonly Field[] = message.complete ? [] : [['connection', 'close']]
    try {
      const { statusCode: status = 0 } = answer
      const kept = clientFields(fieldsOf(answer.rawHeaders), requestId, status)
      writeHead(response, status, [...kept, ...then])
    } catch (error) {
      giveUp('BAD_GATEWAY', error as Error)
      return
    }
    pipeline(answer, response, () => call.destroy())
  })

  if (body.kind === 'none') {
    call.end()
    return
  }
  message.on('data', () => {
    if (!isOver && !response.headersSent) timer.refresh()
  })
  message.once('end', () => {
    clearTimeout(timer)
    if (!isOver && !response.headersSent) timer = waitForAnswer()
  })
  send(message, call)
}

/** Not a pipeline: an upstream that responds early and closes must not close the client's connection too. */
function send(message: IncomingMessage, call: ClientRequest): void {
  message.once('error', () => call.destroy())
  message.once('close', () => {
    if (!message.complete) call.destroy()
  })
  call.once('close', () => {
    // Discard what nothing reads any more, so that the connection can end in an orderly way.
    message.unpipe(call)
    message.resume()
  })
  message.pipe(call)
}
