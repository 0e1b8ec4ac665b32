/**
 * R077, by measurement. Attack: whoever measures how long a refusal takes learns which names exist, are disabled or may
 * use passwords. All are tried in turn within one run, so that whatever else the machine does falls on all alike; what
 * is compared are medians, with each other and never with a clock.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { test } from 'node:test'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const ROUNDS = 25
/** Without the work of a hash, a refusal takes a tenth of the time or less. */
const NOISE = 1.6

const PASSWORD = 'a password of somebody'

test('R077: no reason for a refused login shows in the time that it takes', async (t) => {
  // One place for hashing, so that no two of them disturb each other.
  const config = { edge: { limits: { failuresPerAddress: 0 }, passwords: { hashing: 1 } } }
  const service = await startService(t, { config, hashing: 'as shipped' })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const kept: typeof service = {
    ...service,
    call: (path, options) => service.call(path, { agent, ...options }),
  }
  const admin = await administrate(kept)
  const updb = { allowed: true, maxAttempts: 0 }
  const policy = await admin.createPolicy({ primary: { updb } })
  const locking = await admin.createPolicy({ primary: { updb: { ...updb, maxAttempts: 1 } } })
  const someone = (name: string, changes: object = {}) =>
    admin.createIdentity({ name, password: PASSWORD, policy, ...changes })
  await someone('ada')
  const disabled = await someone('bob')
  await admin.act('POST', `/identities/${disabled.id}/disable`)
  await someone('eve', { policy: 'production' })
  await someone('mallory', { policy: locking })

  const attempts = {
    'a wrong password': { username: 'ada', password: 'not the right one' },
    'an unknown name': { username: 'nobody', password: PASSWORD },
    'a disabled identity': { username: 'bob', password: PASSWORD },
    'a method that is not allowed': { username: 'eve', password: PASSWORD },
    'a locked password': { username: 'mallory', password: 'not the right one' },
  }
  const times = new Map<string, number[]>(Object.keys(attempts).map((what) => [what, []]))
  for (let round = 0; round < ROUNDS + 2; round++) {
    const inTurn = Object.entries(attempts)
    // Each of them is the first one now and then.
    for (let i = 0; i < round; i++) inTurn.push(...inTurn.splice(0, 1))
    for (const [what, credentials] of inTurn) {
      const { authRequestId } = await beginLogin(kept)
      const begun = performance.now()
      const reply = await submitPassword(kept, authRequestId, credentials)
      const took = performance.now() - begun
      assertRefused(reply, 401, 'INVALID_AUTH')
      // The first ones warm everything up.
      if (round >= 2) times.get(what)?.push(took)
    }
  }
  const medians = [...times].map(([what, all]) => [what, median(all)] as const)
  const typical = median(medians.map(([, time]) => time))
  for (const [what, time] of medians) {
    const ratio = time / typical
    assert.ok(ratio > 1 / NOISE && ratio < NOISE, `${what}: ${ratio} of the usual time`)
  }
})

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
