/**
 * TCP connections through a gateway that follows a real controller, opened by the client library: renewal of what it
 * shows, and a controller that is gone and comes back. D-423, D-424; R103.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { hours, seconds } from '../../../src/base/time/duration.ts'
import { connect } from '../../../src/client/client.ts'
import { UntrustedServer } from '../../../src/client/errors.ts'
import { createGatewayCredentials } from '../../../src/client/gateway/credentials.ts'
import { reach } from '../../../src/client/gateway/reach.ts'
import type { Tunnel } from '../../../src/client/gateway/tunnel.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import { tcpUpstream } from '../../support/edge/connect-command.ts'
import { startRealEdge } from '../../support/edge/real-edge.ts'
import { enrollRouter } from '../../support/edge/router-identity.ts'
import { startTcpService } from '../../support/edge/tcp-service.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort, webAt } from '../../support/ports.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'

async function echo({ stream }: Tunnel, text: string): Promise<void> {
  let back = ''
  const listen = (chunk: Buffer) => {
    back += chunk
  }
  stream.on('data', listen)
  stream.write(text)
  await eventually(() => (back.includes(text) ? true : undefined), 'the echo')
  stream.off('data', listen)
}

const errorOf = async ({ stream }: Tunnel): Promise<string> => (await once(stream, 'error'))[0].code

/** A session of the administrator by the client library, on the clock of everything else. */
async function travellerAt(service: Service, clock: UptimeClock) {
  const client = await connect({ url: service.baseUrl, ca: service.ca, clock })
  const session = await client.logIn({ method: 'password', ...ADMIN })
  return { client, credentials: createGatewayCredentials({ session, clock }) }
}

test('token and certificate are renewed while time passes, and a connection ends with its own certificate', async (t) => {
  const clock = new UptimeClock()
  const service = await startService(t, { clock })
  const { port: behind } = await startTcpService(t)
  const upstreams = () => [tcpUpstream('echo', behind)]
  const edge = await startRealEdge(t, service, {
    made: await enrollRouter(service),
    clock,
    upstreams,
  })
  const { client, credentials } = await travellerAt(service, clock)
  t.after(() => client.close())
  const at = { host: 'localhost', port: Number(new URL(edge.url).port) }
  const target = { at, name: 'echo', isListed: false }
  const open = () => reach(target, { credentials, clock, patienceMilliseconds: 20_000 })

  const first = await open()
  await echo(first, 'one')
  const before = await credentials.current()
  clock.advance(hours(9))
  const second = await open()
  await echo(second, 'two')
  const after = await credentials.current()
  assert.notEqual(after.token, before.token)
  assert.notEqual(after.cert, before.cert)
  await echo(first, 'still here')

  const over = errorOf(first)
  clock.advance(hours(4))
  assert.equal(await over, 'ECONNRESET')
  await echo(second, 'of the renewed certificate')
  second.reset()
})

// Attack: a gateway of another network, or a stranger in its place, must not get the token.
test('a gateway without a certificate of the network gets nothing', async (t) => {
  const clock = new UptimeClock()
  const service = await startService(t, { clock })
  const edge = await startRealEdge(t, service, { upstreams: () => [tcpUpstream('echo', 1)] })
  const { client, credentials } = await travellerAt(service, clock)
  t.after(() => client.close())
  const at = { host: 'localhost', port: Number(new URL(edge.url).port) }
  for (const isListed of [false, true]) {
    const opening = reach(
      { at, name: 'echo', isListed },
      { credentials, clock, patienceMilliseconds: 0 },
    )
    await assert.rejects(opening, UntrustedServer)
  }
  assert.deepEqual(
    edge.log.filter(({ msg }) => msg === 'request'),
    [],
  )
})

test('what is open survives a controller that is gone for a while, and ends when it stays away', async (t) => {
  const clock = new UptimeClock()
  const config = { web: webAt(await freePort()) }
  const service = await startService(t, { clock, config })
  const { port: behind } = await startTcpService(t)
  const edge = await startRealEdge(t, service, {
    made: await enrollRouter(service),
    upstreams: () => [tcpUpstream('echo', behind)],
  })
  const { client, credentials } = await travellerAt(service, clock)
  t.after(() => client.close())
  const at = { host: 'localhost', port: Number(new URL(edge.url).port) }
  const open = () =>
    reach(
      { at, name: 'echo', isListed: false },
      { credentials, clock, patienceMilliseconds: 60_000 },
    )
  const tunnel = await open()
  await service.stop()
  await echo(tunnel, 'without a controller')
  const another = await open()
  await echo(another, 'opened without it')

  const over = [errorOf(tunnel), errorOf(another)]
  edge.clock.pass(seconds(31))
  assert.deepEqual(await Promise.all(over), ['ECONNRESET', 'ECONNRESET'])
  // Begins while the gateway answers 503, and waits for its controller.
  const waiting = open()
  await startService(t, { home: service.home, clock, config })
  await echo(await waiting, 'it is back')
})
