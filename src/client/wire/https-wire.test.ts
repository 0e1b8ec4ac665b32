/** The wire towards servers that no HTTP library would make: bare TLS, answered by hand. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext, test } from 'node:test'
import { createServer, type TLSSocket } from 'node:tls'
import { type EdgePki, openEdgePki } from '../../../test/support/edge/edge-pki.ts'
import { fetchCa } from '../certificates/fetch-ca.ts'
import { ServerUnavailable, UnexpectedAnswer } from '../errors.ts'
import { createWire, type Wire } from './https-wire.ts'

let pki: EdgePki
before(async () => {
  pki = await openEdgePki()
})
after(() => pki.close())

/** Answers each request head with what `answer` does to its socket. */
async function serve(
  t: TestContext,
  answer: (socket: TLSSocket, count: number) => void,
): Promise<{ readonly url: URL; readonly wire: Wire; readonly requests: () => number }> {
  let requests = 0
  const sockets = new Set<TLSSocket>()
  const server = createServer({ cert: pki.server.pem, key: pki.server.keyPem }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', () => {
      requests += 1
      answer(socket, requests)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wire = createWire({
    ca: pki.cas,
    certificate: undefined,
    timeoutMilliseconds: 2_000,
  })
  t.after(() => {
    wire.close()
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(`https://localhost:${(server.address() as AddressInfo).port}/`)
  return { url, wire, requests: () => requests }
}

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

test('a kept connection that the server has closed is opened again to read, and not to change', async (t) => {
  const { url, wire, requests } = await serve(t, (socket, count) => {
    if (count % 2 === 1) socket.write(OK)
    else socket.destroy()
  })
  assert.equal((await wire.send({ method: 'GET', url })).status, 200)
  assert.equal((await wire.send({ method: 'GET', url })).status, 200)
  assert.equal(requests(), 3)
  // The third answer came over a connection of its own; the fourth request meets a closed one.
  const post = wire.send({ method: 'POST', url, body: 'x' })
  await assert.rejects(post, { name: 'ServerUnavailable', mayHaveHappened: true })
  assert.equal(requests(), 4)
})

test('a server that cannot be reached cannot have done anything', async (t) => {
  const { url, wire } = await serve(t, () => undefined)
  url.port = '1'
  await assert.rejects(wire.send({ method: 'POST', url, body: 'x' }), {
    name: 'ServerUnavailable',
    code: 'NO_ANSWER',
    mayHaveHappened: false,
  })
})

test('what is not HTTP is not believed', async (t) => {
  const { url, wire } = await serve(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
  await assert.rejects(wire.send({ method: 'GET', url }), UnexpectedAnswer)
})

test('a server that switches to another protocol without being asked is not waited for', async (t) => {
  const { url, wire } = await serve(t, (socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  )
  for (const isAlone of [true, false]) {
    await assert.rejects(wire.send({ method: 'GET', url, isAlone }), {
      name: 'UnexpectedAnswer',
      code: 'UNEXPECTED_ANSWER',
    })
  }
  await assert.rejects(fetchCa({ url: url.origin, confirm: () => true }), {
    name: 'ServerUnavailable',
    code: 'NO_ANSWER',
  })
})

test('an answer is read to its end or not at all', async (t) => {
  const cuts = [
    'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    'HTTP/1.1 200 OK\r\ncontent-le',
  ]
  for (const text of cuts) {
    const { url, wire } = await serve(t, (socket) => socket.end(text))
    const error = await wire.send({ method: 'GET', url, isAlone: true }).then(
      () => assert.fail('it was cut'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof ServerUnavailable && error.mayHaveHappened, String(error))
  }
})

test('an answer is bounded in its head, in its body and in time', async (t) => {
  const large = await serve(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`)
  })
  await assert.rejects(large.wire.send({ method: 'GET', url: large.url }), UnexpectedAnswer)

  const endless = await serve(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const chunk = `400\r\n${'x'.repeat(1_024)}\r\n`
    const more = () => {
      if (!socket.destroyed) socket.write(chunk, more)
    }
    more()
  })
  const mostBytes = 10_000
  await assert.rejects(
    endless.wire.send({ method: 'GET', url: endless.url, mostBytes }),
    UnexpectedAnswer,
  )

  // One byte at a time: each comes soon, the whole never.
  const slow = await serve(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    const timer = setInterval(() => socket.write('x'), 50)
    socket.on('close', () => clearInterval(timer))
  })
  await assert.rejects(slow.wire.send({ method: 'GET', url: slow.url }), { code: 'TIMED_OUT' })
})

test('giving up ends the request, with the reason that was given', async (t) => {
  const { url, wire } = await serve(t, () => leaving.abort(new Error('I have to go')))
  const leaving = new AbortController()
  const { signal } = leaving
  await assert.rejects(wire.send({ method: 'GET', url, signal }), /I have to go/)
  await assert.rejects(wire.send({ method: 'GET', url, signal }), /I have to go/)
})

test('a header with a line break never leaves', async (t) => {
  const { url, wire, requests } = await serve(t, (socket) => socket.write(OK))
  const headers = { 'x-name': 'a\r\nhost: evil' }
  await assert.rejects(wire.send({ method: 'GET', url, headers }), TypeError)
  assert.equal(requests(), 0)
})

test('a CA, a certificate or a key that cannot be used is reported before anything is sent', async () => {
  const { pem: cert, keyPem: key } = pki.server
  const timeoutMilliseconds = 1_000
  const other = pki.issuing.keyPem
  const faults = [
    { ca: 'no PEM', certificate: undefined },
    { ca: '', certificate: undefined },
    { ca: pki.cas, certificate: { cert: 'no PEM', key } },
    { ca: pki.cas, certificate: { cert, key: 'no PEM' } },
    { ca: pki.cas, certificate: { cert, key: other } },
  ]
  for (const fault of faults) {
    assert.throws(() => createWire({ ...fault, timeoutMilliseconds }), TypeError)
  }
})
