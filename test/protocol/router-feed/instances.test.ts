/**
 * Routers at two instances of one installation: an end reaches both, a router may move from one to the other, and
 * nothing is lost that commits late. D-34, D-42, D-48.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ApiSessionId } from '../../../src/base/ids.ts'
import { hours } from '../../../src/base/time/duration.ts'
import { plus } from '../../../src/base/time/instant.ts'
import type { Store } from '../../../src/domain/stores.ts'
import { presenting } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { TestClock } from '../../support/clocks/clock.ts'
import { enrollRouter, readyFeed } from '../../support/edge/feed-client.ts'
import { CERTIFICATES, issueCertificate, SESSIONS } from '../../support/edge/live-session.ts'
import { eventually } from '../../support/eventually.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate } from '../../support/management.ts'
import type { Service } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

async function world(t: TestContext) {
  const shared = await installation(await migratedDatabase())
  const clock = new TestClock()
  const [a, b] = await Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
  const admin = await administrate(a)
  const router = await enrollRouter(t, admin)
  // The CA was registered at one; the other hears of it within a second.
  const elsewhere = presenting(b, router.certificate)
  await eventually(async () => {
    const json = { ztSession: 'x' }
    const { status } = await elsewhere.call(`${CLIENT_API}/router-checks`, { json })
    return status === 200 ? true : undefined
  }, 'the CA at the other instance')
  return { a, b, admin, router }
}

/** Somebody's transaction that ends a session; it commits when it is told to. */
async function endLate(store: Store, service: Service, subject: string) {
  const { clock } = service
  const inserted = Promise.withResolvers<void>()
  const permission = Promise.withResolvers<void>()
  const committed = store.transaction(async (tx) => {
    const keepUntil = plus(clock.now(), hours(1))
    await tx.sessionEndings.insert({ subject: subject as ApiSessionId, at: clock.now(), keepUntil })
    inserted.resolve()
    await permission.promise
  })
  await inserted.promise
  return {
    commit() {
      permission.resolve()
      return committed
    },
  }
}

test('D-42, R101: routers at two instances of one installation', async (t) => {
  const { a, b, router } = await world(t)
  const [here, there] = [await readyFeed(t, a, router), await readyFeed(t, b, router)]
  const { pem } = await makeCsr()

  await t.test('both have the same keys and CAs', () => {
    assert.deepEqual(here.lines.slice(1, 3), there.lines.slice(1, 3))
  })

  for (const [kind, begin] of Object.entries(SESSIONS)) {
    await t.test(
      `an ${kind} session and its certificates that end at one are reported at both`,
      async () => {
        const session = await begin(a)
        const { id } = await issueCertificate(session, pem)
        await session.call(`${CERTIFICATES}/${id}`, { method: 'DELETE' })
        for (const feed of [here, there]) await feed.ended(id)
        await session.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' }, b)
        for (const feed of [here, there]) await feed.ended(session.id)
      },
    )
  }

  await t.test('a router that is cut off at one goes on at the other', async () => {
    const cursor = here.cursor()
    const session = await SESSIONS.oidc(a)
    await session.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
    await there.ended(session.id)
    const again = await readyFeed(t, b, router, cursor)
    assert.equal(again.hello.isSnapshot, false)
    assert.ok(again.subjects().includes(session.id))
  })

  await t.test(
    'D-34: an end that commits late is reported, after one that was reported before',
    async () => {
      const late = await endLate(await a.openStore(), a, 'late-1')
      const early = await endLate(await a.openStore(), a, 'early-1')
      await early.commit()
      for (const feed of [here, there]) await feed.ended('early-1')
      for (const feed of [here, there]) assert.ok(!feed.subjects().includes('late-1'))
      await late.commit()
      for (const feed of [here, there]) await feed.ended('late-1')
    },
  )

  await t.test(
    'D-34: also to a router that moved with its cursor before it committed',
    async () => {
      const late = await endLate(await a.openStore(), a, 'late-2')
      const early = await endLate(await a.openStore(), a, 'early-2')
      await early.commit()
      await here.ended('early-2')
      const count = here.lines.length
      await here.line(
        (line) => line.type === 'heartbeat' && here.lines.indexOf(line) >= count,
        'a cursor after the early one',
      )
      const moved = await readyFeed(t, b, router, here.cursor())
      assert.equal(moved.hello.isSnapshot, false)
      await late.commit()
      await moved.ended('late-2')
      // And to one that comes only then.
      const later = await readyFeed(t, a, router, here.cursor())
      await later.ended('late-2')
    },
  )
})

test('D-42: a router that is disabled at one instance is cut off at the other', async (t) => {
  const { b, admin, router } = await world(t)
  const feed = await readyFeed(t, b, router)
  await admin.act('POST', `/identities/${router.identityId}/disable`, { durationMinutes: 0 })
  assert.equal(await feed.closed, 'cut')
})
