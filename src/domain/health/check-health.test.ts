/** When an instance calls itself well: D-34, D-137. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { milliseconds, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { createCheckHealth, HEALTH_CHECKS } from './check-health.ts'

function world() {
  const clock = new ManualClock()
  const state = {
    commits: 0,
    touch: async () => {},
    areEndingsStale: false,
    areRulesStale: false,
    hasKey: true,
  }
  const stopping = new AbortController()
  const checkHealth = createCheckHealth({
    installation: {
      touch: () => {
        state.commits += 1
        return state.touch()
      },
    },
    endedSessions: { isStale: () => state.areEndingsStale },
    rules: { isStale: () => state.areRulesStale },
    signingKeys: { isUsable: async () => state.hasKey },
    stopping: stopping.signal,
    clock,
    timeLimit: milliseconds(20),
  })
  const unwell = async () =>
    (await checkHealth()).filter(({ healthy }) => !healthy).map(({ id }) => id)
  return { clock, state, stopping, checkHealth, unwell }
}

test('an instance that lacks nothing is well, and every check is shown', async () => {
  const { checkHealth, unwell } = world()
  assert.deepEqual(await unwell(), [])
  assert.deepEqual(
    (await checkHealth()).map(({ id }) => id),
    Object.keys(HEALTH_CHECKS),
  )
})

test('a copy of ended sessions that is too old is unhealthy', async () => {
  const { state, unwell } = world()
  state.areEndingsStale = true
  assert.deepEqual(await unwell(), ['ended-sessions'])
})

test('a copy of the rules that is too old is unhealthy: calls are refused then', async () => {
  const { state, unwell } = world()
  state.areRulesStale = true
  assert.deepEqual(await unwell(), ['rules'])
})

test('an instance without a usable signing key is unhealthy', async () => {
  const { state, unwell } = world()
  state.hasKey = false
  assert.deepEqual(await unwell(), ['signing-key'])
})

test('D-137: an instance that stops is unhealthy, so that load balancers leave', async () => {
  const { stopping, unwell } = world()
  stopping.abort()
  assert.deepEqual(await unwell(), ['serving'])
})

test('a store that cannot commit is unhealthy, and well again when it can', async () => {
  const { clock, state, unwell } = world()
  state.touch = async () => {
    throw new Error('the disk is full')
  }
  assert.deepEqual(await unwell(), ['store'])
  state.touch = async () => {}
  clock.pass(seconds(1))
  assert.deepEqual(await unwell(), [])
})

test('a store that does not answer in time is unhealthy, and is not asked twice at once', async () => {
  const { clock, state, unwell } = world()
  let answer = () => {}
  state.touch = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  assert.deepEqual(await unwell(), ['store'])
  clock.pass(seconds(5))
  assert.deepEqual(await unwell(), ['store'])
  assert.equal(state.commits, 1)
  answer()
  assert.deepEqual(await unwell(), [])
})

test('commits to the store at most twice a second, however many callers ask', async () => {
  // Attack: health checks need no credential, so a commit for each of them would be a tool to load the database.
  const { clock, state, checkHealth } = world()
  const answers = await Promise.all(Array.from({ length: 100 }, () => checkHealth()))
  assert.equal(state.commits, 1)
  assert.deepEqual(new Set(answers.map(([store]) => store?.checkedAt)), new Set([NOON]))
  clock.pass(milliseconds(499))
  const [before] = await checkHealth()
  assert.equal(before?.checkedAt, NOON)
  clock.pass(milliseconds(1))
  const [after] = await checkHealth()
  assert.equal(after?.checkedAt, plus(NOON, milliseconds(500)))
  assert.equal(state.commits, 2)
})
