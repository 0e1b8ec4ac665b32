/**
 * The ways through the pages of the own account, in a real browser without scripts, which has nothing to complain about on
 * any of them. D-161, D-162. What the pages are like is in accessibility.test.ts and pages.test.ts.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { minutes } from '../../src/base/time/duration.ts'
import { html } from '../../src/web/login/html.ts'
import { quietPage } from '../support/browser/browser-complaints.ts'
import { sendCode, sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startSite } from '../support/browser/site.ts'
import { registerCa } from '../support/certificates/certificate-login.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { APP, startRealIdp } from '../support/idp/real-idp.ts'
import { authenticatorApp, PASSWORD } from '../support/login/authenticator-app.ts'
import { administrate, type CreatedIdentity, logInAs } from '../support/management.ts'
import { startService } from '../support/service.ts'

const NEW_PASSWORD = 'quite another passphrase'

test("a user's own account in a browser", async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  const newPage = (t: TestContext, options: BrowserContextOptions = {}) =>
    quietPage(t, browser, { javaScriptEnabled: false, ...options })

  async function openAs(page: Page, person: CreatedIdentity, path = '/account'): Promise<void> {
    await page.goto(`${service.baseUrl}${path}`)
    await sendPassword(page, person)
    await page.waitForURL(`${service.baseUrl}${path}`)
  }

  const someone = () => admin.createIdentity({ password: PASSWORD })
  const open = (page: Page, name: string) =>
    page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
  const says = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

  // First: the clock of the provider stays behind when ours is moved.
  await t.test('a user signs in through an identity provider, and confirms there', async (t) => {
    const redirectUris = [`${service.baseUrl}/oidc/login/ext-jwt/callback`]
    const idp = await startRealIdp(t, 'ES256', { redirectUris, hasPages: true })
    const { issuer, jwksEndpoint } = idp
    const signer = { issuer, jwksEndpoint, externalAuthUrl: issuer, clientId: APP, audience: APP }
    await admin.createSigner({ ...signer, targetToken: 'ID', name: 'Example' })
    const person = await admin.createIdentity({ externalId: 'zoe' })
    const page = await newPage(t)
    await page.goto(`${service.baseUrl}/account/sessions`)
    await page.getByRole('link', { name: 'Continue with Example' }).click()
    await page.getByLabel('Account').fill('zoe')
    await page.getByRole('button', { name: 'Log in here' }).click()
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    assert.equal(page.url(), `${service.baseUrl}/account/sessions`, 'nothing of the way is left')
    await page.getByText('There are no other sessions.').waitFor()

    // D-183: the provider still knows the person, and asks all the same.
    await page.goto(`${service.baseUrl}/account/confirm?page=totp`)
    await page.getByRole('link', { name: 'Continue with Example' }).click()
    await page.getByRole('heading', { name: 'The IdP' }).waitFor()
    await page.getByLabel('Account').fill('zoe')
    await page.getByRole('button', { name: 'Log in here' }).click()
    await says(page, 'You can make changes for the next five minutes.')
    const sessions = await admin.get(`/identities/${person.id}/api-sessions`)
    assert.deepEqual(
      sessions.map(({ amr }: { readonly amr: readonly string[] }) => amr),
      [['ext-jwt']],
      'one session, by the one that came after',
    )
  })

  await t.test('a user changes the password and ends another session', async (t) => {
    const person = await someone()
    await logInAs(service, person)
    const page = await newPage(t)
    await openAs(page, person)
    await open(page, 'Sessions')
    await page.getByRole('button', { name: /^Sign out the session of Unknown program/ }).click()
    await says(page, 'That session was signed out.')
    await page.getByText('There are no other sessions.').waitFor()

    await open(page, 'Password')
    await page.getByLabel('Current password').fill('wrong horse battery')
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD)
    await page.getByLabel('Confirm new password').fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('The current password is incorrect').waitFor()
    assert.equal(await page.locator(':focus').getAttribute('name'), 'currentPassword')
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD)
    await page.getByLabel('Confirm new password').fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await says(page, 'Your password was changed.')
    await page.reload()
    assert.equal(await page.getByRole('status').count(), 0, 'said once')
    await logInAs(service, { ...person, password: NEW_PASSWORD })
  })

  await t.test(
    'a user sets an app up, renews the recovery codes and removes the app',
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
      await page.getByRole('button', { name: 'Create new recovery codes' }).click()
      await page.getByRole('heading', { name: 'Your new recovery codes' }).waitFor()
      const codes = await page.locator('.codes code').allTextContents()
      assert.equal(codes.length, 20)
      await page.getByRole('link', { name: 'I have saved them' }).click()
      await field.last().fill(codes[0] ?? '')
      await page.getByRole('button', { name: 'Remove the app' }).click()
      await says(page, 'The app was removed.')
    },
  )

  await t.test('after a while a change needs another login, on the way and back', async (t) => {
    const person = await someone()
    await logInAs(service, person)
    const page = await newPage(t)
    await openAs(page, person, '/account/sessions')
    service.clock.advance(minutes(6))
    await page.getByRole('button', { name: 'Sign out all other sessions' }).click()
    await says(page, 'Nothing was changed.')
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await sendPassword(page, person)
    await says(page, 'You can make changes for the next five minutes.')
    await page.getByRole('button', { name: 'Sign out all other sessions' }).click()
    await says(page, 'All other sessions were signed out.')
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

  await t.test('a user signs in with the certificate that the browser has', async (t) => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const ca = await openssl.makeCa()
    await registerCa(admin, openssl, ca)
    const leaf = await openssl.makeLeaf(ca)
    const person = await admin.createIdentity({ certPem: leaf.pem })
    const page = await newPage(t, {
      clientCertificates: [
        { origin: service.baseUrl, cert: Buffer.from(leaf.pem), key: Buffer.from(leaf.keyPem) },
      ],
    })
    await page.goto(`${service.baseUrl}/account/password`)
    await page.getByRole('button', { name: 'Use my certificate' }).click()
    await page.getByText('Your account has no password.').waitFor()
    await open(page, 'Overview')
    await page.getByText(`Signed in as ${person.name}.`).waitFor()

    // D-162: who has no password confirms with the certificate.
    const [session] = await admin.get(`/identities/${person.id}/api-sessions`)
    assert.deepEqual(session.amr, ['swk'])
    service.clock.advance(minutes(6))
    await open(page, 'Authenticator app')
    await page.getByRole('link', { name: 'Sign in again' }).click()
    await page.getByRole('button', { name: 'Use my certificate' }).click()
    await says(page, 'You can make changes for the next five minutes.')
    await page.getByRole('button', { name: 'Set up an app' }).waitFor()
  })

  await t.test('a form that is sent twice is not an error for the user', async (t) => {
    const person = await someone()
    await logInAs(service, person)
    const page = await newPage(t)
    await openAs(page, person, '/account/sessions')
    await page.getByRole('button', { name: /^Sign out the session of/ }).dblclick()
    await page.getByText('There are no other sessions.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 1)
  })
})
