/**
 * `latchkey gateway`: a gateway in front of one service. It accepts TLS with a client certificate and a session token,
 * and forwards plain HTTP and WebSocket; the service learns who calls and never sees a credential. D-42;
 * docs/router.md.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { newId, type RequestId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Secret } from '../base/secrets/secret.ts'
import { type Duration, milliseconds, seconds } from '../base/time/duration.ts'
import type { Unreadable } from '../https-server/connection.ts'
import { createConnectionLimit, mostConnections } from '../https-server/connection-limit.ts'
import { createHttpsServer, type RawAnswer } from '../https-server/https-server.ts'
import type { Router } from '../router/router.ts'
import { type Answer, type AnswerCode, answerTo, ownAnswer, sendOwn } from './answers.ts'
import { type Field, upstreamFields } from './fields.ts'
import { forward } from './forward.ts'
import { type InboundRequest, readRequest } from './read-request.ts'
import { createRely } from './reliances.ts'
import type { GatewaySettings } from './settings/settings.ts'
import { tunnel, upgradeFault } from './tunnel.ts'
import { createUpstream, type GatewayTimes } from './upstream.ts'

export interface GatewayOptions {
  readonly router: Pick<Router, 'check' | 'watch' | 'brand'>
  readonly settings: Pick<GatewaySettings, 'listen' | 'upstreams'>
  /** Of the listener. */
  readonly certificatePem: string
  readonly keyPem: Secret
  readonly log: Log
  readonly random: Random
  readonly times?: Partial<GatewayTimes>
  /** The most client connections; by default what the descriptor limit allows. */
  readonly mostConnections?: number
}

export interface Gateway {
  readonly port: number
  /** Requests in progress finish, until `grace` is over; WebSockets end at once. */
  stop(grace: Duration): Promise<void>
}

/** D-44, D-196. */
const TIMES: GatewayTimes = {
  header: seconds(10),
  upload: seconds(30),
  answer: seconds(30),
  write: seconds(30),
}
const IDLE: Duration = seconds(60)

/** The client's connection and the one to the upstream that belongs to it. */
const DESCRIPTORS_PER_CONNECTION = 2

/** Methods that are not forwarded. TRACE would echo the fields that the gateway adds (RFC 9110 §9.3.8). */
const REFUSED_METHODS: ReadonlySet<string> = new Set(['TRACE'])

/** Used until the controller has sent its own; no client is asked for a token before that. */
const UNKNOWN_BRAND = 'service'

/** A request that may pass, and the fields to add to it. */
interface Passage {
  readonly inbound: InboundRequest
  readonly fields: readonly Field[]
  readonly requestId: string
  readonly fail: (code: AnswerCode, error: Error) => void
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { router, log, random } = options
  const times = { ...TIMES, ...options.times }
  const target = options.settings.upstreams.find(({ to }) => to.kind === 'http')
  if (target === undefined) throw new TypeError('a gateway needs an upstream of http')
  const upstream = createUpstream(target.to.at)
  const rely = createRely({ watch: router.watch, log })
  const tunnels = new Set<Duplex>()
  const most = options.mostConnections ?? mostConnections(DESCRIPTORS_PER_CONNECTION)
  const server = createHttpsServer({
    tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
    material: {
      certificatePem: options.certificatePem,
      keyPem: options.keyPem,
      clientCasPem: '',
    },
    // No limit for the whole request: a body may take any time, provided that it keeps moving (`forward.ts`).
    timeouts: { header: times.header, request: milliseconds(0), idle: IDLE, write: times.write },
    limit: createConnectionLimit(most, log),
    log,
    // All header fields must be visible, so that a repeated one is detected wherever it is.
    fields: 'all',
    handler: handle,
    onContinue(message, response) {
      passOne(message, response, anyRequest, (passage) => {
        response.writeContinue()
        forward({ ...passage, message, response }, { upstream, times })
      })
    },
    onUpgrade(message, response, { socket, head }) {
      passOne(message, response, upgradeFault, (passage) => {
        const onOpen = () => {
          response.statusCode = 101 // only for the log; the status line is already written
          tunnels.add(socket)
          socket.once('close', () => tunnels.delete(socket))
        }
        tunnel({ ...passage, socket, head, response, onOpen }, { upstream, times })
      })
    },
    onUnreadable: answerUnreadable,
  })

