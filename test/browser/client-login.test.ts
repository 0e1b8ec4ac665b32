/**
 * A program that logs a person in with a browser, through `latchkey/client`, in a real one: from the URL that it opens,
 * over the form, to the listener of the program. RFC 8252 §7.3; D-50 lets the form lead there.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { connectTo, whoIs } from '../support/client/client-sessions.ts'
import { ADMIN, startService } from '../support/service.ts'

test('a user logs in to a program with a browser', async (t) => {
  const service = await startService(t)
  const client = await connectTo(service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  const login = await client.beginBrowserLogin()
  // The CA of the service is not in the browser's store.
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  await page.goto(login.url)
  await page.getByLabel('Username').fill(ADMIN.username)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  const session = await login.finish()
  assert.equal(await whoIs(session), ADMIN.username)
  await page.getByText('You can close this window').waitFor()
  // The browser asks for an icon of the last page, whose listener is gone by then.
  const others = complaints.filter((text) => !/favicon|ERR_CONNECTION_REFUSED/.test(text))
  assert.deepEqual(others, [])
})
