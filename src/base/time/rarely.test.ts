import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { milliseconds, seconds } from './duration.ts'
import { atMostEvery } from './rarely.ts'

const LIMITS = { interval: seconds(1), timeLimit: seconds(60) }

test('however many ask, the question is asked once in an interval', async () => {
  const clock = new ManualClock()
  let asked = 0
  const ask = atMostEvery({ ...LIMITS, clock }, async () => ++asked)
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [1, 1, 1])
  clock.pass(milliseconds(999))
  assert.equal(await ask(), 1)
  clock.pass(milliseconds(1))
  assert.equal(await ask(), 2)
})

test('a failure is reported to every waiting caller, and the next one tries again', async () => {
  const clock = new ManualClock()
  let isDown = true
  const ask = atMostEvery({ ...LIMITS, clock }, async () => {
    if (isDown) throw new Error('it is down')
    return 'well'
  })
  await Promise.all([1, 2].map(() => assert.rejects(ask(), { message: 'it is down' })))
  isDown = false
  assert.equal(await ask(), 'well')
})

test('no caller waits longer than the limit, and a running query is not repeated', async () => {
  const clock = new ManualClock()
  let asked = 0
  let answer = (_: string) => {}
  const ask = atMostEvery({ ...LIMITS, timeLimit: milliseconds(20), clock }, () => {
    asked += 1
    return new Promise<string>((resolve) => {
      answer = resolve
    })
  })
  await assert.rejects(ask(), { message: 'it took too long' })
  await assert.rejects(ask(), { message: 'it took too long' })
  assert.equal(asked, 1)
  answer('late')
  assert.equal(await ask(), 'late')
  assert.equal(asked, 1)
})
