/** Live sessions over time: D-361. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { minutes } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { createSampleSessions } from './session-samples.ts'
import type { SessionSample } from './stores.ts'

test('the first instance counts the sessions of a quarter of an hour, and the others do not', async () => {
  const clock = new ManualClock()
  const samples = new Map<Instant, SessionSample>()
  let counts = 0
  const ports = {
    clock,
    apiSessions: { countLive: async () => ({ oidc: ++counts, legacy: 0 }) },
    sessionSamples: {
      has: async (at: Instant) => samples.has(at),
      insert: async (sample: SessionSample) => {
        samples.set(sample.at, sample)
      },
    },
  }
  const [one, other] = [createSampleSessions(ports), createSampleSessions(ports)]
  for (let minute = 0; minute < 30; minute++) {
    await one()
    await other()
    clock.pass(minutes(1))
  }
  assert.deepEqual(
    [...samples.values()],
    [
      { at: NOON, oidc: 1, legacy: 0 },
      { at: plus(NOON, minutes(15)), oidc: 2, legacy: 0 },
    ],
  )
})
