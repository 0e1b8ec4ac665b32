/** `/.latchkey/connect/NAME` at a whole gateway: who gets a TCP connection, and when it ends. D-420 to D-422; R101. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { after, type TestContext, test } from 'node:test'
import { type Edge, startEdge } from '../../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../../test/support/edge/edge-pki.ts'
import { ended } from '../../../test/support/edge/fake-controller.ts'
import { startTcpService } from '../../../test/support/edge/tcp-service.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { days, hours, milliseconds, seconds } from '../../base/time/duration.ts'
import { upstreamTo } from '../settings/upstream-url.ts'
import { createConnectRoute } from './connect-route.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

const FIRST = 'GET /.latchkey/connect/postgres HTTP/1.1'
const UPGRADE = ['host: gateway.example', 'connection: Upgrade', 'upgrade: latchkey-tcp']

/** `postgres` is an echo, `down` is nothing, `web` is HTTP. */
async function startTcpEdge(t: TestContext, most?: number) {
  const service = await startTcpService(t)
  const tcp = (name: string, port: number) => ({
    ...upstreamTo({ kind: 'tcp', at: { host: '127.0.0.1', port } }),
    name,
  })
  const route =
    most === undefined
      ? []
      : [createConnectRoute({ times: { answer: seconds(30) }, mostPerIdentity: most })]
  const edge = await startEdge(t, pki, alice, {
    upstreams: (to) => [
      { ...to, name: 'web' },
      tcp('postgres', service.port),
      tcp('down', 1),
      { ...tcp('ruled', service.port), require: { amr: ['totp'] } },
      { ...tcp('others', service.port), require: { identities: ['bob'] } },
    ],
    gateway: { ownRoutes: route },
  })
  return { edge, service }
}

async function open({ request }: Edge, first = FIRST) {
  const connection = await request([first, ...UPGRADE])
  const answer = await connection.reply()
  return { ...connection, answer }
}

async function echo({ socket, send }: Awaited<ReturnType<typeof open>>, text: string) {
  let back = ''
  const listen = (chunk: Buffer) => {
    back += chunk
  }
  socket.on('data', listen)
  send(text)
  await eventually(() => (back.includes(text) ? true : undefined), 'the echo')
  socket.off('data', listen)
}

test('a caller with certificate and token gets the bytes of the service, and the service none of the credentials', async (t) => {
  let received = ''
  const service = await startTcpService(t, (socket) => {
    socket.on('data', (chunk) => {
      received += chunk
      socket.write(chunk)
    })
    socket.once('end', () => socket.end())
  })
  const edge = await startEdge(t, pki, alice, {
    upstreams: () => [
      { ...upstreamTo({ kind: 'tcp', at: { host: '127.0.0.1', port: service.port } }), name: 'db' },
    ],
  })
  const connection = await open(edge, 'GET /.latchkey/connect/db HTTP/1.1')
  assert.equal(connection.answer?.status, 101)
  await echo(connection, 'hello')
  assert.equal(received, 'hello')
  connection.socket.destroy()
  const line = await eventually(() => edge.log.find(({ status }) => status === 101), 'the line')
  assert.equal(line.upstream, 'db')
  assert.equal(line.identityId, ALICE.identityId)
})

test('whatever is missing or ambiguous is refused with its code, and opens nothing', async (t) => {
  const { edge, service } = await startTcpEdge(t)
  const token = `authorization: Bearer ${await pki.token()}`
  const bob = { identityId: 'bob', sessionId: 's-bob', certificateId: 'c-bob' }
  const stranger = await pki.sessionCertificate(bob)
  const at = (path: string) => [`GET /.latchkey/connect/${path} HTTP/1.1`, ...UPGRADE, token]
  const cases: readonly (readonly [
    what: string,
    lines: readonly string[],
    status: number,
    code: string,
    shown?: typeof alice | 'nothing',
  ])[] = [
    ['no token', [FIRST, ...UPGRADE], 401, 'UNAUTHORIZED'],
    ['no certificate', [FIRST, ...UPGRADE, token], 403, 'FORBIDDEN', 'nothing'],
    ['a certificate of another identity', [FIRST, ...UPGRADE, token], 403, 'FORBIDDEN', stranger],
    ['an unknown name', at('nothing'), 404, 'UNKNOWN_SERVICE'],
    [
      'an unknown name, asked for by an unauthenticated caller',
      at('nothing'),
      403,
      'FORBIDDEN',
      'nothing',
    ],
    ['no name', at(''), 404, 'UNKNOWN_SERVICE'],
    ['more than a name', at('postgres/x'), 404, 'UNKNOWN_SERVICE'],
    ['the name of an HTTP upstream', at('web'), 404, 'UNKNOWN_SERVICE'],
    ['a service that is down', at('down'), 502, 'BAD_GATEWAY'],
    ['a factor that a rule demands', at('ruled'), 401, 'FACTOR_REQUIRED'],
    ['an identity that a rule does not name', at('others'), 403, 'IDENTITY_NOT_ALLOWED'],
    ['a cookie', [...at('postgres'), 'cookie: a=b'], 400, 'BAD_REQUEST'],
    ['a body', [...at('postgres'), 'content-length: 3'], 400, 'BAD_REQUEST'],
    ['two credentials', [...at('postgres'), token], 400, 'BAD_REQUEST'],
    ['another method', at('postgres').map((l) => l.replace('GET', 'POST')), 400, 'BAD_REQUEST'],
    [
      'a WebSocket',
      at('postgres').map((l) => l.replace('latchkey-tcp', 'websocket')),
      400,
      'BAD_REQUEST',
    ],
    ['two protocols', [...at('postgres'), 'upgrade: h2c'], 400, 'BAD_REQUEST'],
    ['no upgrade', [FIRST, 'host: gateway.example', token], 426, 'UPGRADE_REQUIRED'],
  ]
  for (const [what, lines, status, code, shown] of cases) {
    const { send, reply, socket } = await edge.connect(shown ?? alice)
    send(`${lines.join('\r\n')}\r\n\r\n`)
    const answer = await reply()
    assert.equal(answer?.status, status, what)
    assert.equal(answer.json().error.code, code, what)
    if (status === 426) assert.equal(answer.header('upgrade'), 'latchkey-tcp')
    socket.destroy()
  }
  assert.equal(service.sockets.size + service.ends.length, 0)
})

