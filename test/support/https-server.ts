/** The server below the service and the gateway, by itself, with a certificate of its own. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { after, type TestContext } from 'node:test'
import { Secret } from '../../src/base/secrets/secret.ts'
import { milliseconds, seconds } from '../../src/base/time/duration.ts'
import { createConnectionLimit } from '../../src/https-server/connection-limit.ts'
import { createHttpsServer, type HttpsServerOptions } from '../../src/https-server/https-server.ts'
import { openOpenssl } from './certificates/openssl.ts'
import { connectRaw } from './edge/raw-connection.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
export const root = await openssl.makeCa({ subject: '/CN=Root' })
const leaf = await openssl.makeLeaf(root, {
  subject: '/CN=localhost',
  extensions: ['subjectAltName=DNS:localhost,IP:127.0.0.1', 'extendedKeyUsage=serverAuth'],
})

const silent = () => undefined
const SILENT = { debug: silent, info: silent, warn: silent, error: silent }
/** Connections. */
export const MOST = 50
export const STATUSES = {
  malformed: 400,
  'timed-out': 408,
  'headers-too-large': 431,
  'method-not-allowed': 405,
} as const

export async function startHttpsServer(
  t: TestContext,
  handler: (message: IncomingMessage, response: ServerResponse) => void,
  options: Partial<HttpsServerOptions> = {},
) {
  const limit = createConnectionLimit(MOST, SILENT)
  const server = createHttpsServer({
    tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
    material: { certificatePem: leaf.pem, keyPem: new Secret(leaf.keyPem), clientCasPem: '' },
    timeouts: { header: seconds(60), request: seconds(60), idle: seconds(60), write: seconds(60) },
    handler,
    onUnreadable: (why) => ({
      status: STATUSES[why],
      reason: 'Refused',
      headers: { 'content-length': String(why.length) },
      body: why,
    }),
    limit,
    log: SILENT,
    ...options,
  })
  t.after(() => server.close(milliseconds(0)))
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const connect = async () => {
    const at = { baseUrl: `https://127.0.0.1:${port}`, ca: root.pem }
    const connection = await connectRaw(at)
    t.after(() => connection.socket.destroy())
    return connection
  }
  return { server, limit, port, connect }
}

export const get = (path: string, ...fields: readonly string[]) =>
  `${[`GET ${path} HTTP/1.1`, 'host: localhost', ...fields].join('\r\n')}\r\n\r\n`

export const answer = (response: ServerResponse, text: string) => {
  response.writeHead(200, { 'content-length': Buffer.byteLength(text) }).end(text)
}
