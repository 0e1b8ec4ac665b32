/**
 * R077. Attack: whoever measures how long a refusal takes learns which names exist, are disabled or may use passwords.
 * Nearly all of that time is the hash of the password, then the transaction; both are counted, not timed, because a busy
 * machine would blur the difference. That a hash for an unknown name is as much work as any other: hashing.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startCollector } from '../../support/monitoring/collector.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

test('R077: no reason for a refused login shows in the work that it takes', async (t) => {
  const collector = await startCollector(t)
  const service = await startService(t, {
    config: {
      edge: { limits: { failuresPerAddress: 0 } },
      telemetry: { traces: { endpoint: collector.endpoint } },
    },
  })
  const admin = await administrate(service)
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
  const wrong = 'not the right one'

  const attempts = {
    'a wrong password': { username: 'ada', password: wrong },
    'an unknown name': { username: 'nobody', password: PASSWORD },
    'a disabled identity': { username: 'bob', password: PASSWORD },
    'a method that is not allowed': { username: 'eve', password: PASSWORD },
    'a password that is locked now': { username: 'mallory', password: wrong },
    'a locked password': { username: 'mallory', password: wrong },
  }
  for (const [what, credentials] of Object.entries(attempts)) {
    const { authRequestId } = await beginLogin(service)
    const reply = await submitPassword(service, authRequestId, credentials)
    assertRefused(reply, 401, 'INVALID_AUTH')
    const [, ...work] = await collector.traceOf(reply.headers['x-request-id'])
    assert.deepEqual(
      work.map(({ name }) => name),
      ['password hashing', 'transaction'],
      what,
    )
  }
})
