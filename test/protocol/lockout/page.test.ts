/**
 * What the sign-in page says after several failures: D-218, R077. Attack: the text of the page tells an attacker which
 * names exist, and which of them are locked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beginLogin } from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

/** The alerts of five attempts in one login. */
async function alertsOf(service: Service, username: string, password: string) {
  const { authRequestId } = await beginLogin(service)
  const alerts: string[] = []
  for (let i = 0; i < 5; i++) {
    const reply = await service.call('/oidc/login/username', {
      json: { authRequestId, username, password },
      headers: { accept: 'text/html' },
    })
    assert.equal(reply.status, 401, reply.text)
    alerts.push(/role="alert"[^>]*>([^<]*)</.exec(reply.text)?.[1] ?? '')
  }
  return alerts
}

test('after several failures the page gives every user the same advice: wait, or contact the administrator', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const policy = await admin.createPolicy({
    primary: { updb: { allowed: true, maxAttempts: 1, lockoutDurationMinutes: 60 } },
  })
  const [ada, locked, disabled] = [
    await admin.createIdentity({ password: PASSWORD }),
    await admin.createIdentity({ password: PASSWORD, policy }),
    await admin.createIdentity({ password: PASSWORD }),
  ]
  await alertsOf(service, locked.username, 'wrong')
  await admin.act('POST', `/identities/${disabled.id}/disable`)

  const expected = await alertsOf(service, ada.username, 'wrong')
  for (const alert of expected.slice(0, 2)) assert.doesNotMatch(alert, /administrator/)
  for (const alert of expected.slice(2)) {
    assert.match(alert, /wait a while before you try again, or contact your administrator/)
  }
  assert.deepEqual(await alertsOf(service, 'nobody', 'wrong'), expected)
  assert.deepEqual(await alertsOf(service, locked.username, PASSWORD), expected)
  assert.deepEqual(await alertsOf(service, disabled.username, PASSWORD), expected)
})
