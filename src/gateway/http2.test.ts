/**
 * HTTP/2 at the gateway: the same checks as for HTTP/1.1, requests that are smuggled or forged by it, and what a
 * connection may cost. D-405; RFC 9113; R101, R102.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { promisify } from 'node:util'
import { type Edge, type EdgeOptions, startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { ended } from '../../test/support/edge/fake-controller.ts'
import { waitFor } from '../../test/support/process/child-service.ts'
import { deferred } from '../base/time/deferred.ts'
import { milliseconds } from '../base/time/duration.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

function hasCurl(): boolean {
  const { stdout } = spawnSync('curl', ['--version'])
  return String(stdout).includes('HTTP2')
}

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of any shape
  json(): any
}

interface Http2 {
  readonly edge: Edge
  readonly session: ClientHttp2Session
  readonly closed: Promise<unknown>
  ask(headers?: OutgoingHttpHeaders, body?: string): Promise<Reply>
}

async function open(t: TestContext, options: EdgeOptions = {}, shown = true): Promise<Http2> {
  const edge = await startEdge(t, pki, alice, options)
  return { edge, ...(await openSession(t, edge, shown)) }
}

async function openSession(t: TestContext, edge: Edge, shown = true) {
  const session = connect(edge.url, {
    ca: pki.root.pem,
    ...(shown ? { cert: alice.pem, key: alice.keyPem } : {}),
  })
  session.on('error', () => undefined)
  t.after(() => session.destroy())
  await once(session, 'connect')
  const closed = once(session, 'close')
  const token = await pki.token()
  return {
    session,
    closed,
    ask: (headers: OutgoingHttpHeaders = {}, body?: string) =>
      replyOf(session, { authorization: `Bearer ${token}`, ...headers }, body),
  }
}

async function replyOf(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
): Promise<Reply> {
  const stream = session.request(headers, { endStream: body === undefined })
  stream.on('error', () => undefined)
  if (body !== undefined) stream.end(body)
  const answered = await Promise.race([
    once(stream, 'response'),
    once(stream, 'close').then(() => undefined),
  ])
  if (answered === undefined) throw new Error(`reset with ${stream.rstCode}`)
  const [head] = answered as [Record<string, unknown>]
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  if (!stream.readableEnded) await Promise.race([once(stream, 'end'), once(stream, 'close')])
  const text = Buffer.concat(chunks).toString()
  return {
    status: Number(head[':status']),
    headers: head,
    body: text,
    json: () => JSON.parse(text),
  }
}

describe('a request over HTTP/2', () => {
  test('reaches the upstream as HTTP/1.1, with the identity of the caller and without a credential', async (t) => {
    const { edge, ask } = await open(t)
    const answer = await ask(
      {
        ':method': 'PUT',
        ':path': '/a/b;c=%2F?q=%20x&&y',
        ':authority': 'gateway.example',
        'x-own': '1',
        cookie: 'k=v',
        'x-latchkey-identity-id': 'admin',
        x_latchkey_identity_id: 'admin',
        'content-length': '5',
      },
      'hello',
    )
    assert.equal(answer.status, 200)
    const [seen] = edge.upstream.requests
    assert.equal(seen?.method, 'PUT')
    assert.equal(seen?.target, '/a/b;c=%2F?q=%20x&&y')
    assert.equal(seen?.body, 'hello')
    assert.deepEqual(seen?.values('x-latchkey-identity-id'), [ALICE.identityId])
    assert.deepEqual(seen?.values('x_latchkey_identity_id'), [])
    assert.deepEqual(seen?.values('x-forwarded-for'), ['127.0.0.1'])
    assert.deepEqual(seen?.values('x-forwarded-host'), ['gateway.example'])
    assert.deepEqual(seen?.values('cookie'), ['k=v'])
    assert.deepEqual(seen?.values('content-length'), ['5'])
    assert.deepEqual(seen?.values('x-request-id'), [answer.headers['x-request-id']])
    assert.equal(edge.upstream.received().toLowerCase().includes('authorization'), false)
    assert.ok(edge.log.some(({ msg, status }) => msg === 'request' && status === 200))
  })

  test('without a length has a body in chunks, and without a body has none', async (t) => {
    const { edge, ask } = await open(t)
    assert.equal((await ask({ ':method': 'POST' }, 'abc')).status, 200)
    assert.equal((await ask({ ':method': 'POST' })).status, 200)
    assert.equal((await ask()).status, 200)
    const [chunked, empty, get] = edge.upstream.requests
    assert.equal(chunked?.body, 'abc')
    assert.deepEqual(chunked?.values('transfer-encoding'), ['chunked'])
    assert.deepEqual(empty?.values('content-length'), ['0'])
    assert.deepEqual(get?.values('transfer-encoding'), [])
  })

  test('is refused like any other, and the connection goes on', async (t) => {
    const { edge, session, ask } = await open(t)
    const missing = await replyOf(session, { ':path': '/' })
    assert.equal(missing.status, 401)
    assert.equal(missing.json().error.code, 'UNAUTHORIZED')
    assert.match(String(missing.headers['www-authenticate']), /zt-session/)
    const wrong = await replyOf(session, { authorization: 'Bearer no' }, 'a body')
    assert.equal(wrong.status, 401)
    assert.equal((await ask({ ':method': 'TRACE' })).json().error.code, 'METHOD_NOT_ALLOWED')
    assert.equal((await ask({ ':path': '/.latchkey/nothing' })).json().error.code, 'NOT_FOUND')
    assert.equal(edge.upstream.received(), '')
    assert.equal((await ask()).status, 200)
    const bare = await openSession(t, edge, false)
    assert.equal((await bare.ask()).json().error.code, 'FORBIDDEN')
  })

  test('gets the answer with every field, and none about the connection', async (t) => {
    const { ask } = await open(t, {
      answer: (_, response) => {
        response.writeHead(418, [
          ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Own', '1', 'Keep-Alive', 'timeout=9'],
          ...['Connection', 'x-hop', 'X-Hop', '1'],
        ])
        response.end('tea')
      },
    })
    const { status, headers, body } = await ask()
    assert.equal(status, 418)
    assert.equal(body, 'tea')
    assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
    assert.equal(headers['x-own'], '1')
    for (const name of ['keep-alive', 'connection', 'x-hop', 'transfer-encoding']) {
      assert.equal(headers[name], undefined)
    }
  })

  test('of server-sent events gets each event at once, and ends with the session', async (t) => {
    const { edge, session, closed } = await open(t, {
      answer: (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: 1\n\n')
      },
    })
    const token = await pki.token()
    const stream = session.request({ authorization: `Bearer ${token}` })
    stream.on('error', () => undefined)
    const [chunk] = await once(stream, 'data')
    assert.equal(String(chunk), 'data: 1\n\n')
    edge.feed.send(ended(ALICE.sessionId))
    await closed
    await waitFor(
      () => edge.upstream.openSockets() === 0,
      () => 'the end of the other side',
    )
  })

  test('of a hundred streams at once is answered on one connection', async (t) => {
    const { edge, ask } = await open(t)
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) => ask({ ':path': `/${i}` })),
    )
    assert.ok(replies.every(({ status }) => status === 200))
    assert.equal(new Set(edge.upstream.requests.map(({ target }) => target)).size, 100)
  })
})

test('curl passes with HTTP/2, and with HTTP/1.1 if it wants that', {
  skip: !hasCurl(),
}, async (t) => {
  const edge = await startEdge(t, pki, alice)
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-http2-'))
  t.after(() => rm(folder, { recursive: true }))
  const files = { ca: pki.root.pem, cert: alice.pem, key: alice.keyPem }
  for (const [name, pem] of Object.entries(files)) await writeFile(join(folder, name), pem)
  const token = await pki.token()
  for (const [option, version] of [
    ['--http2', '2'],
    ['--http1.1', '1.1'],
  ] as const) {
    const { stdout } = await promisify(execFile)('curl', [
      ...['-sS', option, '--cacert', join(folder, 'ca'), '--cert', join(folder, 'cert')],
      ...['--key', join(folder, 'key'), '-H', `authorization: Bearer ${token}`],
      ...['-o', '/dev/null', '-w', '%{http_version} %{http_code}', edge.url],
    ])
    assert.equal(stdout, `${version} 200`)
  }
})

/** Bytes that no client library would send: RFC 9113 §4.1, with literal fields (RFC 7541 §6.2.2). */
const frame = (type: number, flags: number, stream: number, payload: Uint8Array): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
const literal = ([name, value]: readonly [string, string]): Buffer => {
  const text = (given: string) => {
    const bytes = Buffer.from(given, 'latin1')
    const length =
      bytes.length < 127
        ? [bytes.length]
        : [127, ((bytes.length - 127) & 127) | 128, (bytes.length - 127) >> 7]
    return Buffer.concat([Buffer.from(length), bytes])
  }
  return Buffer.concat([Buffer.from([0]), text(name), text(value)])
}
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const HEADERS = 1
const RESET = 3
const SETTINGS = 4
const PING = 6
const CONTINUATION = 9
const END_STREAM = 1
const END_HEADERS = 4

