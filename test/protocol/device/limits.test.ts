/** What the device grant does not do for anybody: a certificate login approves nothing (D-444), and few devices wait (D-442). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { headingOf } from '../../support/login/account.ts'
import {
  answerDevice,
  approveDevice,
  askForDevice,
  assertPoll,
  confirmPath,
  poll,
  startDevice,
} from '../../support/login/device.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

test('D-444: a certificate login denies a device but does not approve it', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const leaf = await openssl.makeLeaf(ca)
  const person = await admin.createIdentity({ password: 'a good password', certPem: leaf.pem })
  const device = await startDevice(service)
  const shown = presenting(service, leaf)
  const browser = cookieBrowser(shown)
  const begun = await browser.get(confirmPath(device))
  const login = new URL(begun.headers.location ?? '', service.baseUrl)
  const authRequestId = login.searchParams.get('authRequestID') ?? ''
  const reply = await browser.post('/oidc/login/cert', { authRequestId })
  const { pathname, search } = new URL(reply.headers.location ?? '', service.baseUrl)
  assert.equal((await browser.get(`${pathname}${search}`)).status, 303)

  const refused = await answerDevice(shown, browser, device, 'approve')
  assert.equal(refused.status, 200, refused.text)
  assert.match(refused.text, /You signed in with a certificate, which the device does not have/)
  await assertPoll(service, device, 'authorization_pending')
  await approveDevice(service, device, person)
  assert.equal((await poll(service, device)).status, 200, 'the same person, another way')

  const unwanted = await startDevice(service)
  assert.equal((await answerDevice(shown, browser, unwanted, 'deny')).status, 303)
  assert.equal(headingOf((await browser.get('/device')).text), 'Device denied')
  await assertPoll(service, unwanted, 'access_denied')
})

test('D-442: at most 2,000 devices wait, whoever asked', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  await startDevice(service)
  await sql(
    service,
    `insert into device_codes
     with recursive others (n) as (select 1 union all select n + 1 from others where n < 1999)
     select 'hash-' || n, 'user-' || n, client_id, issuer, scopes, 'net-' || n, address, user_agent,
       requested_at, expires_at, poll_interval, polled_at, answer from device_codes, others`,
  )
  const refused = await askForDevice(service)
  assert.equal(refused.status, 503, refused.text)
  assert.equal(refused.json().error, 'temporarily_unavailable')
  assert.ok(Number(refused.headers['retry-after']) > 0)
  service.clock.advance(minutes(10))
  assert.equal((await askForDevice(service)).status, 200)
})
