/** The end of a session in an installation of two instances, each with a router: D-381. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes, seconds } from '../../../src/base/time/duration.ts'
import { presenting } from '../../support/certificates/certificate-login.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { enrollRouter } from '../../support/edge/feed-client.ts'
import { oidcSession } from '../../support/edge/live-session.ts'
import { eventually } from '../../support/eventually.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, MANAGEMENT } from '../../support/management.ts'
import {
  type Confirmations,
  confirmationsOf,
  end,
  feedOf,
  markAfter,
} from '../../support/monitoring/endings.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

test('D-381: two instances, and a gateway that is cut off', async (t) => {
  const shared = await installation(await migratedDatabase())
  const clock = new TestClock()
  const [a, b] = await Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
  const admin = await administrate(a)
  const [here, there] = [await enrollRouter(t, admin), await enrollRouter(t, admin)]
  await eventually(async () => {
    const { status } = await presenting(b, there.certificate).call(`${CLIENT_API}/router-checks`, {
      json: { ztSession: 'x' },
    })
    return status === 200 ? true : undefined
  }, 'the CA at the other instance')
  const feedHere = await feedOf(t, a, here, 'program-here')
  const feedThere = await feedOf(t, b, there, 'program-there')
  const person = await admin.createIdentity({ password: 'a password of somebody' })
  const confirm = async (feed: typeof feedHere, run: string, id: string) => {
    const mark = await markAfter(feed, id)
    assert.equal((await feed.confirm({ run, mark })).status, 200)
  }

  await t.test('both instances and both routers confirm', async () => {
    const session = await oidcSession(a, person)
    const ending = await end(admin, session.id)
    await confirm(feedHere, 'program-here', session.id)
    await confirm(feedThere, 'program-there', session.id)
    const state = await confirmationsOf(admin, ending, 10)
    assert.equal(state.outcome, 'confirmed')
    assert.equal(state.instances.length, 2)
    assert.equal(state.routers.length, 2)
    // Any instance can answer.
    const { token } = await oidcSession(b)
    const reply = await b.call(`${MANAGEMENT}/endings/${ending}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(reply.json().data.outcome, 'confirmed')
  })

  await t.test(
    'one that is cut off is unconfirmed, with the time at which it refuses by itself',
    async () => {
      const session = await oidcSession(a, person)
      feedThere.destroy()
      await eventually(async () => {
        const routers = await admin.get('/routers')
        return routers.find((one: Confirmations) => one.id === there.identityId && !one.isConnected)
      }, 'the instance has noticed')
      const ending = await end(admin, session.id)
      await confirm(feedHere, 'program-here', session.id)
      const state = await confirmationsOf(admin, ending, 3)
      assert.equal(state.outcome, 'pending')
      const cutOff = state.routers.find((one: Confirmations) => one.id === there.identityId)
      assert.equal(cutOff.state, 'cut-off')
      assert.equal(cutOff.confirmedAt, null)
      const left = Date.parse(cutOff.refusesAt) - Date.parse(state.endedAt)
      assert.ok(left > 0 && left <= 30_000, String(left))
      clock.advance(seconds(31))
      assert.equal((await confirmationsOf(admin, ending)).outcome, 'elapsed')

      // It comes back, to the other instance.
      const again = await feedOf(t, a, there, 'program-there')
      await again.ended(session.id)
      assert.equal((await again.confirm({ run: 'program-there', mark: again.mark() })).status, 200)
      await eventually(async () => {
        const now = await confirmationsOf(admin, ending)
        return now.outcome === 'confirmed' ? now : undefined
      }, 'its confirmation')
    },
  )

  await t.test('one that had refused everything before has nothing to confirm', async () => {
    feedHere.destroy()
    await eventually(async () => {
      const routers = await admin.get('/routers')
      return routers.find((one: Confirmations) => one.id === here.identityId && !one.isConnected)
    }, 'the instance has noticed')
    clock.advance(minutes(1))
    const session = await oidcSession(a, person)
    const state = await confirmationsOf(admin, await end(admin, session.id))
    assert.ok(!state.routers.some((one: Confirmations) => one.id === here.identityId))
  })
})
