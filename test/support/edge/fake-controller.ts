/**
 * A controller as far as a router sees one: a TLS server of its own that speaks the feed and answers checks, line by
 * line as the test says. docs/router.md.
 */
import type { ServerResponse } from 'node:http'
import https from 'node:https'
import type { TestContext } from 'node:test'
import { TLSSocket } from 'node:tls'
import { listenUntilEnd } from '../ports.ts'
import { BRAND, type EdgePki, ISSUER, TRUST_DOMAIN } from './edge-pki.ts'

export interface FeedConnection {
  /** The cursor that the router asked with. */
  readonly since: string | null
  readonly path: string
  /** SHA-256 of the certificate that the router showed, lower-case hex. */
  readonly fingerprint: string
  readonly isClosed: () => boolean
  send(...lines: readonly object[]): void
  write(text: string | Uint8Array): void
  /** Ends the answer as a server that stops would. */
  end(): void
  /** Cuts it in the middle. */
  cut(): void
  /** hello, keys, cas, what has ended, ready and one heartbeat. */
  greet(ended?: readonly string[], cursor?: string): void
}

export interface FakeController {
  readonly url: string
  /** The next connection that a router opens to the feed. */
  connection(): Promise<FeedConnection>
  /** Instead of the feed: this status. */
  refuse(status: number | undefined): void
  /** Every `zt-session` that was asked about. */
  readonly asked: readonly string[]
  /** What a check is answered with; a function can wait, or answer with any text. */
  answerChecks(answer: (ztSession: string) => Promise<CheckAnswer> | CheckAnswer): void
}

export interface CheckAnswer {
  readonly status?: number
  readonly body: unknown
}

const FAR_AWAY = Date.UTC(2100, 0, 1)

export const hello = (changes: object = {}) => ({
  type: 'hello',
  version: 1,
  brand: BRAND,
  trustDomain: TRUST_DOMAIN,
  issuers: [ISSUER],
  heartbeatSeconds: 1,
  isSnapshot: true,
  ...changes,
})
export const ended = (subject: string) => ({ type: 'ended', subject, keepUntil: FAR_AWAY })
export const ready = (cursor = 'c1') => ({ type: 'ready', cursor })
export const heartbeat = (cursor = 'c1') => ({ type: 'heartbeat', cursor, at: 0 })

/** The fields with which 101 leaves HTTP, whether or not the caller asked for that. */
const switchingAt = (status: number) =>
  status === 101 ? { connection: 'upgrade', upgrade: 'something' } : {}

export async function startFakeController(t: TestContext, pki: EdgePki): Promise<FakeController> {
  const waiting: ((connection: FeedConnection) => void)[] = []
  const opened: FeedConnection[] = []
  const asked: string[] = []
  let status: number | undefined
  let answer: (ztSession: string) => Promise<CheckAnswer> | CheckAnswer = () => ({
    body: { data: { isActive: false }, meta: {} },
  })

  const server = https.createServer(
    {
      cert: pki.server.pem,
      key: pki.server.keyPem,
      ca: pki.cas,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      const url = new URL(request.url ?? '', 'https://controller.invalid')
      if (url.pathname.endsWith('/router-checks')) {
        let text = ''
        request.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        request.on('end', async () => {
          const { ztSession } = JSON.parse(text)
          asked.push(ztSession)
          const { status: code = 200, body } = await answer(ztSession)
          response.writeHead(code, { 'content-type': 'application/json', ...switchingAt(code) })
          response.end(typeof body === 'string' ? body : JSON.stringify(body))
        })
        return
      }
      if (status !== undefined) {
        response.writeHead(status, switchingAt(status)).end('{}')
        return
      }
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.flushHeaders()
      const { socket } = request
      const shown = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined
      const connection = connectionOver(response, pki, {
        since: url.searchParams.get('since'),
        path: url.pathname,
        fingerprint: shown?.fingerprint256.replaceAll(':', '').toLowerCase() ?? '',
      })
      const first = waiting.shift()
      if (first === undefined) opened.push(connection)
      else first(connection)
    },
  )
  const port = await listenUntilEnd(t, server)
  return {
    url: `https://localhost:${port}`,
    connection() {
      const first = opened.shift()
      if (first !== undefined) return Promise.resolve(first)
      return new Promise((resolve) => waiting.push(resolve))
    },
    refuse(given) {
      status = given
    },
    asked,
    answerChecks(given) {
      answer = given
    },
  }
}

function connectionOver(
  response: ServerResponse,
  { jwks, cas }: EdgePki,
  about: Pick<FeedConnection, 'since' | 'path' | 'fingerprint'>,
): FeedConnection {
  let isClosed = false
  response.on('close', () => {
    isClosed = true
  })
  response.on('error', () => undefined)
  const send = (...lines: readonly object[]) => {
    for (const line of lines) response.write(`${JSON.stringify(line)}\n`)
  }
  return {
    ...about,
    isClosed: () => isClosed,
    send,
    write: (text) => void response.write(text),
    end: () => void response.end(),
    cut: () => response.destroy(),
    greet(subjects = [], cursor = 'c1') {
      const isSnapshot = about.since === null
      send(hello({ isSnapshot }), { type: 'keys', keys: jwks }, { type: 'cas', cas })
      send(...subjects.map(ended), ready(cursor), heartbeat(cursor))
    },
  }
}
