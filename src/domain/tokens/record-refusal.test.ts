/** What refused tokens cost the store: D-207. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { anOidcSession, CALLER } from '../../../test/support/people.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { auditPorts } from '../audit/ports.ts'
import { createGuessOrder } from '../factors/guessing/guess-order.ts'
import type { TokenPorts } from './ports.ts'
import { recordRefusal } from './record-refusal.ts'

// Attack: a token that was good once, shown again and again on many connections at once.
test('refusals of one network are written one after the other, and each is', async () => {
  let [running, most, written] = [0, 0, 0]
  const ports = fakePorts<TokenPorts>({
    ...auditPorts({ clock: new ManualClock(), random: systemRandom }),
    beginGuess: createGuessOrder(),
    events: {
      async insert() {
        running += 1
        most = Math.max(most, running)
        await new Promise(setImmediate)
        running -= 1
        written += 1
      },
    },
  })
  const { id: sessionId, identityId } = anOidcSession()
  const refusal = { identityId, sessionId, reason: 'refresh-token-spent', caller: CALLER } as const
  await Promise.all(Array.from({ length: 50 }, () => recordRefusal(ports, refusal)))
  assert.deepEqual([most, written], [1, 50])
})
