/** Plain HTTP at the port of an HTTPS server: D-339. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { proxyHeader } from '../../test/support/edge/proxy-header.ts'
import { eventually } from '../../test/support/eventually.ts'
import { answer, get, MOST, startHttpsServer } from '../../test/support/https-server.ts'
import { parseNetwork } from '../base/network.ts'
import { milliseconds, seconds } from '../base/time/duration.ts'
import type { HttpsServerOptions } from './https-server.ts'
import { beginningOf, type PlainRequest, readRequest } from './plain-http.ts'

async function start(t: TestContext, options: Partial<HttpsServerOptions> = {}) {
  const seen: PlainRequest[] = []
  const onPlainHttp = (request: PlainRequest) => {
    seen.push(request)
    return { status: 308, reason: 'Moved', headers: { 'content-length': '2' }, body: 'ok' }
  }
  const more = { onPlainHttp, ...options }
  const started = await startHttpsServer(t, ({ url = '' }, response) => answer(response, url), more)
  /** Everything that comes back until the server closes. */
  const send = async (...parts: readonly (string | Uint8Array)[]) => {
    const socket = net.connect(started.port, '127.0.0.1').setNoDelay()
    t.after(() => socket.destroy())
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk))).on('error', () => undefined)
    const closed = once(socket, 'close')
    await once(socket, 'connect')
    for (const part of parts) {
      socket.write(part)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await closed
    return Buffer.concat(chunks)
  }
  return { ...started, seen, send }
}

const PLAIN = 'HTTP/1.1 308 Moved\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'

test('plain HTTP is answered and closed, and TLS works as before', async (t) => {
  const { send, seen, connect, limit } = await start(t)
  assert.equal((await send('GET /a?b HTTP/1.1\r\nHost: x:1\r\n\r\n')).toString(), PLAIN)
  assert.deepEqual(seen, [{ method: 'GET', target: '/a?b', host: 'x:1' }])
  const client = await connect()
  client.send(get('/secure'))
  assert.equal((await client.reply())?.text, '/secure')
  client.socket.destroy()
  await eventually(() => (limit.load().open === 0 ? true : undefined), 'every place given back')
})

test('a request is recognized however it is cut into packets', async (t) => {
  const { send, seen } = await start(t)
  assert.equal((await send('G', 'ET /', ' HTTP/1.1\r\nHo', 'st: x\r\n\r', '\n')).toString(), PLAIN)
  assert.deepEqual(seen, [{ method: 'GET', target: '/', host: 'x' }])
})

test('bytes that are neither TLS nor HTTP fail as a handshake does', async (t) => {
  const { send, seen, port } = await start(t)
  const bare = await startHttpsServer(t, () => undefined)
  const atBare = async (bytes: Uint8Array | string) => {
    const socket = net.connect(bare.port, '127.0.0.1').on('error', () => undefined)
    t.after(() => socket.destroy())
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
    socket.write(bytes)
    await once(socket, 'close')
    return Buffer.concat(chunks)
  }
  assert.notEqual(port, bare.port)
  // Long enough for TLS to judge; it waits for the rest of anything shorter.
  const rest = Buffer.alloc(40, 7)
  for (const start of ['QUIT\r\n', 'GETTING\r\n', '\0', '\r\n\r\n']) {
    const garbage = Buffer.concat([Buffer.from(start), rest])
    assert.deepEqual(await send(garbage), await atBare(garbage), JSON.stringify(start))
  }
  assert.deepEqual(seen, [])
})

test('behind a load balancer the request comes after the PROXY header', async (t) => {
  const network = parseNetwork('127.0.0.0/8')
  assert.ok(network)
  const { send } = await start(t, { proxyProtocol: { trustedSources: [network] } })
  const header = proxyHeader({ source: '192.0.2.1', port: 1 })
  const request = Buffer.from('HEAD / HTTP/1.0\r\n\r\n')
  assert.equal((await send(Buffer.concat([header, request]))).toString(), PLAIN)
  assert.equal((await send(header, request)).toString(), PLAIN)
})

test('a header without an end is answered at the limit, and one that stops is cut in time', async (t) => {
  const { send } = await start(t)
  const endless = `GET / HTTP/1.1\r\nx: ${'y'.repeat(9_000)}`
  assert.equal((await send(endless)).toString(), PLAIN)
  const short = {
    header: milliseconds(50),
    request: seconds(9),
    idle: seconds(9),
    write: seconds(9),
  }
  const hasty = await start(t, { timeouts: short })
  assert.equal((await hasty.send('GET / HTTP/1.1\r\n')).toString(), '')
  assert.equal((await hasty.send('GE')).toString(), '')
  assert.equal((await hasty.send()).toString(), '')
})

// Attack: unfinished plain requests take every place.
test('D-201: an unfinished plain request makes way for a client', async (t) => {
  const { port, connect, limit } = await start(t)
  for (let i = 0; i < MOST; i++) {
    const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
    t.after(() => socket.destroy())
    socket.write('GET / HT')
    await once(socket, 'connect')
  }
  await eventually(() => (limit.load().open === MOST ? true : undefined), 'all places taken')
  const client = await connect()
  client.send(get('/client'))
  assert.equal((await client.reply())?.text, '/client')
})

test('the first bytes tell TLS from HTTP', () => {
  const kinds = (text: string) => beginningOf(Buffer.from(text, 'latin1'))
  for (const text of ['GET /', 'HEAD ', 'POST /', 'OPTIONS *', 'CONNECT a:1']) {
    assert.equal(kinds(text), 'http', text)
  }
  for (const text of [
    '\x16',
    '\x16\x03\x01',
    'get /',
    'GETS',
    'PRI * HTTP/2.0',
    ' GET /',
    '\x80',
  ]) {
    assert.equal(kinds(text), 'tls', text)
  }
  for (const text of ['', 'G', 'GET', 'P', 'PO', 'OPTIONS'])
    assert.equal(kinds(text), undefined, text)
})

test('only one Host field before the body counts', () => {
  const host = (text: string) => readRequest(Buffer.from(text)).host
  assert.equal(host('GET / HTTP/1.1\r\nHOST:\t a \r\n\r\nhost: b'), 'a')
  assert.equal(host('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'), undefined)
  assert.equal(host('GET / HTTP/1.1\r\n\r\nHost: b\r\n'), undefined)
  assert.equal(readRequest(Buffer.from('GET ')).target, '')
})
