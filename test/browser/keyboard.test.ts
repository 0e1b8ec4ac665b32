/** The keyboard alone: whole ways with it. That Tab reaches everything on every page is in pages.test.ts. WCAG 2.2, 2.1.1. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import { focused, openLogin } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { APP, startRealIdp } from '../support/idp/real-idp.ts'
import { authenticatorApp, PASSWORD } from '../support/login/authenticator-app.ts'
import { administrate, logInAs } from '../support/management.ts'
import { startService } from '../support/service.ts'

const NEW_PASSWORD = 'quite another passphrase'

test('the keyboard alone is enough', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  async function newPage(t: TestContext): Promise<Page> {
    const profile = { ignoreHTTPSErrors: true, javaScriptEnabled: false }
    const context = await browser.newContext(profile)
    t.after(() => context.close())
    return context.newPage()
  }

  await t.test('through an identity provider and back', async (t) => {
    const app = await startClientApp(t, service)
    const redirectUris = [`${service.baseUrl}/oidc/login/ext-jwt/callback`]
    const { issuer, jwksEndpoint } = await startRealIdp(t, 'ES256', {
      redirectUris,
      hasPages: true,
    })
    const signer = { issuer, jwksEndpoint, externalAuthUrl: issuer, clientId: APP, audience: APP }
    await admin.createSigner({ ...signer, targetToken: 'ID', name: 'A first one' })
    const { id } = await admin.createIdentity({ externalId: 'zoe' })
    const { page, arrive } = await openLogin(t, browser, app)
    await tabTo(page, 'Continue with A first one')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The IdP' }).waitFor()
    await page.locator('input:focus').waitFor()
    await page.keyboard.type('zoe')
    await page.keyboard.press('Enter')
    assert.equal(decodeJwt((await arrive()).access_token).sub, id)
  })

  await t.test("through the user's own account: in, every kind of change, and out", async (t) => {
    const person = await admin.createIdentity({ password: PASSWORD })
    await logInAs(service, person)
    const page = await newPage(t)
    const heading = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor()
    const says = (text: string) => page.getByRole('status').getByText(text).waitFor()
    await page.goto(`${service.baseUrl}/account`)
    // The page focuses its first field a moment after it has loaded; a test types faster than a person.
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(person.username)
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await heading('Overview')

    // Past the menu, which comes first on every page.
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').textContent(), 'Skip to content')
    await page.keyboard.press('Enter')
    assert.equal(await focused(page), 'content')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').textContent(), 'Sessions')
    await page.keyboard.press('Enter')
    await heading('Sessions')
    await tabTo(page, 'Sign out all other sessions')
    await page.keyboard.press('Space')
    await says('All other sessions were signed out.')

    await tabTo(page, 'Password', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await heading('Password')
    for (const text of [PASSWORD, NEW_PASSWORD, NEW_PASSWORD]) {
      await tabToField(page)
      await page.keyboard.type(text)
    }
    await page.keyboard.press('Enter')
    await says('Your password was changed.')

    await tabTo(page, 'Authenticator app', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await heading('Authenticator app')
    await tabTo(page, 'Set up an app')
    await page.keyboard.press('Enter')
    await heading('Set up your app')
    await tabTo(page, 'Open in an app on this device')
    const url = (await page.locator(':focus').getAttribute('href')) ?? ''
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('code.key').waitFor()
    await tabToField(page)
    await page.keyboard.type(authenticatorApp(url, service.clock).code())
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await says('Your app is set up.')

    await tabTo(page, 'Sign out', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await heading('Signed out')
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').textContent(), 'Sign in again')
  })
})

async function tabTo(page: Page, words: string, key = 'Tab'): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    await page.keyboard.press(key)
    if ((await page.locator(':focus').textContent()) === words) return
  }
  assert.fail(`${key} never reaches ${words}`)
}

async function tabToField(page: Page): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    await page.keyboard.press('Tab')
    if (await page.locator('input:focus').count()) return
  }
  assert.fail('Tab never reaches a field')
}
