/** What a client of the gateway may do with its connection. D-42, D-195, D-196. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startEdge } from '../../test/support/edge/edge.ts'
import { ALICE, openEdgePki } from '../../test/support/edge/edge-pki.ts'
import { eventually } from '../../test/support/eventually.ts'
import { milliseconds, seconds } from '../base/time/duration.ts'

const pki = await openEdgePki()
after(() => pki.close())
const alice = await pki.sessionCertificate(ALICE)

const HOST = 'host: gateway.example'
const HANDSHAKE = [
  'GET /socket HTTP/1.1',
  HOST,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

// Attack: TRACE echoes the request, including the fields that the gateway adds.
test('TRACE is refused with 405, and does not reach the upstream', async (t) => {
  const { request, upstream } = await startEdge(t, pki, alice)
  const { reply } = await request(['TRACE / HTTP/1.1', HOST])
  const answer = await reply()
  assert.equal(answer?.status, 405)
  assert.equal(answer.json().error.code, 'METHOD_NOT_ALLOWED')
  assert.match(answer.header('allow') ?? '', /GET/)
  assert.equal(upstream.received(), '')
})

// Attack, without credentials: Node throws when a second response is attached to the socket, and the process ended.
test('an upgrade that is pipelined after another request cuts only its own connection', async (t) => {
  const { connect, request } = await startEdge(t, pki, alice)
  const { send, closed } = await connect('nothing')
  const lines = [`GET / HTTP/1.1\r\n${HOST}\r\n\r\n`, `${HANDSHAKE.join('\r\n')}\r\n\r\n`]
  send(lines.join(''))
  await closed
  const { reply } = await request(['GET / HTTP/1.1', HOST])
  assert.equal((await reply())?.status, 200)
})

const ENDLESS = Buffer.alloc(64 * 1024)
const IMPATIENT = { header: seconds(60), write: milliseconds(1_000) }

// Attack: a client requests a large response and reads none of it.
test('cuts a client that does not read its response, and the upstream connection', async (t) => {
  const { request, upstream } = await startEdge(t, pki, alice, {
    times: IMPATIENT,
    answer(_, response) {
      const more = () => {
        while (!response.destroyed && response.write(ENDLESS)) {}
      }
      response.on('drain', more)
      more()
    },
  })
  const { socket } = await request(['GET / HTTP/1.1', HOST])
  socket.pause()
  await eventually(() => (upstream.requests.length === 1 ? true : undefined), 'the request')
  await eventually(() => (upstream.openSockets() === 0 ? true : undefined), 'the end of it')
})

test('cuts a WebSocket whose client reads nothing, and keeps one that is idle', async (t) => {
  let isFlooding = false
  const { request, upstream } = await startEdge(t, pki, alice, {
    times: IMPATIENT,
    onTunnel(socket) {
      if (isFlooding) {
        const more = () => {
          while (!socket.destroyed && socket.write(ENDLESS)) {}
        }
        socket.on('drain', more)
        more()
      } else socket.pipe(socket)
    },
  })
  const quiet = await request(HANDSHAKE)
  assert.equal((await quiet.reply())?.status, 101)
  isFlooding = true
  const stalled = await request(HANDSHAKE)
  stalled.socket.pause()
  await eventually(() => (upstream.openSockets() === 2 ? true : undefined), 'both tunnels')
  await eventually(() => (upstream.openSockets() === 1 ? true : undefined), 'the end of one')
  const echoed = new Promise((resolve) => quiet.socket.once('data', resolve))
  quiet.send('ping')
  assert.equal(String(await echoed), 'ping')
})

// Attack: one user opens WebSockets until the gateway has no connection left for others.
test('an identity has a limited number of WebSockets, and gets a place back when one ends', async (t) => {
  const { request, gateway } = await startEdge(t, pki, alice, { gateway: { mostPerIdentity: 2 } })
  const open = async () => {
    const connection = await request(HANDSHAKE)
    return { ...connection, answer: await connection.reply() }
  }
  const first = await open()
  assert.equal(first.answer?.status, 101)
  assert.equal((await open()).answer?.status, 101)
  const refused = await open()
  assert.equal(refused.answer?.status, 429)
  assert.equal(refused.answer.json().error.code, 'TOO_MANY_CONNECTIONS')
  const plain = await request(['GET / HTTP/1.1', HOST])
  assert.equal((await plain.reply())?.status, 200)
  first.socket.destroy()
  await eventually(() => (gateway.load().tunnels === 1 ? true : undefined), 'the end of one')
  assert.equal((await open()).answer?.status, 101)
})