type Fields = readonly (readonly [string, string])[]
const request = (token: string, ...more: Fields): Fields => [
  [':method', 'POST'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'gateway.example'],
  ['authorization', `Bearer ${token}`],
  ...more,
]

async function openRaw(t: TestContext, edge: Edge) {
  const { port } = new URL(edge.url)
  const socket = tls.connect({
    port: Number(port),
    host: 'localhost',
    ca: pki.root.pem,
    cert: alice.pem,
    key: alice.keyPem,
    ALPNProtocols: ['h2'],
  })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  const types: number[] = []
  let left = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    left = Buffer.concat([left, chunk])
    while (left.length >= 9 && left.length >= 9 + left.readUIntBE(0, 3)) {
      types.push(left[3] ?? -1)
      left = left.subarray(9 + left.readUIntBE(0, 3))
    }
  })
  socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))]))
  return { socket, types, closed: new Promise((resolve) => socket.once('close', resolve)) }
}

describe('nothing reaches the upstream of a request over HTTP/2', () => {
  // RFC 9113 §8.2, §8.3: what could be read as two requests, or as another one, once it is HTTP/1.1.
  const forged: Readonly<Record<string, (token: string) => Fields>> = {
    'with a transfer coding': (token) => request(token, ['transfer-encoding', 'chunked']),
    'with Connection': (token) => request(token, ['connection', 'x']),
    'with an upgrade to h2c': (token) => request(token, ['upgrade', 'h2c']),
    'with a line break in the path': (token) =>
      request(token).map(([n, v]) => [n, n === ':path' ? '/ HTTP/1.1\r\nx: y' : v] as const),
    'with a space in the path': (token) =>
      request(token).map(([n, v]) => [n, n === ':path' ? '/ HTTP/1.1' : v] as const),
    'with a space in the method': (token) =>
      request(token).map(([n, v]) => [n, n === ':method' ? 'GET / HTTP/1.1' : v] as const),
    'with an unknown method': (token) =>
      request(token).map(([n, v]) => [n, n === ':method' ? 'FOO' : v] as const),
    'with another scheme': (token) =>
      request(token).map(([n, v]) => [n, n === ':scheme' ? 'http' : v] as const),
    'with a path that is a URL': (token) =>
      request(token).map(([n, v]) => [n, n === ':path' ? 'https://other/' : v] as const),
    'with an upper-case name': (token) => request(token, ['X-Own', '1']),
    'with a second path': (token) => [[':path', '/other'], ...request(token)],
    'with a pseudo-field after the others': (token) => request(token, [':path', '/other']),
    'with an unknown pseudo-field': (token) => [[':other', 'x'], ...request(token)],
    'with another Host': (token) => request(token, ['host', 'other.example']),
    'with an authority that has user information': (token) =>
      request(token).map(([n, v]) => [n, n === ':authority' ? 'a@gateway.example' : v] as const),
    'without an authority': (token) => request(token).filter(([n]) => n !== ':authority'),
    'with two lengths': (token) => request(token, ['content-length', '0'], ['content-length', '0']),
    'with a length that is not that of its body': (token) =>
      request(token, ['content-length', '5']),
    'with two credentials': (token) => request(token, ['zt-session', 'x']),
    'with a repeated credential': (token) => request(token, ['authorization', 'Bearer x']),
  }
  for (const [what, fieldsOf] of Object.entries(forged)) {
    test(what, async (t) => {
      const edge = await startEdge(t, pki, alice)
      const { socket, types } = await openRaw(t, edge)
      const block = Buffer.concat(fieldsOf(await pki.token()).map(literal))
      socket.write(frame(HEADERS, END_HEADERS | END_STREAM, 1, block))
      // Refused by our answer (HEADERS), by a reset of the stream, or by the end of the connection.
      await waitFor(
        () => socket.destroyed || types.some((type) => [HEADERS, RESET, 7].includes(type)),
        () => 'a refusal',
      )
      assert.equal(edge.upstream.requests.length, 0)
      assert.equal(edge.upstream.received(), '')
      const other = await openSession(t, edge)
      assert.equal((await other.ask()).status, 200)
    })
  }

  // nghttp2 drops a field that is not valid, as RFC 9113 §8.2.1 allows an intermediary to do.
  test('that is in a field with a line break', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, types } = await openRaw(t, edge)
    const fields = request(
      await pki.token(),
      ['x', 'a\r\nx-latchkey-identity-id: admin'],
      ['y: a\r\nx-latchkey-identity-id', 'admin'],
    )
    socket.write(frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat(fields.map(literal))))
    await waitFor(
      () => types.includes(HEADERS),
      () => 'an answer',
    )
    assert.equal(edge.upstream.received().includes('admin'), false)
  })

  test('that CONNECT begins, also the one for WebSockets, which is not offered', async (t) => {
    const { edge, session } = await open(t)
    assert.notEqual(session.remoteSettings.enableConnectProtocol, true)
    const token = await pki.token()
    const plain = { ':method': 'CONNECT', ':authority': '127.0.0.1:80' }
    const reply = await replyOf(session, { ...plain, authorization: `Bearer ${token}` })
    assert.equal(reply.status, 405)
    assert.equal(reply.json().error.code, 'METHOD_NOT_ALLOWED')
    assert.equal(edge.upstream.received(), '')
  })
})

