/**
 * What stays open: WebSockets, long answers, idle connections; and what ends it. D-42: within a second of the end of
 * the session, of its token or of its certificate; R101. The waits are generous, the machine may be busy.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, describe, test } from 'node:test'
import { type Edge, startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { ended, heartbeat } from '../../test/support/edge/fake-controller.ts'
import type { RawConnection } from '../../test/support/edge/raw-connection.ts'
import { webSocketAccept } from '../../test/support/edge/upstream.ts'
import { waitFor } from '../../test/support/process/child-service.ts'
import { days, hours, milliseconds, seconds } from '../base/time/duration.ts'
import { upstreamTo } from './settings/upstream-url.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

const HOST = 'host: gateway.example'
const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const HANDSHAKE = [
  'GET /socket?x=1 HTTP/1.1',
  HOST,
  'Connection: keep-alive, Upgrade',
  'Upgrade: WebSocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${KEY}`,
  'Sec-WebSocket-Protocol: chat',
]

const lines = (...given: readonly string[]) => `${given.join('\r\n')}\r\n\r\n`

/** An open WebSocket; what comes back over it is the upstream's echo. */
async function openSocket({ connect }: Edge, token: string): Promise<RawConnection> {
  const connection = await connect()
  connection.send(lines(...HANDSHAKE, `authorization: Bearer ${token}`))
  const answer = await connection.reply()
  assert.equal(answer?.status, 101)
  return connection
}

async function echo({ socket, send }: RawConnection, text: string): Promise<void> {
  let back = ''
  const listen = (chunk: Buffer) => {
    back += chunk
  }
  socket.on('data', listen)
  send(text)
  await waitFor(
    () => back.includes(text),
    () => 'the echo',
  )
  socket.off('data', listen)
}

describe('a WebSocket', () => {
  test('passes both ways once the upstream has agreed, with the identity of the caller and without a credential', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const token = await pki.token()
    const connection = await edge.connect()
    connection.send(lines(...HANDSHAKE, `authorization: Bearer ${token}`))
    const answer = await connection.reply()
    assert.equal(answer?.status, 101)
    assert.equal(answer.header('sec-websocket-accept'), webSocketAccept(KEY))
    assert.equal(answer.header('upgrade'), 'websocket')
    assert.equal(answer.fields.filter(([name]) => name === 'connection').length, 1)
    await echo(connection, 'hello')
    const [seen] = edge.upstream.requests
    assert.equal(seen?.target, '/socket?x=1')
    assert.deepEqual(seen?.values('x-latchkey-identity-id'), [ALICE.identityId])
    assert.deepEqual(seen?.values('sec-websocket-protocol'), ['chat'])
    assert.equal(edge.upstream.received().includes(token), false)
    connection.socket.end()
    await waitFor(
      () => edge.log.some(({ status }) => status === 101),
      () => 'the line of the request',
    )
    await waitFor(
      () => edge.upstream.openSockets() === 0,
      () => 'the end of the other side',
    )
  })

  test('that the upstream closes is closed for the client', async (t) => {
    const edge = await startEdge(t, pki, alice, { onTunnel: (socket) => void socket.end('bye') })
    const { closed, socket } = await openSocket(edge, await pki.token())
    await closed
    await waitFor(
      () => socket.destroyed || socket.readableEnded,
      () => 'the end',
    )
  })

  test('is refused like any other request', async (t) => {
    const { connect, upstream } = await startEdge(t, pki, alice)
    const bare = await connect()
    bare.send(lines(...HANDSHAKE))
    assert.equal((await bare.reply())?.status, 401)
    await bare.closed
    const naked = await connect('nothing')
    naked.send(lines(...HANDSHAKE, `authorization: Bearer ${await pki.token()}`))
    assert.equal((await naked.reply())?.status, 403)
    assert.equal(upstream.received(), '')
  })

  const broken: Readonly<Record<string, readonly string[]>> = {
    'without a key': HANDSHAKE.filter((line) => !line.startsWith('Sec-WebSocket-Key')),
    'with two keys': [...HANDSHAKE, `Sec-WebSocket-Key: ${KEY}`],
    'with a key of another length': HANDSHAKE.map((line) => line.replace(KEY, 'c2hvcnQ=')),
    'of another version': HANDSHAKE.map((line) => line.replace('13', '8')),
    'by another method': HANDSHAKE.map((line) => line.replace('GET', 'PUT')),
    'with a body': [...HANDSHAKE, 'Content-Length: 3'],
    'to two protocols': HANDSHAKE.map((line) => line.replace('WebSocket', 'websocket, h2c')),
  }
  for (const [what, head] of Object.entries(broken)) {
    test(`${what} is refused with 400 and does not reach the upstream`, async (t) => {
      const { connect, upstream } = await startEdge(t, pki, alice)
      const { send, reply, closed } = await connect()
      send(`${lines(...head, `authorization: Bearer ${await pki.token()}`)}GET`)
      assert.equal((await reply())?.status, 400)
      await closed
      assert.equal(upstream.received(), '')
    })
  }

  // A gateway that believed the client would pass on whatever follows, unchecked, over a connection that still speaks
  // HTTP.
  test('that the upstream does not want is an answer, and what the client sent behind it is lost', async (t) => {
    const { connect, upstream } = await startEdge(t, pki, alice, {
      onUpgrade: (_, socket) =>
        void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-own: 1\r\n\r\nno'),
    })
    const { send, reply, closed } = await connect()
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'
    send(`${lines(...HANDSHAKE, `authorization: Bearer ${await pki.token()}`)}${hidden}`)
    const answer = await reply()
    assert.equal(answer?.status, 200)
    assert.equal(answer.text, 'no')
    assert.equal(answer.header('x-own'), '1')
    assert.equal(answer.header('connection'), 'close')
    await closed
    assert.equal(upstream.received().includes('/hidden'), false)
  })

  const agreements: Readonly<Record<string, string>> = {
    'to another protocol': 'upgrade: h2c',
    'to another handshake': 'upgrade: websocket\r\nsec-websocket-accept: AAAA',
    'without a proof': 'upgrade: websocket',
  }
  for (const [what, fields] of Object.entries(agreements)) {
    test(`to which the upstream agrees ${what} is answered with 502`, async (t) => {
      const { connect, upstream } = await startEdge(t, pki, alice, {
        onUpgrade: (_, socket) =>
          void socket.write(
            `HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n${fields}\r\n\r\n`,
          ),
      })
      const { send, reply, closed } = await connect()
      send(`${lines(...HANDSHAKE, `authorization: Bearer ${await pki.token()}`)}hidden`)
      assert.equal((await reply())?.status, 502)
      await closed
      assert.equal(upstream.received().includes('hidden'), false)
    })
  }

  test('for which the upstream is not there, or silent, is answered with 502 and 504', async (t) => {
    const away = await startEdge(t, pki, alice, { upstreamPort: 1 })
    const first = await away.connect()
    first.send(lines(...HANDSHAKE, `authorization: Bearer ${await pki.token()}`))
    assert.equal((await first.reply())?.status, 502)
    const silent = await startEdge(t, pki, alice, {
      onUpgrade: () => undefined,
      times: { upload: seconds(60), answer: milliseconds(50) },
    })
    const second = await silent.connect()
    second.send(lines(...HANDSHAKE, `authorization: Bearer ${await pki.token()}`))
    assert.equal((await second.reply())?.status, 504)
  })
})

