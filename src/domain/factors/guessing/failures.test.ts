/** Failed logins per address: D-22. Only failures count, for one minute, and separately for each network. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts'
import { milliseconds, minutes, seconds } from '../../../base/time/duration.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { createAddressFailures } from './failures.ts'

const LIMIT = 3

function world(limit = LIMIT) {
  const clock = new ManualClock()
  const failures = createAddressFailures({ limit, clock })
  const add = (address: string) => failures.guard(address, async (fail) => fail())
  const fail = async (address: string, times = 1) => {
    for (let i = 0; i < times; i++) await add(address)
  }
  /** `taken`, or the number of seconds after which to try again. */
  const ask = async (address: string): Promise<'taken' | number> => {
    try {
      return await failures.guard(address, async () => 'taken' as const)
    } catch (error) {
      assert.ok(error instanceof Failure, String(error))
      assert.equal(error.code, 'RATE_LIMITED')
      return error.retryAfterSeconds ?? assert.fail('it says when to come again')
    }
  }
  return { clock, failures, fail, ask, add }
}

test('D-22: refuses an address that reached its limit for the rest of the minute', async () => {
  const { clock, fail, ask } = world()
  await fail('192.0.2.1', LIMIT - 1)
  assert.equal(await ask('192.0.2.1'), 'taken')
  clock.pass(seconds(20))
  await fail('192.0.2.1')
  assert.equal(await ask('192.0.2.1'), 40)
  clock.pass(milliseconds(39_500))
  assert.equal(await ask('192.0.2.1'), 1)
  clock.pass(milliseconds(500))
  assert.equal(await ask('192.0.2.1'), 'taken')
})

test('D-22: the time to wait is at least one second, and never beyond the minute', async () => {
  const { clock, fail, ask } = world()
  await fail('192.0.2.1', LIMIT)
  assert.equal(await ask('192.0.2.1'), 60)
  clock.pass(milliseconds(59_999))
  assert.equal(await ask('192.0.2.1'), 1)
})

test('D-22: guesses that do not fail never count', async () => {
  const { ask } = world()
  for (let i = 0; i < LIMIT * 3; i++) assert.equal(await ask('192.0.2.1'), 'taken')
})

test('D-22: failures of one minute do not count in the next', async () => {
  const { clock, fail, ask } = world()
  await fail('192.0.2.1', LIMIT - 1)
  clock.pass(minutes(1))
  await fail('192.0.2.1')
  assert.equal(await ask('192.0.2.1'), 'taken')
})

test('D-22: one address does not block another', async () => {
  const { fail, ask } = world()
  await fail('192.0.2.1', LIMIT)
  assert.notEqual(await ask('192.0.2.1'), 'taken')
  assert.equal(await ask('192.0.2.2'), 'taken')
  assert.equal(await ask('2001:db8::1'), 'taken')
})

test('D-22: counts the addresses of an IPv6 /64 together', async () => {
  // Attack: the attacker uses a new address of the same network for each guess.
  const { fail, ask } = world()
  for (let i = 1; i <= LIMIT; i++) await fail(`2001:db8:0:1::${i}`)
  assert.notEqual(await ask('2001:db8:0:1:ffff::9'), 'taken')
  assert.notEqual(await ask('2001:DB8:0:1:0:0:0:7'), 'taken')
  assert.equal(await ask('2001:db8:0:2::1'), 'taken')
})

test('D-22: an IPv4-mapped IPv6 address counts as the IPv4 address, not as part of a shared /64', async () => {
  const { fail, ask } = world()
  await fail('::ffff:192.0.2.1', LIMIT)
  assert.notEqual(await ask('192.0.2.1'), 'taken')
  assert.notEqual(await ask('::ffff:c000:201'), 'taken')
  assert.equal(await ask('::ffff:192.0.2.2'), 'taken')
})

