/**
 * How a router follows real controllers: who may be one, several instances, a restart, new keys, and a controller that
 * is gone. D-34, D-42, D-48; R103.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import { startRouter } from '../../../src/router/router.ts'
import { oidcSession } from '../../support/edge/live-session.ts'
import { passOn } from '../../support/edge/passed-on.ts'
import { openTunnel, pass, startRealEdge, travellerOf } from '../../support/edge/real-edge.ts'
import { makeRouter } from '../../support/edge/router-identity.ts'
import { freePort, webAt } from '../../support/ports.ts'
import { waitFor } from '../../support/process/child-service.ts'
import { type Service, startService } from '../../support/service.ts'

/** Log lines of a router. */
function listener() {
  const lines: { readonly msg: string; readonly why?: string }[] = []
  const say = (fields: object, msg: string) => void lines.push({ msg, ...fields })
  return { lines, log: { debug: say, info: say, warn: say, error: say } }
}

test('an identity that is not a router may not follow', async (t) => {
  const service = await startService(t)
  const { identity } = await makeRouter(t, service, 'Default')
  const { lines, log } = listener()
  const router = startRouter({ controller: service.baseUrl, identity, log })
  t.after(() => router.stop())
  await waitFor(
    () => lines.length > 0,
    () => 'a warning',
  )
  assert.match(lines[0]?.why ?? '', /status 403/)
  assert.equal(router.isCutOff(), true)
})

test('an unregistered certificate may not follow the feed', async (t) => {
  const service = await startService(t)
  const { admin, identity } = await makeRouter(t, service)
  await admin.act('DELETE', `/identities/${identity.id}`)
  const { lines, log } = listener()
  const router = startRouter({ controller: service.baseUrl, identity, log })
  t.after(() => router.stop())
  await waitFor(
    () => lines.length > 0,
    () => 'a warning',
  )
  assert.match(lines[0]?.why ?? '', /status 401/)
})

test('a disabled router loses its feed, and refuses every caller once it is cut off', async (t) => {
  const service = await startService(t)
  const edge = await startRealEdge(t, service)
  const traveller = await travellerOf(await oidcSession(service))
  const tunnel = await openTunnel(t, edge, traveller)
  assert.equal(tunnel.status, 101)
  await edge.admin.act('POST', `/identities/${edge.identity.id}/disable`, {})
  await waitFor(
    () => edge.log.some(({ msg }) => msg === 'the feed of the controller was interrupted'),
    () => 'the end of the feed',
  )
  assert.equal((await pass(t, edge, traveller))?.status, 200)
  edge.clock.pass(seconds(31))
  await tunnel.closed
  assert.equal((await pass(t, edge, traveller))?.status, 503)
})

test('R103: what one instance issues passes a router that follows another, and what one ends is closed there', async (t) => {
  const [address, portOfFirst, portOfSecond] = [
    await freePort(),
    await freePort(),
    await freePort(),
  ]
  const first = await startService(t, { config: { web: webAt(portOfFirst, address) } })
  const { home } = first
  const second = await startService(t, { home, config: { web: webAt(portOfSecond, address) } })
  // The one address of both: as a load balancer that has sent the router to the second.
  await passOn(t, address, portOfSecond)
  const host = `localhost:${address}`
  const atFirst: Service = {
    ...first,
    call: (path, call) =>
      first.client.call(`https://localhost:${portOfFirst}${path}`, {
        ...call,
        headers: { host, ...call?.headers },
      }),
  }
  const edge = await startRealEdge(t, second)
  const session = await oidcSession(atFirst)
  const traveller = await travellerOf(session)
  const tunnel = await openTunnel(t, edge, traveller)
  assert.equal(tunnel.status, 101)
  const reply = await session.call('/edge/client/v1/current-api-session', { method: 'DELETE' })
  assert.equal(reply.status, 200, reply.text)
  await tunnel.closed
  assert.equal((await pass(t, edge, traveller))?.status, 401)
})

test('a controller that comes back is followed on, and what ended meanwhile is closed', async (t) => {
  const config = { web: webAt(await freePort()) }
  const first = await startService(t, { config })
  const edge = await startRealEdge(t, first)
  const [session, other] = [await oidcSession(first), await oidcSession(first)]
  const traveller = await travellerOf(session)
  const tunnel = await openTunnel(t, edge, traveller)
  const stays = await openTunnel(t, edge, await travellerOf(other))
  await first.stop()
  await waitFor(
    () => edge.log.some(({ msg }) => msg === 'the feed of the controller was interrupted'),
    () => 'the end of the feed',
  )
  // Nobody is cut off by a restart.
  assert.equal((await pass(t, edge, traveller))?.status, 200)

  const second = await startService(t, { home: first.home })
  const end = await session.call(
    '/edge/client/v1/current-api-session',
    { method: 'DELETE' },
    second,
  )
  assert.equal(end.status, 200, end.text)
  await tunnel.closed
  assert.equal((await pass(t, edge, traveller))?.status, 401)
  assert.equal(stays.socket.destroyed, false)
})

test('the library returns the session, for services without a gateway', async (t) => {
  const service = await startService(t)
  const { identity } = await makeRouter(t, service)
  const router = startRouter({ controller: service.baseUrl, identity })
  t.after(() => router.stop())
  await router.ready
  const session = await oidcSession(service)
  const { shown, certificateId } = await travellerOf(session)
  const certificate = new X509Certificate(shown.cert).raw
  const verdict = await router.check({ certificate, token: { bearer: session.token } })
  assert.ok(verdict.verdict === 'accepted')
  assert.deepEqual(
    [verdict.sessionId, verdict.identityId, verdict.certificateId],
    [session.id, session.identityId, certificateId],
  )
  const told = Promise.withResolvers<string>()
  router.watch(verdict, told.resolve)
  await session.call('/edge/client/v1/current-api-session', { method: 'DELETE' })
  assert.equal(await told.promise, 'ended')
})
