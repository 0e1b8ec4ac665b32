/** What refused tokens cost the store: D-207. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { anOidcSession, CALLER } from '../../../test/support/people.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { createRecordEvent } from '../audit/record.ts'
import { createRecordRefusal } from './record-refusal.ts'

// Attack: a token that was good once, shown again and again on many connections at once.
test('refusals of one network are written one after the other, and each is', async () => {
  let [running, most, written] = [0, 0, 0]
  const recordRefusal = createRecordRefusal({
    events: {
      async insert() {
        running += 1
        most = Math.max(most, running)
        await new Promise(setImmediate)
        running -= 1
        written += 1
      },
    },
    recordEvent: createRecordEvent({ clock: new ManualClock(), random: systemRandom }),
  })
  const { id: sessionId, identityId } = anOidcSession()
  const refusal = { identityId, sessionId, reason: 'refresh-token-spent', caller: CALLER } as const
  await Promise.all(Array.from({ length: 50 }, () => recordRefusal(refusal)))
  assert.deepEqual([most, written], [1, 50])
})
