/**
 * Two instances on PostgreSQL and a real gateway that loses them: until it is back, the end of a session is shown as
 * unconfirmed by it, with the time at which it refuses by itself; and then it does. D-381, D-42.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { seconds } from '../../../src/base/time/duration.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { oidcSession } from '../../support/edge/live-session.ts'
import { passOn } from '../../support/edge/passed-on.ts'
import { openTunnel, pass, startRealEdge, travellerOf } from '../../support/edge/real-edge.ts'
import { eventually } from '../../support/eventually.ts'
import { openConsole } from '../../support/login/account.ts'
import { administrate } from '../../support/management.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

test('a gateway that is cut off is shown as unconfirmed until it is back, and refuses by itself', async (t) => {
  const shared = await installation(await migratedDatabase(), ['console'])
  const clock = new TestClock()
  const [a, b] = await Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
  const portOf = (service: typeof a) =>
    service.config.listeners[0]?.bindPoints[0]?.interface.port ?? 0
  // The gateway reaches the second instance alone; administrators call the first.
  const path = await passOn(t, Number(new URL(a.baseUrl).port), portOf(b))
  const edge = await startRealEdge(t, b)
  const admin = await administrate(a)
  const person = await admin.createIdentity({ password: 'a password of somebody' })
  const end = async (id: string): Promise<string> => {
    const reply = await admin.call('DELETE', `/api-sessions/${id}`)
    return String(reply.headers['latchkey-ending'])
  }

  const first = await oidcSession(a, person)
  const firstTraveller = await travellerOf(first)
  const firstTunnel = await openTunnel(t, edge, firstTraveller)
  assert.equal(firstTunnel.status, 101)
  const confirmed = await admin.get(`/endings/${await end(first.id)}?wait=20`)
  await firstTunnel.closed
  assert.equal(confirmed.outcome, 'confirmed')
  assert.equal(confirmed.instances.length, 2)
  assert.deepEqual(
    confirmed.routers.map(({ id, state }: { id: string; state: string }) => [id, state]),
    [[edge.identity.id, 'confirmed']],
  )

  const session = await oidcSession(a, person)
  const traveller = await travellerOf(session)
  const tunnel = await openTunnel(t, edge, traveller)
  assert.equal(tunnel.status, 101)
  path.cut()
  await eventually(
    async () => ((await admin.get('/routers'))[0].isConnected ? undefined : true),
    'the instance has noticed',
  )
  const ending = await end(session.id)
  const state = await admin.get(`/endings/${ending}?wait=2`)
  assert.equal(state.outcome, 'pending')
  const [router] = state.routers
  assert.deepEqual(
    [router.id, router.state, router.confirmedAt],
    [edge.identity.id, 'cut-off', null],
  )
  const left = Date.parse(router.refusesAt) - Date.parse(state.endedAt)
  assert.ok(left > 0 && left <= 30_000, String(left))
  for (const { state: one } of state.instances) assert.equal(one, 'confirmed')
  // It says so truly: the gateway knows nothing of the end yet.
  assert.equal((await pass(t, edge, traveller))?.status, 200)
  const { browser } = await openConsole(a)
  const { text } = await browser.get(`/console/sessions/${session.id}`)
  assert.match(text, /Not everyone yet/)
  assert.match(text, /Cut off/)
  assert.ok(text.includes(`<time datetime="${router.refusesAt}">`), 'when it refuses by itself')

  edge.clock.pass(seconds(31))
  clock.advance(seconds(31))
  await tunnel.closed
  assert.equal((await pass(t, edge, traveller))?.status, 503)
  assert.equal((await admin.get(`/endings/${ending}`)).outcome, 'elapsed')

  // It comes back, to the other instance, and has the end before it accepts anything.
  path.mend(portOf(a))
  await eventually(
    async () =>
      (await admin.get(`/endings/${ending}`)).outcome === 'confirmed' ? true : undefined,
    'its confirmation',
  )
  assert.equal((await pass(t, edge, traveller))?.status, 401)
})
