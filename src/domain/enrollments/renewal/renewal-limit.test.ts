/** R099, D-130: renewals that are never confirmed are bounded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts'
import type { AuthenticatorId } from '../../../base/ids.ts'
import { minutes } from '../../../base/time/duration.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { createCountRenewal } from './renewal-limit.ts'

const [one, other] = ['one' as AuthenticatorId, 'other' as AuthenticatorId]

test('ten within an hour, and the next when the hour is over; others are not held up', async () => {
  const clock = new ManualClock()
  const count = createCountRenewal({ clock })
  for (let i = 0; i < 10; i++) {
    await count(one)
    clock.pass(minutes(1))
  }
  const refused = (error: unknown) => {
    assert.ok(error instanceof Failure)
    assert.equal(error.code, 'RATE_LIMITED')
    assert.equal(error.retryAfterSeconds, 50 * 60)
    return true
  }
  await assert.rejects(count(one), refused)
  await count(other)
  clock.pass(minutes(50))
  await count(one)
})
