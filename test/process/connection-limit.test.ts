/**
 * As many connections as a process may have: silent ones make way, others are refused with a line and a metric, and the
 * process still ends. D-195, D-198, D-201.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { makeRouter, writeIdentity } from '../support/edge/router-identity.ts'
import { startUpstream } from '../support/edge/upstream.ts'
import { eventually } from '../support/eventually.ts'
import { countSockets, isLinux, withDescriptors } from '../support/monitoring/descriptors.ts'
import { type ChildService, spawnLatchkey, waitFor } from '../support/process/child-service.ts'
import {
  HALF_CLIENT_HELLO,
  hold,
  holdMany,
  holdSecured,
  PATIENT,
  returnsTo,
  startWithTimeouts,
} from '../support/process/held-connections.ts'
import { startService } from '../support/service.ts'

const LIMIT = 400
/** D-198. */
const MOST_CONNECTIONS = LIMIT - 128

const metricOf = (text: string, name: string) =>
  Number(new RegExp(`^latchkey_connections_${name} (\\d+)$`, 'm').exec(text)?.[1])

const linesOf = (service: ChildService, message: string) =>
  service.logLines().filter(({ msg }) => msg === message)

// Attack: more silent connections than the process may hold, for as long as they are let.
test('D-201: a client is answered while silent connections take every place', {
  skip: !isLinux,
}, async (t) => {
  const service = await startWithTimeouts(t, PATIENT, withDescriptors(LIMIT))
  await holdMany(t, service.port, LIMIT - 20)
  const { status, text } = await service.call('/metrics')
  assert.equal(status, 200)
  assert.equal(metricOf(text, 'limit'), MOST_CONNECTIONS)
  assert.equal(metricOf(text, 'open'), MOST_CONNECTIONS)
  assert.equal(metricOf(text, 'refused_total'), 0)
  // With that of the client.
  assert.equal(metricOf(text, 'displaced_total'), LIMIT - 20 + 1 - MOST_CONNECTIONS)
  const lines = linesOf(service, 'idle connections are closed to make room for new ones')
  assert.equal(lines[0].most, MOST_CONNECTIONS)
  assert.ok(lines.length < 5, 'few lines, however many connections')
  assert.equal((await service.stop()).code, 0)
})

// Attack: more connections than the process has descriptors. libuv would silently close them.
test('refuses connections beyond the limit, with a log line and a metric', {
  skip: !isLinux,
}, async (t) => {
  const service = await startWithTimeouts(t, PATIENT, withDescriptors(LIMIT))
  const { host } = new URL(service.baseUrl)
  // Each has a request whose body is still to come, and so it makes way for no other.
  const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1'
  const begun = `POST /oidc/token HTTP/1.1\r\nHost: ${host}\r\n${form}\r\nExpect: 100-continue\r\n\r\n`
  const sockets: Socket[] = []
  for (let i = 0; i < MOST_CONNECTIONS; i++) {
    const socket = await holdSecured(t, service.port, begun)
    sockets.push(socket)
    await once(socket, 'data')
  }
  const newcomer = await hold(t, service.port)
  await once(newcomer.resume(), 'end')
  const line = await eventually(
    () => linesOf(service, 'connections are refused')[0],
    'the line about refused connections',
  )
  assert.equal(line.most, MOST_CONNECTIONS)
  for (const socket of sockets) socket.destroy()
  const { text } = await eventually(
    () => service.call('/metrics').catch(() => undefined),
    'the metrics',
  )
  assert.ok(metricOf(text, 'refused_total') >= 1, text)
  assert.equal(metricOf(text, 'displaced_total'), 0)
  assert.ok(linesOf(service, 'connections are refused').length < 5, 'few lines')
  assert.equal((await service.stop()).code, 0)
})

test('the gateway closes silent connections, and SIGTERM stops it despite them', {
  skip: !isLinux,
}, async (t) => {
  const service = await startService(t)
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
  for (let i = 0; i < 50; i++) await hold(t, port, { bytes: HALF_CLIENT_HELLO })
  await returnsTo(gateway, before)
  // More than the limit: each client connection may need a second one.
  await holdMany(t, port, 200)
  await eventually(
    () => gateway.output.stderr.includes('idle connections are closed') || undefined,
    'the line about silent connections',
  )
  gateway.process.kill('SIGTERM')
  let code: number | null | undefined
  void gateway.finished.then((finished) => {
    code = finished.code
  })
  assert.equal(await eventually(() => code, 'the end of the gateway'), 0)
})
