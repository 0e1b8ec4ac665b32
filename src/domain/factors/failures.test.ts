/** Failed logins for each address: D-22. Only failures count, for a minute, and each network by itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { Failure } from '../../errors/catalogue.ts'
import { createAddressFailures } from './failures.ts'

const LIMIT = 3

function world(limit = LIMIT) {
  const clock = new ManualClock()
  const failures = createAddressFailures({ limit, clock })
  const fail = (address: string, times = 1) => {
    for (let i = 0; i < times; i++) failures.add(address)
  }
  /** `taken`, or after how many seconds to come again. */
  const ask = (address: string): 'taken' | number => {
    try {
      failures.check(address)
      return 'taken'
    } catch (error) {
      assert.ok(error instanceof Failure, String(error))
      assert.equal(error.code, 'RATE_LIMITED')
      return error.retryAfterSeconds ?? assert.fail('it says when to come again')
    }
  }
  return { clock, fail, ask, add: failures.add }
}

test('D-22: an address that has failed as often as it may is refused for the rest of the minute', () => {
  const { clock, fail, ask } = world()
  fail('192.0.2.1', LIMIT - 1)
  assert.equal(ask('192.0.2.1'), 'taken')
  clock.pass(seconds(20))
  fail('192.0.2.1')
  assert.equal(ask('192.0.2.1'), 40)
  clock.pass(milliseconds(39_500))
  assert.equal(ask('192.0.2.1'), 1)
  clock.pass(milliseconds(500))
  assert.equal(ask('192.0.2.1'), 'taken')
})

test('D-22: the time to wait is never less than a second, and never past the minute', () => {
  const { clock, fail, ask } = world()
  fail('192.0.2.1', LIMIT)
  assert.equal(ask('192.0.2.1'), 60)
  clock.pass(milliseconds(59_999))
  assert.equal(ask('192.0.2.1'), 1)
})

test('D-22: asking is no failure, however often', () => {
  const { ask } = world()
  for (let i = 0; i < LIMIT * 3; i++) assert.equal(ask('192.0.2.1'), 'taken')
})

test('D-22: failures of the minute before do not count in the next', () => {
  const { clock, fail, ask } = world()
  fail('192.0.2.1', LIMIT - 1)
  clock.pass(minutes(1))
  fail('192.0.2.1')
  assert.equal(ask('192.0.2.1'), 'taken')
})

test('D-22: one address does not stand in the way of another', () => {
  const { fail, ask } = world()
  fail('192.0.2.1', LIMIT)
  assert.notEqual(ask('192.0.2.1'), 'taken')
  assert.equal(ask('192.0.2.2'), 'taken')
  assert.equal(ask('2001:db8::1'), 'taken')
})

test('D-22: the addresses of one IPv6 network of 64 bits are one', () => {
  // Attack: a guesser takes a fresh address of his own network for each guess.
  const { fail, ask } = world()
  for (let i = 1; i <= LIMIT; i++) fail(`2001:db8:0:1::${i}`)
  assert.notEqual(ask('2001:db8:0:1:ffff::9'), 'taken')
  assert.notEqual(ask('2001:DB8:0:1:0:0:0:7'), 'taken')
  assert.equal(ask('2001:db8:0:2::1'), 'taken')
})

test('D-22: an IPv4 address is the same inside IPv6, and no network of others', () => {
  const { fail, ask } = world()
  fail('::ffff:192.0.2.1', LIMIT)
  assert.notEqual(ask('192.0.2.1'), 'taken')
  assert.notEqual(ask('::ffff:c000:201'), 'taken')
  assert.equal(ask('::ffff:192.0.2.2'), 'taken')
})

test('what is no address counts by its text', () => {
  const { fail, ask } = world()
  fail('somewhere', LIMIT)
  assert.notEqual(ask('somewhere'), 'taken')
  assert.equal(ask('elsewhere'), 'taken')
})

test('D-22: with the limit 0 nothing is counted', () => {
  const { fail, ask } = world(0)
  fail('192.0.2.1', 1_000)
  assert.equal(ask('192.0.2.1'), 'taken')
})

test('the memory is bounded: of very many addresses the one that failed longest ago is forgotten', () => {
  // Attack: failures from ever new addresses fill the memory of the process.
  const { fail, ask, add } = world(1)
  fail('192.0.2.1')
  fail('192.0.2.2')
  fail('192.0.2.1')
  for (let i = 0; i < 99_999; i++) add(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  assert.equal(ask('192.0.2.2'), 'taken')
  assert.notEqual(ask('192.0.2.1'), 'taken')
})
