/**
 * Anonymous callers who only hold connections: they cannot use up descriptors or memory, or keep the process from
 * stopping. D-195, D-196, D-198; issue 11, section 1.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { makeRouter, writeIdentity } from '../support/edge/router-identity.ts'
import { startUpstream } from '../support/edge/upstream.ts'
import { eventually } from '../support/eventually.ts'
import {
  countSockets,
  isLinux,
  residentMemory,
  withDescriptors,
} from '../support/monitoring/descriptors.ts'
import { changeConfig } from '../support/process/child-home.ts'
import {
  type Child,
  type ChildOptions,
  type ChildService,
  spawnLatchkey,
  startChild,
  waitFor,
} from '../support/process/child-service.ts'

const LIMIT = 400
/** D-198. */
const MOST_CONNECTIONS = LIMIT - 128

/** A record header of a handshake that announces more than follows. */
const HALF_CLIENT_HELLO = Buffer.from('1603010200010001fc0303', 'hex')

/** With short timeouts, and the metrics on the listener. */
async function startImpatient(t: TestContext, options: ChildOptions = {}): Promise<ChildService> {
  const { home, stop } = await startChild(t)
  assert.equal((await stop()).code, 0)
  await changeConfig(home, (config) => {
    for (const listener of config.web) {
      listener.options = { timeouts: { header: '1s', request: '2s', idle: '1s', write: '1s' } }
      listener.apis.push({ binding: 'metrics' })
    }
  })
  return startChild(t, { ...options, home })
}

/** A connection that this side never closes, even when the other side does. */
async function hold(t: TestContext, port: number, bytes = Buffer.alloc(0)): Promise<Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  if (bytes.length > 0) socket.write(bytes)
  return socket
}

async function holdSecured(t: TestContext, port: number, text: string): Promise<Socket> {
  // If the underlying socket stays open, the TLS socket does too.
  const socket = tls.connect({ socket: await hold(t, port), rejectUnauthorized: false })
  socket.on('error', () => undefined)
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  if (text !== '') socket.write(text)
  return socket
}

const returnsTo = (child: Pick<Child, 'process'>, level: number) =>
  eventually(
    async () => ((await countSockets(child)) <= level ? true : undefined),
    `no more than ${level} sockets`,
  )

// Attack: connections that send nothing, or half of something, until the process has no descriptor left.
test('closes all silent and half-open connections, and keeps serving', {
  skip: !isLinux,
}, async (t) => {
  const service = await startImpatient(t, withDescriptors(LIMIT))
  await service.call('/version', { headers: { connection: 'close' } })
  const before = await countSockets(service)
  const { port } = service
  // After the handshake: nothing (408), half a header (408), no HTTP (400), too large a header (431).
  for (const text of [
    '',
    'GET / HT',
    'nonsense\r\n\r\n',
    `GET / HTTP/1.1\r\na: ${'x'.repeat(40_000)}`,
  ]) {
    for (let i = 0; i < 10; i++) await holdSecured(t, port, text)
  }
  for (let i = 0; i < 100; i++) await hold(t, port)
  for (let i = 0; i < 100; i++) await hold(t, port, HALF_CLIENT_HELLO)
  await returnsTo(service, before)
  assert.equal((await service.call('/version')).status, 200)
  assert.equal((await service.stop()).code, 0)
})