  function answerUnreadable(why: Unreadable, parserCode: string | undefined): RawAnswer {
    const requestId = newId<RequestId>(random)
    const code = UNREADABLE[why]
    const answer = ownAnswer({ code }, requestId)
    log.info({ requestId, status: answer.status, code, why: parserCode }, 'request')
    return { ...answer, reason: code }
  }

  function handle(message: IncomingMessage, response: ServerResponse): void {
    passOne(message, response, anyRequest, (passage) => {
      forward({ ...passage, message, response }, { upstream, times })
    })
  }

  function passOne(
    message: IncomingMessage,
    response: ServerResponse,
    faultOf: (inbound: InboundRequest) => string | undefined,
    pass: (passage: Passage) => void,
  ): void {
    const { socket } = message
    const remoteAddress = addressOf(message)
    const { requestId, note, answer } = beginExchange(message, response)
    const inbound = readRequest(message)
    const fault = 'fault' in inbound ? inbound.fault : faultOf(inbound)
    if ('fault' in inbound || fault !== undefined) {
      // At once: the parser may fail on the same thing, and would close before we have responded.
      answer({ code: 'BAD_REQUEST' }, { why: fault })
      return
    }
    if (REFUSED_METHODS.has(inbound.method)) {
      answer({ code: 'METHOD_NOT_ALLOWED' }, {})
      return
    }
    // R093: the end-entity certificate of the handshake; there is neither resumption nor renegotiation.
    const certificate = (socket as TLSSocket).getPeerX509Certificate()?.raw
    const { token } = inbound
    router
      .check({ certificate, token })
      .then((verdict) => {
        if (socket.destroyed) return
        if (verdict.verdict === 'refused') {
          const { verdict: _, ...why } = verdict
          answer(answerTo(verdict, token, router.brand() ?? UNKNOWN_BRAND), why)
          return
        }
        const { identityId, sessionId } = verdict
        note({ identityId, sessionId })
        response.once('close', rely(socket, verdict))
        if (socket.destroyed) return
        const fields = upstreamFields(inbound.fields, {
          host: upstream.host,
          identityId,
          sessionId,
          requestId,
          remoteAddress,
          forwardedHost: inbound.host,
        })
        const fail: Passage['fail'] = (code, error) => answer({ code }, { why: error.message })
        pass({ inbound, fields, requestId, fail })
      })
      .catch((error: unknown) => {
        log.error({ requestId, err: error }, 'a request failed')
        socket.destroy()
      })
  }

  /** One request with its id, its line in the log and its end. */
  function beginExchange(message: IncomingMessage, response: ServerResponse) {
    const requestId = newId<RequestId>(random)
    const [path] = (message.url ?? '').split('?') // the query may contain a secret of the upstream
    const line: Record<string, unknown> = { requestId, method: message.method, path }
    response.once('close', () => log.info({ ...line, status: response.statusCode }, 'request'))
    return {
      requestId,
      note: (fields: object) => void Object.assign(line, fields),
      answer(answer: Answer, why: object): void {
        Object.assign(line, { code: answer.code, ...why })
        // Close the connection: unread body bytes would be parsed as the next request.
        const isSafe = message.complete && answer.code !== 'BAD_REQUEST'
        sendOwn(response, ownAnswer(answer, requestId), isSafe ? 'keep' : 'close')
      },
    }
  }

  const port = await server.listen(options.settings.listen)
  return {
    port,
    async stop(grace) {
      const closed = server.close(grace)
      for (const socket of tunnels) socket.destroy()
      await closed
    },
  }
}

const UNREADABLE: Readonly<Record<Unreadable, AnswerCode>> = {
  malformed: 'BAD_REQUEST',
  'timed-out': 'REQUEST_TIMEOUT',
  'headers-too-large': 'HEADERS_TOO_LARGE',
  'method-not-allowed': 'METHOD_NOT_ALLOWED',
}

const anyRequest = () => undefined

/** Returns an IPv4 address in its own form, even on a dual-stack socket. */
function addressOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
}