for (const [what, end] of Object.entries<(edge: Edge) => void>({
  'its session ends': ({ feed }) => feed.send(ended(ALICE.sessionId)),
  'its certificate is removed': ({ feed }) => feed.send(ended(ALICE.certificateId)),
  'its certificate expires': ({ clock }) => clock.advance(days(3)),
  'the gateway loses its controller for 30 s': ({ clock }) => clock.pass(seconds(31)),
  'the gateway stops': ({ stop }) => void stop(),
})) {
  test(`R101: an open TCP connection is reset on both sides when ${what}`, async (t) => {
    const { edge, service } = await startTcpEdge(t)
    const connection = await open(edge)
    await echo(connection, 'before')
    const failed = once(connection.socket, 'error')
    end(edge)
    assert.equal((await failed)[0].code, 'ECONNRESET')
    await eventually(() => service.ends[0], 'the end of the other side')
    assert.deepEqual(service.ends, ['ECONNRESET'])
  })
}

// RFC 9113 §8.2.2: a field about the connection would be an error of the gateway.
test('HTTP/2, which cannot be upgraded, gets 426', async (t) => {
  const { edge } = await startTcpEdge(t)
  const session = connect(edge.url, { ca: pki.root.pem, cert: alice.pem, key: alice.keyPem })
  t.after(() => session.destroy())
  const stream = session.request({
    ':path': '/.latchkey/connect/postgres',
    authorization: `Bearer ${await pki.token()}`,
  })
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 426)
  stream.resume()
})

test('a token that expires closes no open TCP connection', async (t) => {
  const { edge } = await startTcpEdge(t)
  const connection = await open(edge)
  edge.clock.advance(hours(1))
  await echo(connection, 'still here')
})

test('a hundred connections at once carry their own bytes', async (t) => {
  const { edge, service } = await startTcpEdge(t)
  const connections = await Promise.all(Array.from({ length: 100 }, () => open(edge)))
  assert.ok(connections.every(({ answer }) => answer?.status === 101))
  await Promise.all(connections.map((connection, at) => echo(connection, `<${at}>`)))
  assert.equal(service.sockets.size, 100)
  edge.feed.send(ended(ALICE.sessionId))
  await eventually(() => (service.sockets.size === 0 ? true : undefined), 'the ends')
})

test('D-422: an identity with too many connections gets 429 until one is closed', async (t) => {
  const { edge } = await startTcpEdge(t, 2)
  const [first] = [await open(edge), await open(edge)]
  const refused = await open(edge)
  assert.equal(refused.answer?.status, 429)
  assert.equal(refused.answer.json().error.code, 'TOO_MANY_CONNECTIONS')
  first.socket.destroy()
  await eventually(async () => {
    const { answer } = await open(edge)
    return answer?.status === 101 ? true : undefined
  }, 'a place')
})

test('a connection on which nothing moves is reset after the idle limit of its upstream', async (t) => {
  const service = await startTcpService(t)
  const to = upstreamTo({ kind: 'tcp', at: { host: '127.0.0.1', port: service.port } })
  const edge = await startEdge(t, pki, alice, {
    upstreams: () => [
      { ...to, name: 'quiet' },
      { ...to, name: 'postgres', idle: milliseconds(50) },
    ],
  })
  const stays = await open(edge, 'GET /.latchkey/connect/quiet HTTP/1.1')
  const reset = await open(edge)
  assert.deepEqual([stays.answer?.status, reset.answer?.status], [101, 101])
  await reset.closed
  await eventually(() => service.ends[0], 'the end at the service')
  assert.deepEqual(service.ends, ['ECONNRESET'])
  await echo(stays, 'still here')
})
