/**
 * `latchkey gateway`: a door in front of one service. TLS with a client certificate and a session token in, plain HTTP
 * and WebSocket out; the service behind it is told who calls and never sees a credential. D-42; docs/router.md.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import type { HostPort } from '../base/host-port.ts'
import { newId, type RequestId } from '../base/ids.ts'
import type { Log } from '../base/log.ts'
import type { Random } from '../base/secrets/random.ts'
import type { Secret } from '../base/secrets/secret.ts'
import { type Duration, seconds } from '../base/time/duration.ts'
import type { Router } from '../router/router.ts'
import { type Answer, type AnswerCode, answerTo, ownAnswer, sendOwn } from './answers.ts'
import { type Field, upstreamFields } from './fields.ts'
import { forward } from './forward.ts'
import { followConnections } from './open-connections.ts'
import { type InboundRequest, readRequest } from './read-request.ts'
import { answerUnreadable, createTlsServer, listen, responseOver } from './tls-server.ts'
import { tunnel, upgradeFault } from './tunnel.ts'
import { createUpstream, type GatewayTimes } from './upstream.ts'

export interface GatewayOptions {
  readonly router: Pick<Router, 'check' | 'watch' | 'brand'>
  readonly listen: HostPort
  readonly upstream: HostPort
  /** Of the listener. */
  readonly certificatePem: string
  readonly keyPem: Secret
  readonly log: Log
  readonly random: Random
  readonly times?: GatewayTimes
}

export interface Gateway {
  readonly port: number
  /** Running requests finish, until `grace` is over; WebSockets end at once. */
  stop(grace: Duration): Promise<void>
}

const TIMES: GatewayTimes = { upload: seconds(30), answer: seconds(30) }

/** How often a drain closes what has become idle. */
const SWEEP_MILLISECONDS = 50

/** Until the controller has told its own; nobody is asked for a token before that. */
const UNKNOWN_BRAND = 'service'

/** A request that may pass, and what it takes along. */
interface Passage {
  readonly inbound: InboundRequest
  readonly fields: readonly Field[]
  readonly requestId: string
  readonly fail: (code: AnswerCode, error: Error) => void
}

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { router, log, random, times = TIMES } = options
  const upstream = createUpstream(options.upstream)
  const server = createTlsServer(options.certificatePem, options.keyPem)
  const connections = followConnections(server, { watch: router.watch, log })
  const tunnels = new Set<Duplex>()
  /** What is said there is the last word. */
  const closing = new WeakSet<Duplex>()

  server.on('request', handle)
  // RFC 9110 §10.1.1: an expectation that we do not know may be passed over.
  server.on('checkExpectation', handle)
  server.on('checkContinue', (message, response) => {
    passOne(message, response, anyRequest, (passage) => {
      response.writeContinue()
      forward({ ...passage, message, response }, { upstream, times })
    })
  })
  server.on('upgrade', (message, socket, head) => {
    const response = responseOver(message)
    passOne(message, response, upgradeFault, (passage) => {
      const onOpen = () => {
        response.statusCode = 101 // for the log; it was written without it
        tunnels.add(socket)
        socket.once('close', () => tunnels.delete(socket))
      }
      tunnel({ ...passage, socket, head, response, onOpen }, { upstream, times })
    })
  })
  server.on('connect', (message: IncomingMessage) => {
    beginExchange(message, responseOver(message)).answer({ code: 'METHOD_NOT_ALLOWED' }, {})
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // An answer of ours must not end up in the middle of another one, nor be cut by what follows it.
    if (closing.has(socket)) {
      if (!socket.writableEnded) socket.end()
      return
    }
    if (connections.isBusy(socket)) {
      socket.destroy()
      return
    }
    const requestId = newId<RequestId>(random)
    const said = answerUnreadable(error, socket, requestId)
    if (said !== undefined) log.info({ requestId, ...said, why: error.code }, 'request')
  })
  server.on('tlsClientError', (error) => log.debug({ err: error }, 'a TLS handshake failed'))

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
      // At once: the parser may be about to stumble over the same thing, and would close before we have spoken.
      answer({ code: 'BAD_REQUEST' }, { why: fault })
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
          answer(answerTo(verdict.reason, token, router.brand() ?? UNKNOWN_BRAND), why)
          return
        }
        const { identityId, sessionId } = verdict
        note({ identityId, sessionId })
        response.once('close', connections.rely(socket, verdict))
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
    const [path] = (message.url ?? '').split('?') // what follows may be a secret of the upstream's
    const line: Record<string, unknown> = { requestId, method: message.method, path }
    const end = connections.begin(message.socket)
    response.once('close', () => {
      end()
      log.info({ ...line, status: response.statusCode }, 'request')
    })
    return {
      requestId,
      note: (fields: object) => void Object.assign(line, fields),
      answer(answer: Answer, why: object): void {
        Object.assign(line, { code: answer.code, ...why })
        // What is left of a request must not be taken for the next one.
        const isSafe = message.complete && answer.code !== 'BAD_REQUEST'
        if (!isSafe) closing.add(message.socket)
        sendOwn(response, ownAnswer(answer, requestId), isSafe ? 'keep' : 'close')
      },
    }
  }

  const port = await listen(server, options.listen)
  return {
    port,
    async stop(grace) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of tunnels) socket.destroy()
      const cut = new AbortController()
      const cutting = sleep(grace, undefined, { signal: cut.signal }).then(
        () => connections.closeAll(),
        () => undefined,
      )
      // Again and again: a connection that finishes its last request turns idle.
      const sweep = setInterval(() => connections.closeIdle(), SWEEP_MILLISECONDS)
      await closed
      clearInterval(sweep)
      cut.abort()
      await cutting
    },
  }
}

const anyRequest = () => undefined

/** An IPv4 address on a socket for both kinds is still one. */
function addressOf({ socket }: IncomingMessage): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, '')
}
