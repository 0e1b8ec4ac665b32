/**
 * A running gateway gets a new certificate: D-395. The upkeep is the one that `latchkey gateway` runs, on a real home,
 * with a real controller; only its clock is ahead, so that the certificate is due.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { days } from '../../../src/base/time/duration.ts'
import { plus } from '../../../src/base/time/instant.ts'
import { readIdentity, readListener, writeStored } from '../../../src/cli/gateway/identity.ts'
import { keepUp } from '../../../src/cli/gateway/keep-up.ts'
import type { GatewaySettings } from '../../../src/gateway/settings/settings.ts'
import { upstreamTo } from '../../../src/gateway/settings/upstream-url.ts'
import { oidcSession } from '../../support/edge/live-session.ts'
import {
  openTunnel,
  pass,
  startRealEdge,
  travel,
  travellerOf,
} from '../../support/edge/real-edge.ts'
import { enrollRouter } from '../../support/edge/router-identity.ts'
import { eventually } from '../../support/eventually.ts'
import { startService, temporaryFolder } from '../../support/service.ts'

test('a running gateway shows its renewed certificate, and nothing that is open is cut', async (t) => {
  const service = await startService(t)
  const made = await enrollRouter(service)
  const streams = new Set<(text: string) => void>()
  const edge = await startRealEdge(t, service, {
    made,
    upstream: {
      answer(request, response) {
        if (request.url !== '/events') return void response.end('hello')
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        streams.add((text) => void response.write(`data: ${text}\n\n`))
        response.write('data: begun\n\n')
      },
    },
  })
  const folder = await temporaryFolder(t)
  const identityFile = join(folder, 'identity.json')
  await writeStored(identityFile, made.identity)
  const session = await oidcSession(service)
  const traveller = await travellerOf(session)
  const shown = async () => {
    const { socket } = await travel(t, edge, traveller)
    const leaf = socket.getPeerX509Certificate()
    socket.destroy()
    return leaf?.fingerprint256
  }
  const first = new X509Certificate(made.identity.cert)
  assert.equal(await shown(), first.fingerprint256)

  const socket = await openTunnel(t, edge, traveller)
  assert.equal(socket.status, 101)
  let echoed = ''
  socket.socket.on('data', (chunk) => {
    echoed += chunk
  })
  const stream = await travel(t, edge, traveller)
  let events = ''
  stream.socket.on('data', (chunk) => {
    events += chunk
  })
  stream.send(
    `GET /events HTTP/1.1\r\nhost: localhost\r\n${Object.entries(traveller.headers)
      .map((field) => field.join(': '))
      .join('\r\n')}\r\n\r\n`,
  )
  await eventually(() => (events.includes('begun') ? true : undefined), 'the stream')

  const settings: GatewaySettings = {
    controller: service.baseUrl,
    listen: { host: '127.0.0.1', port: 0 },
    upstreams: [upstreamTo({ kind: 'http', at: { host: '127.0.0.1', port: edge.upstream.port } })],
    log: { level: 'info', format: 'json' },
  }
  const identity = await readIdentity(identityFile)
  // Less than a third of the year is left, and the next certificate is valid then too.
  const now = () => plus(service.clock.now(), days(300))
  let inUse = { settings, identity, listener: await readListener(settings, identity, now()) }
  const said: string[] = []
  const say = (_: object, msg: string) => void said.push(msg)
  const upkeep = keepUp({
    place: { folder, file: undefined, identity: identityFile, isOwn: true },
    ports: {
      load: async () => ({ settings, adjustments: [] }),
      identityFile,
      gateway: edge.gateway,
      router: edge.router,
      clock: { now, uptime: () => edge.clock.uptime() },
      log: { debug: say, info: say, warn: say, error: say },
    },
    inUse: () => inUse,
    use: (next) => {
      inUse = next
    },
  })
  t.after(() => upkeep.stop())
  await eventually(
    () => (said.includes('changes were picked up') ? true : undefined),
    'the new certificate',
  )
  assert.deepEqual(
    said.filter((msg) => !['the certificate was renewed', 'changes were picked up'].includes(msg)),
    [],
  )

  const stored = JSON.parse(await readFile(identityFile, 'utf8'))
  const renewed = new X509Certificate(stored.cert)
  assert.notEqual(renewed.fingerprint256, first.fingerprint256)
  assert.equal(stored.isUnconfirmed, undefined)
  assert.equal((await stat(identityFile)).mode & 0o777, 0o600)
  assert.equal(await shown(), renewed.fingerprint256)
  assert.equal((await pass(t, edge, traveller))?.status, 200)

  socket.send('still here')
  await eventually(() => (echoed.includes('still here') ? true : undefined), 'the echo')
  for (const write of streams) write('still here')
  await eventually(() => (events.includes('still here') ? true : undefined), 'the event')
  // The feed goes on with the new certificate: the old one is refused now.
  const reply = await session.call('/edge/client/v1/current-api-session', { method: 'DELETE' })
  assert.equal(reply.status, 200, reply.text)
  await Promise.all([socket.closed, stream.closed])
  assert.equal(edge.router.isCutOff(), false)
})