describe('a connection is cut that', () => {
  // CVE-2023-44487: each stream costs a check and perhaps an upstream connection, and the limit of streams never applies.
  test('opens streams and resets them without end', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, closed } = await openRaw(t, edge)
    const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL])
    const block = Buffer.concat(request('x').map(literal))
    for (let i = 0; i < 2_000 && !socket.destroyed; i += 1) {
      const id = 1 + 2 * i
      socket.write(frame(HEADERS, END_HEADERS | END_STREAM, id, block))
      socket.write(frame(RESET, 0, id, cancel))
    }
    await closed
    assert.equal(edge.upstream.received(), '')
  })

  // CVE-2024-28182: a header block that never ends is kept and decoded for ever.
  test('continues a header block without end', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, closed } = await openRaw(t, edge)
    socket.write(frame(HEADERS, END_STREAM, 1, Buffer.concat(request('x').map(literal))))
    const more = Buffer.concat(Array.from({ length: 100 }, (_, i) => literal([`x-${i}`, 'y'])))
    for (let i = 0; i < 100; i += 1) socket.write(frame(CONTINUATION, 0, 1, more))
    await closed
    assert.equal(edge.upstream.received(), '')
  })

  test('sends settings and pings without reading the answers', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { socket, closed } = await openRaw(t, edge)
    socket.pause()
    const ping = frame(PING, 0, 0, Buffer.alloc(8))
    const settings = frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255]))
    const many = Buffer.concat(Array.from({ length: 500 }, () => Buffer.concat([ping, settings])))
    const flood = () => {
      while (!socket.destroyed && socket.write(many)) {}
    }
    socket.on('drain', flood)
    flood()
    await closed
  })
})

