/** Confirmations of routers cost few writes, however many come: D-381. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts'
import type { ApiSessionId, IdentityId } from '../../../base/ids.ts'
import { seconds } from '../../../base/time/duration.ts'
import { openStore } from '../../../store/open.ts'
import { positionOf } from '../../sessions/confirming/position.ts'
import { createRouterPresence } from './router-presence.ts'

const ROUTER = 'router-1' as IdentityId
const NOBODY: readonly ApiSessionId[] = []

async function world(t: TestContext) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  const clock = new ManualClock()
  let writes = 0
  const presence = createRouterPresence({
    clock,
    transaction: (work) => {
      writes += 1
      return store.transaction(work)
    },
    sessionContacts: store.sessionContacts,
    log: { warn: (fields) => assert.fail(JSON.stringify(fields)) },
  })
  return { store, clock, presence, writes: () => writes }
}

test('many routers and calls are one write, and the same position is not written again', async (t) => {
  const { store, clock, presence, writes } = await world(t)
  const routers = Array.from({ length: 50 }, (_, i) => `router-${i}` as IdentityId)
  for (const id of routers) {
    presence.opened(id, 'program-1', `feed-${id}`)
    for (const upTo of [3, 4, 5]) presence.confirmed(id, 'program-1', positionOf(upTo, []), NOBODY)
  }
  await presence.flush()
  assert.equal(writes(), 1)
  const runs = await store.routerRuns.list(100)
  assert.equal(runs.length, 50)
  assert.ok(runs.every(({ steps }) => steps.length === 1 && steps[0]?.position.upTo === 5))

  for (const id of routers) presence.confirmed(id, 'program-1', positionOf(5, []), NOBODY)
  await sleep(20)
  assert.equal(writes(), 1)
  clock.pass(seconds(30))
  for (const id of routers) presence.confirmed(id, 'program-1', positionOf(5, []), NOBODY)
  await presence.flush()
  assert.equal(writes(), 2)
  const [first] = await store.routerRuns.list(1)
  assert.equal(first?.contactAt, clock.now())
  assert.equal(first?.steps.length, 1)
})

test('a feed that ends says nothing about a newer one, and is not a contact', async (t) => {
  const { store, clock, presence } = await world(t)
  presence.opened(ROUTER, 'program-1', 'feed-1')
  await presence.flush()
  const contact = clock.now()
  clock.pass(seconds(5))
  presence.closed(ROUTER, 'program-1', 'feed-1')
  await presence.flush()
  const [closed] = await store.routerRuns.list(1)
  assert.deepEqual([closed?.closedAt, closed?.contactAt], [clock.now(), contact])
  presence.opened(ROUTER, 'program-1', 'feed-2')
  presence.closed(ROUTER, 'program-1', 'feed-1')
  await presence.flush()
  const [open] = await store.routerRuns.list(1)
  assert.deepEqual([open?.feed, open?.closedAt], ['feed-2', undefined])
})

test('a router that calls too often is not counted, and no other router is affected', async (t) => {
  const { clock, presence } = await world(t)
  const call = (id = ROUTER) => presence.confirmed(id, 'program-1', positionOf(1, []), NOBODY)
  for (let i = 0; i < 100; i++) assert.ok(call())
  assert.ok(!call())
  assert.ok(call('router-2' as IdentityId))
  clock.pass(seconds(10))
  assert.ok(call())
  await presence.flush()
})

test('a router has at most eight programs, and those that ended make way', async (t) => {
  const { store, clock, presence } = await world(t)
  for (let i = 0; i < 20; i++) {
    presence.opened(ROUTER, `program-${String(i).padStart(2, '0')}`, `feed-${i}`)
    clock.pass(seconds(1))
    await presence.flush()
  }
  const runs = await store.routerRuns.list(100)
  assert.equal(runs.length, 8)
  assert.ok(runs.some(({ run }) => run === 'program-19'))
  clock.pass(seconds(300))
  presence.opened(ROUTER, 'program-99', 'feed-99')
  await presence.flush()
  assert.deepEqual(
    (await store.routerRuns.list(100)).map(({ run }) => run),
    ['program-99'],
  )
})
