/**
 * The ways to a passkey and back to one, in a real browser with a virtual authenticator: the link of an invitation and of
 * a reset, two keys, the other factor instead, and a site that only looks like ours. D-376, D-432, D-446, D-447.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { quietPage } from '../support/browser/browser-complaints.ts'
import { codeField, openLogin, sendPassword, tickSaved } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { plugIn } from '../support/browser/virtual-key.ts'
import { inviteNew } from '../support/certificates/enrollment.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { authenticatorApp, PASSWORD } from '../support/login/authenticator-app.ts'
import { resetLink } from '../support/login/invite.ts'
import { beginLogin } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { PASSKEY, passkeyOptions, passkeyPolicy } from '../support/passkeys/passkey-login.ts'
import { startService } from '../support/service.ts'

test('the ways to a passkey', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const admin = await administrate(service)
  const policy = await passkeyPolicy(admin)
  const eitherPolicy = await admin.createPolicy({
    primary: { updb: { allowed: true }, passkey: { allowed: true } },
    secondary: { requireTotpOrPasskey: true },
  })
  const browser = await launchChromium()
  t.after(() => browser.close())
  let uses = 0
  /** What a key holds now: it counts how often it was used. */
  const inUse = (credentials: readonly object[]) => {
    uses += 10
    return credentials.map((one) => ({ ...one, signCount: uses }))
  }

  const newPage = (t: TestContext) => quietPage(t, browser)

  async function choosePassword(page: Page, link: string, button: string): Promise<void> {
    await page.goto(link)
    await page.getByLabel('New password', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Confirm new password').fill(PASSWORD)
    await page.getByRole('button', { name: button }).click()
  }

  async function createPasskey(page: Page): Promise<void> {
    await page.getByRole('heading', { name: 'Create a passkey' }).waitFor()
    await tickSaved(page)
    await page.getByRole('button', { name: 'Create passkey' }).click()
  }

  async function setUpApp(page: Page) {
    await page.getByRole('button', { name: 'Set up the app' }).click()
    const url = await page.locator('a[href^="otpauth:"]').getAttribute('href')
    const app = authenticatorApp(url ?? '', service.clock)
    await codeField(page).fill(app.nextCode())
    await tickSaved(page)
    await page.getByRole('button', { name: 'Finish' }).click()
    return app
  }

  /** On the overview: its entry for passkeys. */
  const entry = (page: Page) => page.locator('.entries li').filter({ hasText: 'Passkeys' })

  await t.test('an invitation sets up the passkey that the policy demands', async (t) => {
    const { link } = await inviteNew(admin, { updb: 'ida' }, { authPolicyId: policy })
    const page = await newPage(t)
    await plugIn(page)
    await choosePassword(page, link, 'Save and sign in')
    await createPasskey(page)
    await page.waitForURL(`${service.baseUrl}/account`)
    await entry(page).filter({ hasText: 'You have one passkey.' }).waitFor()
    const offered = page.locator('.entries li').filter({ hasText: 'Authenticator app' })
    assert.match(await offered.innerText(), /Off/, 'a passkey is no app')
  })

  await t.test('an invitation leaves the choice that the policy leaves', async (t) => {
    const { link } = await inviteNew(admin, { updb: 'ivo' }, { authPolicyId: eitherPolicy })
    const page = await newPage(t)
    await plugIn(page)
    await choosePassword(page, link, 'Save and sign in')
    const instead = page.getByRole('link', { name: 'Use a passkey instead' })
    if ((await page.getByRole('heading', { level: 1 }).innerText()) !== 'Create a passkey') {
      await instead.click()
    }
    await createPasskey(page)
    await page.waitForURL(`${service.baseUrl}/account`)
  })

  await t.test('an invitation offers a passkey where the policy allows it alone', async (t) => {
    const { link } = await inviteNew(admin, { updb: 'ina' })
    const page = await newPage(t)
    await plugIn(page)
    await choosePassword(page, link, 'Save and create a passkey')
    await page.waitForURL(`${service.baseUrl}/account/passkeys`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await tickSaved(page)
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByText('Your passkey was added.').waitFor()
  })

  await t.test('the link of a reset replaces a lost passkey', async (t) => {
    const person = await admin.createIdentity({ password: PASSWORD, policy })
    const first = await openLogin(t, browser, app)
    const lost = await plugIn(first.page)
    await sendPassword(first.page, person)
    await createPasskey(first.page)
    await first.arrive()

    const page = await newPage(t)
    const key = await plugIn(page)
    await page.goto(await resetLink(admin, 'reset-mfa', person.id))
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Remove and continue' }).click()
    await createPasskey(page)
    await page.waitForURL(`${service.baseUrl}/account`)

    const found = await openLogin(t, browser, app)
    let sent = 0
    found.page.on('request', (request) => (sent += request.method() === 'POST' ? 1 : 0))
    await plugIn(found.page, inUse(await lost.credentials()))
    await found.page.getByRole('button', { name: 'Use a passkey' }).click()
    await found.page.getByRole('alert').filter({ hasText: 'cannot be used to sign in' }).waitFor()
    await found.page.waitForLoadState('networkidle')
    assert.equal(sent, 1, 'a key that answers by itself is not asked again and again')
    const next = await openLogin(t, browser, app)
    await plugIn(next.page, inUse(await key.credentials()))
    await next.page.getByRole('button', { name: 'Use a passkey' }).click()
    await next.arrive()
  })

  await t.test(
    'of two keys each signs in, and one still does when the other is removed',
    async (t) => {
      const person = await admin.createIdentity({ password: PASSWORD, policy })
      const page = await newPage(t)
      const one = await plugIn(page)
      await page.goto(`${service.baseUrl}/account/passkeys`)
      await sendPassword(page, person)
      await createPasskey(page)
      await page.getByRole('button', { name: 'Add a passkey' }).waitFor()
      const held = await one.credentials()
      await one.unplug()
      const other = await plugIn(page)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByLabel('Name').fill('The other one')
      await page.getByRole('button', { name: 'Create passkey' }).click()
      await page.getByRole('heading', { name: 'The other one' }).waitFor()
      const keys = [held, await other.credentials()] as const

      const signIn = async (credentials: readonly object[]) => {
        const login = await openLogin(t, browser, app)
        await plugIn(login.page, inUse(credentials))
        await login.page.getByRole('button', { name: 'Use a passkey' }).click()
        return login
      }
      for (const credentials of keys) await (await signIn(credentials)).arrive()

      const row = page.locator('li').filter({ hasText: 'The other one' })
      await row.getByText('Remove', { exact: true }).click()
      await other.unplug()
      await plugIn(page, inUse(keys[0]))
      await row.getByRole('button', { name: 'Remove, confirm with a passkey' }).click()
      await page.getByText('The passkey was removed.').waitFor()
      const { page: refused } = await signIn(keys[1])
      await refused.getByRole('alert').filter({ hasText: 'cannot be used to sign in' }).waitFor()
      await (await signIn(keys[0])).arrive()
    },
  )

  await t.test(
    'an app and a passkey stand in for each other, by the links of their pages',
    async (t) => {
      const person = await admin.createIdentity({ password: PASSWORD, policy: eitherPolicy })
      const page = await newPage(t)
      const key = await plugIn(page)
      await page.goto(`${service.baseUrl}/account/passkeys`)
      await sendPassword(page, person)
      await page.getByRole('heading', { level: 1 }).waitFor()
      // Setting up: from each page to the other.
      if ((await page.getByRole('heading', { level: 1 }).innerText()) === 'Create a passkey') {
        await page.getByRole('link', { name: 'Use an authenticator app instead' }).click()
      }
      await page.getByRole('link', { name: 'Use a passkey instead' }).click()
      await page.getByRole('heading', { name: 'Create a passkey' }).waitFor()
      await page.getByRole('link', { name: 'Use an authenticator app instead' }).click()
      const totp = await setUpApp(page)
      await page.getByRole('button', { name: 'Add a passkey' }).click()
      await page.getByRole('button', { name: 'Create passkey' }).click()
      await page.getByText('Your passkey was added.').waitFor()

      // Signing in: the passkey, then back and forth, and the app at last.
      const byApp = await openLogin(t, browser, app)
      await sendPassword(byApp.page, person)
      await byApp.page.getByRole('heading', { level: 1 }).waitFor()
      if (await byApp.page.getByRole('link', { name: 'Use a passkey instead' }).isVisible()) {
        await byApp.page.getByRole('link', { name: 'Use a passkey instead' }).click()
      }
      await byApp.page.getByRole('heading', { name: 'Use your passkey' }).waitFor()
      await byApp.page.getByRole('link', { name: 'Use an authenticator app instead' }).click()
      await codeField(byApp.page).fill(totp.nextCode())
      await byApp.page.keyboard.press('Enter')
      await byApp.arrive()
      const byKey = await openLogin(t, browser, app)
      await sendPassword(byKey.page, person)
      await byKey.page.getByRole('heading', { level: 1 }).waitFor()
      if (
        await byKey.page.getByRole('link', { name: 'Use an authenticator app instead' }).isVisible()
      ) {
        await byKey.page.getByRole('link', { name: 'Use an authenticator app instead' }).click()
      }
      await byKey.page.getByRole('link', { name: 'Use a passkey instead' }).click()
      await plugIn(byKey.page, inUse(await key.credentials()))
      await byKey.page.getByRole('button', { name: 'Use passkey' }).click()
      await byKey.arrive()
    },
  )

  await t.test(
    'what a page of another origin relays is refused, and its code says why',
    async (t) => {
      const person = await admin.createIdentity({ password: PASSWORD, policy })
      const { page, arrive } = await openLogin(t, browser, app)
      const key = await plugIn(page)
      await sendPassword(page, person)
      await createPasskey(page)
      await arrive()

      // What the attacker began elsewhere.
      const { authRequestId: id } = await beginLogin(service)
      const options = (await passkeyOptions(service, id)).json().publicKey
      // The same host on another port: browsers let it use the passkey, and write down its origin (WebAuthn §7.2).
      const evil = `https://${new URL(service.baseUrl).hostname}:4444`
      const lure = await newPage(t)
      await lure.route(`${evil}/**`, (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Sign in</title>' }),
      )
      await lure.goto(evil)
      await plugIn(lure, inUse(await key.credentials()))
      const credential = await lure.evaluate(
        `navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}) }).then((one) => one.toJSON())`,
      )
      const reply = await service.call(PASSKEY, { json: { id, credential } })
      assert.equal(reply.status, 401, reply.text)
      assert.equal(reply.json().error.code, 'INVALID_AUTH')
      const [event] = await admin.get('/events?filter=type="login.failed"')
      assert.equal(event.reason, 'passkey-invalid')
      assert.equal(event.details.why, 'origin')

      // A page of another host does not even get an answer: the browser refuses to ask the key.
      const other = 'https://evil.example'
      await lure.route(`${other}/**`, (route) =>
        route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Sign in</title>' }),
      )
      await lure.goto(other)
      const thrown = await lure.evaluate(
        `navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}) }).then(() => 'given', (error) => error.name)`,
      )
      assert.equal(thrown, 'SecurityError')
    },
  )
})