test('a client that reads nothing of a response is cut, and its upstream connection with it', async (t) => {
  const { edge, session } = await open(t, {
    times: { write: milliseconds(1_000) },
    answer(_, response) {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) {}
      }
      response.on('drain', more)
      more()
    },
  })
  const stream = session.request({ authorization: `Bearer ${await pki.token()}` })
  stream.on('error', () => undefined)
  await once(stream, 'response')
  await waitFor(
    () => edge.upstream.openSockets() === 0,
    () => 'the end of the other side',
  )
})

test('requests over HTTP/2 beyond what the gateway may have open get 503', async (t) => {
  const { edge, session, ask } = await open(t, {
    gateway: { mostConnections: 2 },
    answer: (request, response) => {
      if (request.url === '/quick') response.end('done')
    },
  })
  const token = await pki.token()
  for (const path of ['/1', '/2']) {
    session
      .request({ ':path': path, authorization: `Bearer ${token}` })
      .on('error', () => undefined)
  }
  await waitFor(
    () => edge.upstream.requests.length === 2,
    () => 'both requests',
  )
  const refused = await ask({ ':path': '/quick' })
  assert.equal(refused.status, 503)
  assert.equal(refused.json().error.code, 'OVERLOADED')
  assert.equal(refused.headers['retry-after'], '1')
})

