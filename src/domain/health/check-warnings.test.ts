/** What an operator is warned of: D-362. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { minutes, seconds } from '../../base/time/duration.ts'
import { type Instant, minus } from '../../base/time/instant.ts'
import type { Events } from '../audit/stores.ts'
import { createCheckWarnings } from './check-warnings.ts'

function world() {
  const clock = new ManualClock()
  const state = { failing: 0, reads: 0, newest: new Map<string, Instant>(), isAway: false }
  const events: Pick<Events, 'list'> = {
    async list({ filter }) {
      state.reads += 1
      if (state.isAway) throw new Error('the database is away')
      const asked = JSON.stringify(filter)
      const [, at] = [...state.newest].find(([type]) => asked.includes(type)) ?? []
      const rows = at === undefined ? [] : [{ at } as never]
      return { rows, totalCount: rows.length }
    },
  }
  const notices = { failing: () => state.failing }
  return { clock, state, check: createCheckWarnings({ clock, events, notices }), events }
}

test('warns while a link waits for another attempt', async () => {
  const { state, check } = world()
  assert.deepEqual(await check(), [])
  state.failing = 1
  assert.deepEqual(await check(), ['notifications'])
})

test('warns if the last delivery was given up, until one succeeds', async () => {
  const { clock, state, check } = world()
  state.newest.set('notification.failed', minus(clock.now(), minutes(2)))
  assert.deepEqual(await check(), ['notifications'])
  clock.pass(seconds(10))
  state.newest.set('notification.delivered', minus(clock.now(), minutes(1)))
  assert.deepEqual(await check(), [])
})

test('reads the database at most every ten seconds, and says nothing while it is away', async () => {
  // Attack: health checks need no credential, so a query for each of them would be a tool to load the database.
  const { clock, state, check } = world()
  for (let i = 0; i < 50; i++) await check()
  assert.equal(state.reads, 1)
  clock.pass(seconds(10))
  state.isAway = true
  assert.deepEqual(await check(), [])
})

test('without a webhook there is nothing to warn of, and nothing is read', async () => {
  const { clock, state, events } = world()
  const check = createCheckWarnings({ clock, events, notices: undefined })
  assert.deepEqual(await check(), [])
  assert.equal(state.reads, 0)
})
