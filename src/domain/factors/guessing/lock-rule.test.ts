/** How long a network is locked out: D-22, R078. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hours, minutes } from '../../../base/time/duration.ts'
import { instant, plus } from '../../../base/time/instant.ts'
import { lockRule } from './lock-rule.ts'

const NOON = instant(1_800_000_000_000)
const ruleOf = (lockoutDurationMinutes: number) =>
  lockRule({ maxAttempts: 10, lockoutDurationMinutes }, NOON)

test('the first lock lasts as long as the policy says, and each further one twice as long, up to a day', () => {
  const { lockUntil } = ruleOf(15)
  const expected = [15, 30, 60, 120, 240, 480, 960, 1_440, 1_440]
  for (const [i, length] of expected.entries()) {
    assert.equal(lockUntil(i + 1), plus(NOON, minutes(length)))
  }
  assert.equal(lockUntil(5_000), plus(NOON, hours(24)))
})

test('if the policy locks for more than a day, every lock has that length', () => {
  const { lockUntil } = ruleOf(60 * 36)
  for (const nth of [1, 2, 9]) assert.equal(lockUntil(nth), plus(NOON, hours(36)))
})

test('a length of 0 locks until an administrator unlocks', () => {
  const { lockUntil } = ruleOf(0)
  for (const nth of [1, 2]) assert.equal(lockUntil(nth), Date.UTC(9999, 11, 31, 23, 59, 59, 999))
})

test('R078: the ceiling is a hundred, whatever the policy says', () => {
  for (const maxAttempts of [1, 10, 1_000]) {
    assert.equal(lockRule({ maxAttempts, lockoutDurationMinutes: 1 }, NOON).ceiling, 100)
  }
})