test('a request over HTTP/2 that is reset while it is checked reaches nothing and leaves nothing behind', async (t) => {
  const arrived = deferred<void>()
  const checked = deferred<void>()
  const { edge, session, ask } = await open(t, {
    gateway: {
      mostConnections: 1,
      waysIn: [
        {
          async authenticate({ inbound }) {
            if (inbound.target !== '/reset') return undefined
            arrived.resolve()
            return checked.promise.then(() => undefined)
          },
        },
      ],
    },
  })
  const token = await pki.token()
  const stream = session.request({ ':path': '/reset', authorization: `Bearer ${token}` })
  stream.on('error', () => undefined)
  await arrived.promise
  stream.close(constants.NGHTTP2_CANCEL)
  await waitFor(
    () => edge.log.some(({ path }) => path === '/reset'),
    () => 'the end of the request',
  )
  checked.resolve()
  // A place that was never given back would make this 503, on every connection, until the gateway is restarted.
  assert.equal((await ask({ ':path': '/next' })).status, 200)
  assert.deepEqual(
    edge.upstream.requests.map(({ target }) => target),
    ['/next'],
  )
})

test('too many or too large fields are refused, and the connection or another one goes on', async (t) => {
  const { edge, ask } = await open(t)
  const large = await ask({ 'x-large': 'a'.repeat(40_000) }).catch((error: Error) => error)
  assert.ok(large instanceof Error || large.status >= 400)
  const other = await openSession(t, edge)
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`x-${i}`, '1']))
  const refused = await other.ask(many).catch((error: Error) => error)
  assert.ok(refused instanceof Error || refused.status >= 400)
  assert.equal(edge.upstream.received(), '')
  assert.equal((await (await openSession(t, edge)).ask()).status, 200)
})

test('a stop lets a request over HTTP/2 finish, and closes the connection', async (t) => {
  let finish: (() => void) | undefined
  const { edge, ask, closed } = await open(t, {
    answer: (_, response) => {
      finish = () => response.end('done')
    },
  })
  const reply = ask()
  await waitFor(
    () => finish !== undefined,
    () => 'the request',
  )
  const stopped = edge.stop()
  finish?.()
  assert.equal((await reply).body, 'done')
  await closed
  await stopped
})
