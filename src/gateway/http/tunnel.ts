/**
 * A WebSocket through the gateway: RFC 6455 §4. Both ends are connected only after the upstream has agreed to exactly
 * this handshake; until then it receives nothing from the client but the request. D-42.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { HostPort } from '../../base/host-port.ts'
import type { AnswerCode } from './answers.ts'
import { clientFields, type Field, fieldsOf, onlyValue, valuesOf } from './fields.ts'
import type { Forwarding } from './forward.ts'
import type { InboundRequest } from './read-request.ts'
import { callUpstream, type GatewayTimes } from './upstream.ts'
import { FIRST_FINAL } from './write-head.ts'

/** The response is for an answer that is not 101. */
export interface Tunnelling extends Omit<Forwarding, 'message'> {
  readonly socket: Duplex
  /** The bytes that the client sent after its request. */
  readonly head: Uint8Array
  readonly onOpen: () => void
}

/** Returns what is wrong with an upgrade request; undefined if it is a WebSocket handshake. */
export function upgradeFault({ method, body, fields }: InboundRequest): string | undefined {
  const only = (name: string) => onlyValue(fields, name)
  // In particular no `h2c`: over it, the upstream would accept requests that we have not checked.
  if (only('upgrade')?.toLowerCase() !== 'websocket') return 'it asks for another protocol'
  if (method !== 'GET') return 'its method is not GET'
  if (body.kind !== 'none') return 'it has a body'
  if (only('sec-websocket-version') !== '13') return 'it is of another version'
  if (!/^[A-Za-z0-9+/]{22}==$/.test(only('sec-websocket-key') ?? '')) return 'it has no key'
  return undefined
}

export function tunnel(
  { inbound, socket, head, response, fields, requestId, fail, onOpen }: Tunnelling,
  { upstream, times }: { readonly upstream: HostPort; readonly times: GatewayTimes },
): void {
  const upgrade: readonly Field[] = [
    ['connection', 'Upgrade'],
    ['upgrade', 'websocket'],
  ]
  const { method, target } = inbound
  const call = callUpstream(upstream, { method, target, fields: [...fields, ...upgrade] })
  let isAnswered = false

  function giveUp(code: AnswerCode, error: Error): void {
    // After a response, ours or the upstream's, it ends with its own stream.
    if (isAnswered) return
    isAnswered = true
    clearTimeout(timer)
    call.destroy()
    fail(code, error)
  }

  const timer = setTimeout(
    () => giveUp('GATEWAY_TIMEOUT', new Error('no answer in time')),
    times.answer,
  )
  socket.once('close', () => {
    isAnswered = true
    clearTimeout(timer)
    call.destroy()
  })
  call.on('error', (error) => giveUp('BAD_GATEWAY', error))

  call.once('response', (answer) => {
    clearTimeout(timer)
    const { statusCode: status = 0 } = answer
    if (status < FIRST_FINAL) {
      giveUp('BAD_GATEWAY', new Error('the upstream switched protocols without naming one'))
      return
    }
    isAnswered = true
    try {
      const kept = clientFields(fieldsOf(answer.rawHeaders), requestId, status)
      response.writeHead(status, [...kept, ['connection', 'close']].flat())
    } catch {
      socket.destroy()
      return
    }
    answer.once('error', () => socket.destroy())
    answer.pipe(response)
  })

  call.once('upgrade', (answer: IncomingMessage, other, otherHead) => {
    clearTimeout(timer)
    if (!isAgreed(inbound, answer)) {
      other.destroy()
      giveUp('BAD_GATEWAY', new Error('the upstream switched to another protocol'))
      return
    }
    isAnswered = true
    const kept = clientFields(fieldsOf(answer.rawHeaders), requestId)
    const lines = [...kept, ...upgrade].map(([name, value]) => `${name}: ${value}\r\n`)
    // Node's parser has already refused line breaks in values.
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`, 'latin1')
    if (otherHead.length > 0) socket.write(otherHead)
    if (head.length > 0) other.write(head)
    connect(socket, other)
    onOpen()
  })
  call.end()
}

/** RFC 6455 §4.1: the response proves that it was made for this handshake. */
function isAgreed({ fields }: InboundRequest, { headers }: IncomingMessage): boolean {
  const [key = ''] = valuesOf(fields, 'sec-websocket-key')
  const expected = createHash('sha1').update(`${key}${WEBSOCKET_ID}`).digest('base64')
  return (
    headers.upgrade?.toLowerCase() === 'websocket' && headers['sec-websocket-accept'] === expected
  )
}

const WEBSOCKET_ID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** If one side ends, the other does too: neither WebSocket nor the gateway has half-open connections. */
function connect(client: Duplex, upstream: Duplex): void {
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    one.on('error', () => other.destroy())
    one.once('close', () => other.destroy())
    one.once('end', () => other.once('finish', () => one.destroy()))
    one.pipe(other)
  }
}
