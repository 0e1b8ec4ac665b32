/** A login form that a browser sends twice, without the script that prevents it: R028, D-344, D-427. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CookieBrowser, cookieBrowser } from '../../support/browser/cookie-browser.ts'
import type { Reply } from '../../support/http-client.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  totpPolicy,
} from '../../support/login/authenticator-app.ts'
import { startHeld } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

/** Sends a form twice at once. One completes the login; returns the page for the other one. */
async function sentTwice(
  browser: CookieBrowser,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<Reply> {
  const replies = await Promise.all([browser.post(path, form), browser.post(path, form)])
  const [done, late] = replies.toSorted((one, other) => one.status - other.status)
  assert.equal(done?.status, 302)
  assert.equal(late?.status, 400)
  assert.match(late.text, /<h1>This sign-in has ended<\/h1>/)
  return late
}

test('R028, D-344: of a form that is sent twice at once, one signs in and the other starts again', async (t) => {
  // With cheap hashing, the first one is done before the second one is read.
  const service = await startService(t, { hashing: 'as shipped' })
  const browser = cookieBrowser(service)
  const { authRequestId } = await browser.begin({ state: 'of the application' })
  const { username, password } = ADMIN
  const form = { authRequestId, username, password }
  const late = await sentTwice(browser, '/oidc/login/username', form)
  const link = /href="([^"]+)">Start again<\/a>/.exec(late.text)?.[1]
  assert.ok(link !== undefined, late.text)
  const again = new URL((await browser.get(link)).headers.location ?? '', service.baseUrl)
  const id = again.searchParams.get('authRequestID') ?? ''
  const answer = await browser.post('/oidc/login/username', { ...form, authRequestId: id })
  const { searchParams } = new URL(answer.headers.location ?? '')
  assert.equal(searchParams.get('state'), 'of the application')
})

test('D-427: of a code that is sent twice at once, one signs in and the other is not a wrong code', async (t) => {
  const { service, admin } = await startHeld(t)
  const policy = await totpPolicy(admin)
  const person = await enrolledPerson(service, admin, { policy })
  const newcomer = await admin.createIdentity({ password: PASSWORD, policy })

  async function partly({ username, password }: typeof newcomer) {
    const browser = cookieBrowser(service)
    const { authRequestId } = await browser.begin()
    const form = { authRequestId, username, password }
    assert.equal((await browser.post('/oidc/login/username', form)).status, 200)
    return { browser, authRequestId }
  }

  await t.test('of recovery', async () => {
    const { browser, authRequestId: id } = await partly(person)
    await sentTwice(browser, '/oidc/login/totp', { id, code: person.recoveryCodes[0] ?? '' })
  })

  await t.test('of the app', async () => {
    const { browser, authRequestId: id } = await partly(person)
    await sentTwice(browser, '/oidc/login/totp', { id, code: person.app.nextCode() })
  })

  await t.test('of an app that is set up', async () => {
    const { browser, authRequestId } = await partly(newcomer)
    const url = '/oidc/login/totp/enroll'
    const { text } = await browser.post(url, { authRequestId })
    const [, provisioningUrl = ''] = /"(otpauth:[^"]+)"/.exec(text) ?? []
    const app = authenticatorApp(provisioningUrl.replaceAll('&#38;', '&'), service.clock)
    await sentTwice(browser, `${url}/verify`, { authRequestId, code: app.code() })
  })

  const failed = await sql(service, "select details from events where type = 'login.failed'")
  assert.deepEqual(failed, [])
})
