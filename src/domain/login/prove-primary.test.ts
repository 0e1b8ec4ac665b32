/** What refusals of a primary credential cost the store: D-207. The verdicts have tests of their own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { CALLER, refusalOf } from '../../../test/support/people.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { auditPorts } from '../audit/ports.ts'
import { createGuessOrder } from '../factors/guessing/guess-order.ts'
import type { Stores, Transaction } from '../stores.ts'
import type { LoginPorts } from './ports.ts'
import { provePrimary } from './prove-primary.ts'

function setUp() {
  const clock = new ManualClock()
  let running = 0
  let most = 0
  let written = 0
  const transaction: Transaction = async (work) => {
    running += 1
    most = Math.max(most, running)
    await new Promise(setImmediate)
    const insert = async () => {
      written += 1
    }
    const outcome = await work({ events: { insert } } as unknown as Stores)
    running -= 1
    return outcome
  }
  const ports = fakePorts<LoginPorts>({
    ...auditPorts({ clock, random: systemRandom }),
    beginGuess: createGuessOrder(),
    rules: { isStale: () => false },
    transaction,
  })
  const tryCertificate = (address: string) =>
    refusalOf(
      provePrimary(ports, {
        credential: { method: 'cert', chain: undefined },
        bearers: [],
        caller: { ...CALLER, address },
      }),
    )
  return { tryCertificate, most: () => most, written: () => written }
}

// Attack: nothing limits how often a certificate is tried, and every refusal is a commit: with a thousand of them at once
// the connections to the database, and the row that counts the repeats, are taken from everybody else.
test('refusals of one network are written one after the other, and each is', async () => {
  const { tryCertificate, most, written } = setUp()
  const refusals = await Promise.all(Array.from({ length: 100 }, () => tryCertificate('192.0.2.1')))
  for (const { code } of refusals) assert.equal(code, 'INVALID_AUTH')
  assert.deepEqual([most(), written()], [1, 100])
})

test('refusals of other networks do not wait for them', async () => {
  const { tryCertificate, most } = setUp()
  const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8::2']
  await Promise.all(addresses.flatMap((address) => [address, address]).map(tryCertificate))
  assert.equal(most(), 3)
})