describe('R101: an open WebSocket is closed, on both sides, when', () => {
  const cases: Readonly<Record<string, string>> = {
    'its session ends': ALICE.sessionId,
    'its token is revoked': 'revoked-token',
    'its certificate is removed': ALICE.certificateId,
    'the authenticator of its certificate is removed': `cert:${alice.fingerprint}`,
  }
  for (const [what, subject] of Object.entries(cases)) {
    test(what, async (t) => {
      const edge = await startEdge(t, pki, alice)
      const other = await openSocket(
        { ...edge, connect: async () => edge.connect(await pki.sessionCertificate(BOB)) },
        await pki.token({ sub: BOB.identityId, z_asid: BOB.sessionId }),
      )
      const connection = await openSocket(edge, await pki.token({ jti: 'revoked-token' }))
      await echo(connection, 'before')
      edge.feed.send(ended(subject))
      await connection.closed
      await waitFor(
        () => edge.upstream.openSockets() === 1,
        () => 'the end of the other side',
      )
      // And of no other session.
      await echo(other, 'still here')
    })
  }

  test('the gateway stops', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const connection = await openSocket(edge, await pki.token())
    await edge.stop()
    await connection.closed
  })
})

const BOB = { identityId: 'bob', sessionId: 'session-of-bob', certificateId: 'certificate-of-bob' }

test('a token that expires closes nothing that is open, and opens nothing new', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const token = await pki.token()
  const connection = await openSocket(edge, token)
  edge.clock.advance(hours(1))
  const fresh = await edge.connect()
  fresh.send(lines('GET / HTTP/1.1', HOST, `authorization: Bearer ${token}`))
  const answer = await fresh.reply()
  assert.equal(answer?.status, 401)
  assert.match(answer.header('www-authenticate') ?? '', /error="expired"/)
  await echo(connection, 'still here')
})

// SPEC Limits: valid only between its dates.
test('a certificate that expires closes what is open', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const connection = await openSocket(edge, await pki.token())
  edge.clock.advance(days(3))
  await connection.closed
})

