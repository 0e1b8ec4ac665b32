/** What a TCP connection through the gateway carries, and how it ends: bytes, half-closes, cuts, standstill. D-421. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { startTcpService, type TcpService } from '../../../test/support/edge/tcp-service.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { get, startHttpsServer } from '../../../test/support/https-server.ts'
import { type Duration, milliseconds, seconds } from '../../base/time/duration.ts'
import type { Upgraded } from '../../https-server/https-server.ts'
import { createOpenConnections } from './open-connections.ts'
import { type Dial, openTcpTunnel } from './tcp-tunnel.ts'

const UPGRADE = ['connection: Upgrade', 'upgrade: latchkey-tcp']

async function startTunnels(
  t: TestContext,
  port: number,
  {
    idle,
    answer = seconds(60),
    dial,
  }: { readonly idle?: Duration; readonly answer?: Duration; readonly dial?: Dial } = {},
) {
  const streams: Upgraded[] = []
  const server = await startHttpsServer(t, () => undefined, {
    // Far below what a reader may stand still.
    timeouts: {
      header: seconds(60),
      request: seconds(60),
      idle: seconds(60),
      write: milliseconds(1),
    },
    onUpgrade(_, response, stream) {
      streams.push(stream)
      openTcpTunnel(
        {
          upstream: { host: '127.0.0.1', port },
          stream,
          requestId: 'r1',
          fail: (code) =>
            void response.writeHead(502, { 'content-length': '0', 'x-code': code }).end(),
          onOpen: () => undefined,
        },
        { answer, idle },
        dial,
      )
    },
  })
  async function open(behind = '') {
    const connection = await server.connect()
    connection.socket.allowHalfOpen = true
    connection.send(`${get('/.latchkey/connect/echo', ...UPGRADE)}${behind}`)
    const reply = await connection.reply()
    return { ...connection, answer: reply }
  }
  return { open, streams }
}

function collect(socket: TLSSocket) {
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  return () => text
}

test('carries bytes both ways, those right behind the request too', async (t) => {
  const { port } = await startTcpService(t)
  const { open } = await startTunnels(t, port)
  const { socket, send, answer } = await open('early ')
  const received = collect(socket)
  assert.equal(answer?.status, 101)
  assert.equal(answer.header('upgrade'), 'latchkey-tcp')
  assert.equal(answer.header('x-request-id'), 'r1')
  send('late')
  await eventually(() => (received().endsWith('late') ? true : undefined), 'the echo')
})

test('a half-close of the client leaves the way back open, until the service ends too', async (t) => {
  const service = await startTcpService(t, (socket) => {
    let length = 0
    socket.on('data', (chunk) => {
      length += chunk.length
    })
    socket.once('end', () => socket.end(`got ${length}`))
  })
  const { open } = await startTunnels(t, service.port)
  const { socket, send } = await open()
  const received = collect(socket)
  send('x'.repeat(300_000))
  socket.end()
  await once(socket, 'end')
  assert.equal(received(), 'got 300000')
  await eventually(() => service.ends[0], 'the end')
  assert.deepEqual(service.ends, ['end'])
})

test('a half-close of the service leaves the way to it open', async (t) => {
  let heard = ''
  const service = await startTcpService(t, (socket) => {
    socket.end('greeting')
    socket.on('data', (chunk) => {
      heard += chunk
    })
  })
  const { open } = await startTunnels(t, service.port)
  const { socket, send } = await open()
  await once(socket, 'end')
  send('still here')
  socket.end()
  await eventually(() => service.ends[0], 'the end')
  assert.equal(heard, 'still here')
})

// Attack: cut an upload in the middle, so that the service takes what it has for the whole.
test('a client that is cut is a reset for the service, and a service that is cut is one for the client', async (t) => {
  const service = await startTcpService(t, (socket) => void socket.resume())
  const { open, streams } = await startTunnels(t, service.port)
  const first = await open()
  first.send('half of')
  await eventually(() => (service.sockets.size === 1 ? true : undefined), 'the connection')
  const failed = once(first.socket, 'error')
  streams[0]?.reset()
  assert.equal((await failed)[0].code, 'ECONNRESET')
  await eventually(() => service.ends[0], 'the end')
  assert.deepEqual(service.ends, ['ECONNRESET'])

  const second = await open()
  const alsoFailed = once(second.socket, 'error')
  for (const socket of service.sockets) socket.resetAndDestroy()
  assert.equal((await alsoFailed)[0].code, 'ECONNRESET')
})

test('a client that reads nothing holds the service back, and is not cut for it', async (t) => {
  let written = 0
  const chunk = Buffer.alloc(64 * 1024)
  const service: TcpService = await startTcpService(t, (socket) => {
    const write = () => {
      while (socket.writable && written < 256 * 1024 * 1024) {
        written += chunk.length
        if (!socket.write(chunk)) return
      }
    }
    socket.on('drain', write)
    write()
  })
  const { open } = await startTunnels(t, service.port)
  const { socket } = await open()
  socket.pause()
  // Longer than the server's checks for peers that do not read are apart.
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  const [other] = service.sockets
  assert.ok(other !== undefined && other.writableLength > 0, 'it waits')
  assert.ok(written < 64 * 1024 * 1024, `${written} bytes are on the way`)
  const before = socket.bytesRead
  socket.resume()
  await eventually(() => (socket.bytesRead > before + 1_000_000 ? true : undefined), 'the rest')
})

test('a connection that is quiet longer than its idle limit is reset on both sides', async (t) => {
  const service = await startTcpService(t)
  const { open } = await startTunnels(t, service.port, { idle: milliseconds(20) })
  const { socket } = await open()
  await once(socket, 'error')
  await eventually(() => service.ends[0], 'the end')
  assert.deepEqual(service.ends, ['ECONNRESET'])
})

test('a service that refuses is BAD_GATEWAY, and one that does not accept in time GATEWAY_TIMEOUT', async (t) => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  const { open } = await startTunnels(t, port)
  assert.equal((await open()).answer?.header('x-code'), 'BAD_GATEWAY')
  const silent = await startTunnels(t, port, {
    answer: milliseconds(10),
    dial: () => new Socket(),
  })
  assert.equal((await silent.open()).answer?.header('x-code'), 'GATEWAY_TIMEOUT')
})

test('an identity has a bounded number of connections, and gets each place back once', () => {
  const take = createOpenConnections(2)
  const [first, second] = [take('a'), take('a')]
  assert.equal(take('a'), undefined)
  assert.notEqual(take('b'), undefined)
  first?.()
  first?.()
  assert.notEqual(take('a'), undefined)
  assert.equal(take('a'), undefined)
  second?.()
  assert.notEqual(take('a'), undefined)
})