test('counts a text that is not an address by its value', async () => {
  const { fail, ask } = world()
  await fail('somewhere', LIMIT)
  assert.notEqual(await ask('somewhere'), 'taken')
  assert.equal(await ask('elsewhere'), 'taken')
})

/** A guess whose outcome the test decides. */
function guessOf(failures: ReturnType<typeof world>['failures'], address: string) {
  const { promise, resolve } = Promise.withResolvers<'right' | 'wrong'>()
  let isJudged = false
  const outcome = failures
    .guard(address, async (fail) => {
      isJudged = true
      const verdict = await promise
      if (verdict === 'wrong') fail()
      return verdict
    })
    .catch((error: unknown) => {
      assert.ok(error instanceof Failure, String(error))
      return error.code
    })
  return { decide: resolve, outcome, isJudged: () => isJudged }
}

test('R079: checks at most as many parallel guesses as may fail', async () => {
  // Attack: many parallel guesses, each of which reads the count from before the others.
  const { failures } = world()
  const guesses = Array.from({ length: 20 }, () => guessOf(failures, '192.0.2.1'))
  await new Promise(setImmediate)
  assert.equal(guesses.filter(({ isJudged }) => isJudged()).length, LIMIT)
  for (const guess of guesses) guess.decide('wrong')
  const outcomes = await Promise.all(guesses.map(({ outcome }) => outcome))
  assert.equal(outcomes.filter((outcome) => outcome === 'wrong').length, LIMIT)
  assert.equal(outcomes.filter((outcome) => outcome === 'RATE_LIMITED').length, 20 - LIMIT)
})

test('R078: accepts any number of parallel correct guesses, and counts none of them', async () => {
  const { failures, fail, ask } = world()
  await fail('192.0.2.1', LIMIT - 1)
  const guesses = Array.from({ length: 20 }, () => guessOf(failures, '192.0.2.1'))
  await new Promise(setImmediate)
  assert.equal(guesses.filter(({ isJudged }) => isJudged()).length, 1)
  for (const guess of guesses) guess.decide('right')
  const outcomes = await Promise.all(guesses.map(({ outcome }) => outcome))
  assert.deepEqual(new Set(outcomes), new Set(['right']))
  assert.equal(await ask('192.0.2.1'), 'taken')
})

test('releases the reserved failure of a guess that was not checked', async () => {
  const { failures, ask } = world(1)
  const shed = failures.guard('192.0.2.1', () => Promise.reject(new Error('shed')))
  await assert.rejects(shed, /shed/)
  assert.equal(await ask('192.0.2.1'), 'taken')
})

test('bounds how many guesses wait for the outcome of others', async () => {
  const { failures } = world(1)
  const first = guessOf(failures, '192.0.2.1')
  const others = Array.from({ length: 65 }, () => guessOf(failures, '192.0.2.1'))
  const elsewhere = guessOf(failures, '192.0.2.2')
  for (const guess of [first, ...others, elsewhere]) guess.decide('wrong')
  const outcomes = await Promise.all(others.map(({ outcome }) => outcome))
  assert.equal(outcomes.filter((outcome) => outcome === 'SERVER_TOO_BUSY').length, 1)
  assert.equal(outcomes.filter((outcome) => outcome === 'RATE_LIMITED').length, 64)
  assert.equal(await elsewhere.outcome, 'wrong')
})

test('D-22: counts nothing if the limit is 0', async () => {
  const { fail, ask } = world(0)
  await fail('192.0.2.1', 1_000)
  assert.equal(await ask('192.0.2.1'), 'taken')
})

test('bounds its memory: forgets the address whose last failure is the oldest', async () => {
  // Attack: failures from ever new addresses fill the memory of the process.
  const { fail, ask, add } = world(2)
  await fail('192.0.2.1')
  await fail('192.0.2.2', 2)
  await fail('192.0.2.1')
  for (let i = 0; i < 99_999; i++) await add(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  assert.notEqual(await ask('192.0.2.1'), 'taken')
  assert.equal(await ask('192.0.2.2'), 'taken')
})