test('a gateway that is cut off for 30 s closes its connections and answers with 503, until it is connected again', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const changes = () =>
    edge.log.map(({ msg }) => msg).filter((msg) => /^(connected to|lost) the controller/.test(msg))
  // The router looks at the state from time to time, and must have seen this one.
  await waitFor(
    () => changes().length === 1,
    () => 'the line of the first connection',
  )
  const connection = await openSocket(edge, await pki.token())
  edge.clock.pass(seconds(29))
  await echo(connection, 'still here')
  edge.clock.pass(seconds(2))
  await connection.closed
  const refused = await (await edge.request(['GET / HTTP/1.1', HOST])).reply()
  assert.equal(refused?.status, 503)
  assert.equal(refused.json().error.code, 'NOT_READY')
  assert.equal(refused.header('retry-after'), '1')
  // It is sent now: one from before would be a feed that someone delays (D-385).
  edge.feed.send({ ...heartbeat(), at: seconds(31) })
  await waitFor(
    () => !edge.router.isCutOff(),
    () => 'a heartbeat',
  )
  assert.equal((await (await edge.request(['GET / HTTP/1.1', HOST])).reply())?.status, 200)
  await waitFor(
    () => changes().length === 3,
    () => `three changes: ${changes()}`,
  )
  assert.deepEqual(changes(), [
    'connected to the controller',
    'lost the controller: every caller is refused, and open connections are closed',
    'connected to the controller again',
  ])
})

test('an answer that is on its way is cut when its session ends', async (t) => {
  const edge = await startEdge(t, pki, alice, {
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
    },
  })
  const { socket, closed } = await edge.request(['GET /events HTTP/1.1', HOST])
  await once(socket, 'data')
  edge.feed.send(ended(ALICE.sessionId))
  await closed
  await waitFor(
    () => edge.upstream.openSockets() === 0,
    () => 'the end of the call',
  )
})

test('an idle connection is closed when the session of its last request ends', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const { reply, closed, socket } = await edge.request(['GET / HTTP/1.1', HOST])
  assert.equal((await reply())?.status, 200)
  assert.equal(socket.destroyed, false)
  edge.feed.send(ended(ALICE.sessionId))
  await closed
})

test('the end of an older token closes nothing that a newer one of the same session runs on', async (t) => {
  const edge = await startEdge(t, pki, alice)
  const connection = await edge.connect()
  for (const jti of ['older', 'newer']) {
    const token = await pki.token({ jti })
    connection.send(lines('GET / HTTP/1.1', HOST, `authorization: Bearer ${token}`))
    assert.equal((await connection.reply())?.status, 200)
  }
  edge.feed.send(ended('older'))
  await waitFor(
    async () => {
      const verdict = await edge.router.check({
        certificate: alice.der,
        token: { bearer: await pki.token({ jti: 'older' }) },
      })
      return verdict.verdict === 'refused'
    },
    () => 'the news',
  )
  connection.send(lines('GET / HTTP/1.1', HOST, `authorization: Bearer ${await pki.token()}`))
  assert.equal((await connection.reply())?.status, 200)
})

// Attack: a caller who is about to lose access begins a WebSocket and lets it open after the rules have changed.
describe('a tunnel that is opening while the rules of its upstream change', () => {
  const stricter = (edge: Edge, { port }: { readonly port: number }) => {
    const to = upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port } })
    edge.gateway.replaceUpstreams([{ ...to, require: { identities: ['bob'] } }])
  }

  test('is cut if the upstream has not agreed yet', async (t) => {
    const { promise, resolve } = Promise.withResolvers<() => void>()
    const edge = await startEdge(t, pki, alice, {
      onUpgrade({ headers }, socket) {
        const accept = webSocketAccept(headers['sec-websocket-key'] ?? '')
        const agreed = `upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}`
        socket.on('error', () => undefined)
        resolve(() => void socket.write(`HTTP/1.1 101 OK\r\n${agreed}\r\n\r\n`))
      },
    })
    const connection = await edge.connect()
    connection.send(lines(...HANDSHAKE, `authorization: Bearer ${await pki.token()}`))
    const agree = await promise
    stricter(edge, edge.upstream)
    agree()
    await connection.closed
    assert.equal(edge.gateway.load().tunnels, 0)
  })

  test('is cut if the caller was still being authenticated', async (t) => {
    const begun = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const authenticate = async () => {
      begun.resolve()
      await goOn.promise
      return undefined
    }
    const edge = await startEdge(t, pki, alice, { gateway: { waysIn: [{ authenticate }] } })
    const connection = await edge.connect()
    connection.send(lines(...HANDSHAKE, `authorization: Bearer ${await pki.token()}`))
    await begun.promise
    stricter(edge, edge.upstream)
    goOn.resolve()
    await connection.closed
    assert.equal(edge.upstream.received(), '')
  })

  test('opens if its own upstream and all others stay', async (t) => {
    const edge = await startEdge(t, pki, alice)
    const { port } = edge.upstream
    edge.gateway.replaceUpstreams([upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port } })])
    await echo(await openSocket(edge, await pki.token()), 'hello')
  })
})
