/**
 * The pages of the own account in a real browser, without scripts: the ways through them, the keyboard, and what axe finds in
 * light, in dark and on a small screen. D-161, D-162; WCAG 2.2.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { minutes } from '../../src/base/duration.ts'
import { html } from '../../src/web/login/html.ts'
import { authenticatorApp, PASSWORD } from '../support/authenticator-app.ts'
import { checkWithAxe } from '../support/axe.ts'
import { sendCode, sendPassword } from '../support/browser-login.ts'
import { launchChromium } from '../support/chromium.ts'
import { administrate, type CreatedIdentity, logInAs } from '../support/management.ts'
import { openOpenssl } from '../support/openssl.ts'
import { startService } from '../support/service.ts'
import { startSite } from '../support/site.ts'

const NEW_PASSWORD = 'quite another passphrase'

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: 'light', viewport: { width: 1000, height: 700 } },
  dark: { colorScheme: 'dark', viewport: { width: 320, height: 600 } },
}

/** Where pictures of the pages go, for people to look at. */
const PICTURES = process.env['TEST_PICTURES']

const USABLE = 'a[href], button, summary, input:not([type=hidden]):not([hidden])'

test('the own account in a browser', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()

  async function newPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
    const profile = { ignoreHTTPSErrors: true, javaScriptEnabled: false }
    const context = await browser.newContext({ ...profile, ...options })
    t.after(() => context.close())
    return context.newPage()
  }

  async function openAs(page: Page, person: CreatedIdentity, path = '/account'): Promise<void> {
    await page.goto(`${service.baseUrl}${path}`)
    await sendPassword(page, person)
    await page.waitForURL(`${service.baseUrl}${path}`)
  }

  const someone = () => admin.createIdentity({ password: PASSWORD })
  const open = (page: Page, name: string) =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
  const says = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

  await t.test('a person changes the password and ends another session', async (t) => {
    const person = await someone()
    await logInAs(service, person)
    const page = await newPage(t)
    await openAs(page, person)
    await open(page, 'Sessions')
    await page.getByRole('button', { name: /^End the session of Unknown program/ }).click()
    await says(page, 'That session has ended.')
    await page.getByText('There are no others.').waitFor()

    await open(page, 'Password')
    await page.getByLabel('Present password').fill('wrong horse battery')
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD)
    await page.getByLabel('New password, once more').fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('That is not your present password').waitFor()
    assert.equal(await page.locator(':focus').getAttribute('name'), 'currentPassword')
    await page.getByLabel('Present password').fill(PASSWORD)
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD)
    await page.getByLabel('New password, once more').fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await says(page, 'Your password is another one now.')
    await page.reload()
    assert.equal(await page.getByRole('status').count(), 0, 'said once')
    await logInAs(service, { ...person, password: NEW_PASSWORD })
  })

  await t.test(
    'a person sets an app up, renews the recovery codes and removes the app',
    async (t) => {
      const person = await someone()
      const page = await newPage(t)
      await openAs(page, person, '/account/totp')
      await page.getByRole('button', { name: 'Set up an app' }).click()
      await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
      const link = page.getByRole('link', { name: 'Open in an app on this device' })
      const app = authenticatorApp((await link.getAttribute('href')) ?? '', service.clock)
      assert.equal(await sendCode(page, app.wrongCode()), 400)
      await page.getByRole('alert').waitFor()
      assert.equal(await sendCode(page, app.code()), 303)
      await says(page, 'Your app is set up.')

      const field = page.getByLabel('Code from the app, or a recovery code')
      await field.first().fill(app.nextCode())
      await page.getByRole('button', { name: 'Make new recovery codes' }).click()
      await page.getByRole('heading', { name: 'Your new recovery codes' }).waitFor()
      const codes = await page.locator('.codes code').allTextContents()
      assert.equal(codes.length, 20)
      await page.getByRole('link', { name: 'I have saved them' }).click()
      await field.last().fill(codes[0] ?? '')
      await page.getByRole('button', { name: 'Remove the app' }).click()
      await says(page, 'The app is removed.')
    },
  )

  await t.test('after a while a change needs another login, on the way and back', async (t) => {
    const person = await someone()
    await logInAs(service, person)
    const page = await newPage(t)
    await openAs(page, person, '/account/sessions')
    service.clock.advance(minutes(6))
    await page.getByRole('button', { name: 'End all other sessions' }).click()
    await says(page, 'Nothing was changed.')
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await sendPassword(page, person)
    await says(page, 'You can make changes for the next five minutes.')
    await page.getByRole('button', { name: 'End all other sessions' }).click()
    await says(page, 'All other sessions have ended.')
  })

  await t.test(
    'signing out leaves nothing behind, and the back button shows nothing',
    async (t) => {
      const page = await newPage(t)
      await openAs(page, await someone())
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Signed out' }).waitFor()
      const cookies = await page.context().cookies()
      assert.deepEqual(
        cookies.filter(({ name }) => name === '__Host-latchkey-account'),
        [],
      )
      await page.goBack()
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    },
  )

  await t.test('two tabs that begin at once both arrive', async (t) => {
    const person = await someone()
    const first = await newPage(t)
    const second = await first.context().newPage()
    await first.goto(`${service.baseUrl}/account`)
    await second.goto(`${service.baseUrl}/account/password`)
    await sendPassword(first, person)
    await first.getByRole('heading', { name: 'Overview' }).waitFor()
    await sendPassword(second, person)
    await second.getByRole('heading', { name: 'Password' }).waitFor()
  })

  await t.test('a form of another site changes nothing', async (t) => {
    // Attack: CSRF, in a browser that really has the cookie. Lax keeps it from a foreign POST, and the origin is refused.
    const person = await someone()
    const page = await newPage(t)
    await openAs(page, person)
    const target = `${service.baseUrl}/account/sign-out`
    const origin = await startSite(
      t,
      '127.0.0.1',
      () => html`<form method="post" action="${target}"><button>Win a prize</button></form>`,
    )
    await page.goto(origin)
    const [response] = await Promise.all([
      page.waitForResponse(target),
      page.getByRole('button').click(),
    ])
    assert.equal(response.status(), 403)
    await page.goto(`${service.baseUrl}/account`)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  // Names that nobody can wrap, and everything that a page can show.
  const certPem = (await openssl.makeLeaf(ca)).pem
  const name = 'W'.repeat(120)
  const full = await admin.createIdentity({ name, password: PASSWORD, certPem })
  for (let n = 0; n < 2; n += 1) await logInAs(service, full)
  const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' }).click()
  const start = (page: Page) => page.getByRole('button', { name: 'Set up an app' }).click()
  const PAGES: Readonly<
    Record<string, readonly [path: string, heading: string, go?: (page: Page) => Promise<void>]>
  > = {
    overview: ['/account', 'Overview'],
    sessions: ['/account/sessions', 'Sessions'],
    password: ['/account/password', 'Password'],
    'password-refused': [
      '/account/password',
      'Password',
      async (page) => {
        await page.getByLabel('Present password').fill('x')
        await page.getByLabel('New password', { exact: true }).fill('x')
        await page.getByLabel('New password, once more').fill('y')
        await page.getByRole('button', { name: 'Change the password' }).click()
        await page.getByRole('alert').waitFor()
      },
    ],
    'app-off': ['/account/totp', 'Authenticator app'],
    'app-set-up': ['/account/totp', 'Set up your app', start],
    certificate: ['/account/certificates', 'Certificate'],
    stale: [
      '/account/sessions',
      'Sessions',
      async (page) => {
        service.clock.advance(minutes(6))
        await page.reload()
      },
    ],
    'signed-out': ['/account', 'Signed out', signOut],
    refused: [
      '/account',
      'Not signed in',
      async (page) => {
        await page.goto(`${service.baseUrl}/account/callback?code=x&state=${'x'.repeat(22)}`)
      },
    ],
  }

  for (const [what, [path, heading, go]] of Object.entries(PAGES)) {
    await t.test(
      `the page ${what} has no fault that axe can find, and room for large letters`,
      async (t) => {
        for (const [look, options] of Object.entries(LOOKS)) {
          const page = await newPage(t, { ...options, javaScriptEnabled: true })
          const complaints: string[] = []
          page.on('console', (message) => complaints.push(message.text()))
          await openAs(page, full, path)
          await go?.(page)
          await page.getByRole('heading', { level: 1, name: heading }).waitFor()
          if (PICTURES !== undefined) {
            await page.screenshot({ path: join(PICTURES, `${what}-${look}.png`), fullPage: true })
          }
          const { violations, passed } = await checkWithAxe(page)
          assert.deepEqual(violations, [])
          assert.ok(passed >= 5, `only ${passed} rules were looked at`)
          // WCAG 2.2, 1.4.10 and 1.4.4: nothing is cut off sideways.
          const widthOf = () => page.locator('html').evaluate((element) => element.scrollWidth)
          const width = options.viewport?.width
          assert.equal(await widthOf(), width)
          if (look === 'light') {
            await page.evaluate("document.documentElement.style.fontSize = '200%'")
            assert.equal(await widthOf(), width)
          }
          const faults = complaints.filter((text) => /content security policy/i.test(text))
          assert.deepEqual(faults, [], 'the content security policy allows all that the page has')
        }
      },
    )

    await t.test(`on the page ${what} Tab reaches everything in its order`, async (t) => {
      const page = await newPage(t)
      await openAs(page, full, path)
      await go?.(page)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor()
      const usable = await page
        .locator(USABLE)
        .evaluateAll((all) => all.map((one) => one.outerHTML))
      // From the top, wherever the page has put the focus.
      await page.locator(USABLE).first().focus()
      const focus = page.locator(':focus')
      const reached = [await focus.evaluate((element) => element.outerHTML)]
      for (let n = 1; n < usable.length; n += 1) {
        await page.keyboard.press('Tab')
        reached.push(await focus.evaluate((element) => element.outerHTML))
        const outline = await focus.evaluate((element) => {
          const { outlineStyle, outlineWidth } =
            element.ownerDocument.defaultView?.getComputedStyle(element) ?? {}
          return `${outlineStyle} ${outlineWidth}`
        })
        assert.match(outline, /^solid [23]px$/, `${reached.at(-1)} is seen to be in focus`)
      }
      assert.deepEqual(reached, usable)
    })
  }
})