// Attack: more connections than the process has descriptors. libuv would silently close them.
test('refuses connections beyond the limit, with a log line and a metric', {
  skip: !isLinux,
}, async (t) => {
  const service = await startImpatient(t, withDescriptors(LIMIT))
  const sockets = await Promise.all(Array.from({ length: LIMIT - 20 }, () => hold(t, service.port)))
  const line = await eventually(
    () => service.logLines().find(({ msg }) => msg === 'connections are refused'),
    'the line about refused connections',
  )
  assert.equal(line.most, MOST_CONNECTIONS)
  for (const socket of sockets) socket.destroy()
  const metrics = await eventually(
    () => service.call('/metrics').catch(() => undefined),
    'the metrics',
  )
  const refused = /^latchkey_connections_refused_total (\d+)$/m.exec(metrics.text)?.[1]
  assert.ok(Number(refused) >= 1, metrics.text)
  assert.match(metrics.text, new RegExp(`^latchkey_connections_limit ${MOST_CONNECTIONS}$`, 'm'))
  const lines = service.logLines().filter(({ msg }) => msg === 'connections are refused')
  assert.ok(lines.length < 5, 'few lines, however many connections')
  assert.equal((await service.stop()).code, 0)
})

test('SIGTERM stops a service with a thousand silent connections', async (t) => {
  const service = await startChild(t)
  for (let i = 0; i < 10; i++) {
    await Promise.all(Array.from({ length: 100 }, () => hold(t, service.port)))
  }
  let code: number | null | undefined
  void service.stop().then((finished) => {
    code = finished.code
  })
  assert.equal(await eventually(() => code, 'the end of the service'), 0)
})

// Attack: pipelined requests for a large document whose responses are never read.
test('clients that read nothing use up neither memory nor connections', {
  skip: !isLinux,
}, async (t) => {
  const service = await startImpatient(t)
  const path = '/edge/management/v1/openapi.json'
  const { text } = await service.call(path)
  await service.call('/version', { headers: { connection: 'close' } })
  const sockets = await countSockets(service)
  const memory = await residentMemory(service)
  const [connections, requests] = [30, 200]
  assert.ok(text.length * connections * requests > 1e9, 'enough to notice')
  const one = `GET ${path} HTTP/1.1\r\nHost: ${new URL(service.baseUrl).host}\r\n\r\n`
  let most = memory
  for (let i = 0; i < connections; i++) {
    const socket = await holdSecured(t, service.port, one.repeat(requests))
    socket.pause()
    most = Math.max(most, await residentMemory(service))
  }
  await eventually(async () => {
    most = Math.max(most, await residentMemory(service))
    return (await countSockets(service)) <= sockets ? true : undefined
  }, 'the end of every connection')
  assert.ok(most - memory < 150e6, `${Math.round((most - memory) / 1e6)} MB more`)
  assert.equal((await service.stop()).code, 0)
})

test('the gateway closes silent connections, and SIGTERM stops it despite them', {
  skip: !isLinux,
}, async (t) => {
  const service = await startChild(t)
  const { identity } = await makeRouter(t, service)
  const file = await writeIdentity(t, identity)
  const upstream = await startUpstream(t)
  const gateway = spawnLatchkey(
    t,
    [
      'gateway',
      ...['--controller', service.baseUrl, '--identity', file],
      ...['--listen', '127.0.0.1:0', '--upstream', upstream.url],
    ],
    withDescriptors(LIMIT),
  )
  await waitFor(
    () => gateway.output.stdout.includes('The gateway is ready'),
    () => gateway.output.stderr,
    gateway,
  )
  const port = Number(/ready: https:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.output.stdout)?.[1])
  const before = await countSockets(gateway)
  for (const text of ['', 'GET / HT', 'nonsense\r\n\r\n']) await holdSecured(t, port, text)
  for (let i = 0; i < 50; i++) await hold(t, port)
  for (let i = 0; i < 50; i++) await hold(t, port, HALF_CLIENT_HELLO)
  await returnsTo(gateway, before)
  // More than the limit: each client connection may need a second one.
  await Promise.all(Array.from({ length: 200 }, () => hold(t, port)))
  await eventually(
    () => (gateway.output.stderr.includes('connections are refused') ? true : undefined),
    'the line about refused connections',
  )
  gateway.process.kill('SIGTERM')
  let code: number | null | undefined
  void gateway.finished.then((finished) => {
    code = finished.code
  })
  assert.equal(await eventually(() => code, 'the end of the gateway'), 0)
})
