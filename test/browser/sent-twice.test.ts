/**
 * A double click, or Enter pressed twice, on the forms that finish a login (D-427). The browser drops the response to
 * the first form, so the second one would find the login complete.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { codeField, openLogin, sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { enrolledPerson } from '../support/login/authenticator-app.ts'
import { administrate } from '../support/management.ts'
import { startService } from '../support/service.ts'

test('a login form is sent once, however often it is submitted, and again after Back', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const person = await enrolledPerson(service, await administrate(service))
  const browser = await launchChromium()
  t.after(() => browser.close())
  const { page, arrive, complaints } = await openLogin(t, browser, app)

  await page.getByLabel('Username').fill(person.username)
  await page.getByLabel('Password').fill(person.password)
  assert.deepEqual(await submissions(page), { twice: 1, restored: 1 })
  await page.reload()
  await sendPassword(page, person)
  await codeField(page).fill(person.app.nextCode())
  assert.deepEqual(await submissions(page), { twice: 1, restored: 1 })
  await page.evaluate("document.querySelector('form').submit()")
  await arrive()
  assert.deepEqual(complaints, [])
})

/** How many of two submissions the page lets through, at first and when the browser has restored it. Sends nothing. */
function submissions(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    let sent = 0
    addEventListener('submit', (event) => {
      if (!event.defaultPrevented) sent += 1
      event.preventDefault()
    })
    const submitTwice = () => {
      sent = 0
      document.querySelector('form').requestSubmit()
      document.querySelector('form').requestSubmit()
      return sent
    }
    const twice = submitTwice()
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))
    return { twice, restored: submitTwice() }
  })()`)
}
