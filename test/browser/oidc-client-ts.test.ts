/**
 * A browser application with a library that knows nothing about us, oidc-client-ts, on an origin of its own: login,
 * refresh, userinfo, calls and logout over CORS. D-8, D-27, D-29, D-30, D-33; R112.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import {
  type BrowserApp,
  settled,
  signedIn,
  startBrowserApp,
} from '../support/browser/browser-app.ts'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { sendCode, sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { enrolledPerson } from '../support/login/authenticator-app.ts'
import { bearer, exchange } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { ADMIN, startService } from '../support/service.ts'

test('a browser application with oidc-client-ts', async (t) => {
  const listed = await startBrowserApp(t, '127.0.0.1')
  // It may be come back to, and its scripts may read nothing.
  const unlisted = await startBrowserApp(t, 'localhost')
  const unknown = await startBrowserApp(t, '127.0.0.1')
  const known = [listed, unlisted]
  const service = await startService(t, {
    config: {
      edge: { api: { corsOrigins: [listed.origin] } },
      web: [
        {
          name: 'default',
          bindPoints: [{ interface: '127.0.0.1:0', address: '127.0.0.1:0' }],
          apis: [
            { binding: 'edge-client' },
            { binding: 'edge-management' },
            {
              binding: 'edge-oidc',
              options: {
                redirectURIs: [
                  ...known.map(({ origin }) => `${origin}/callback`),
                  // For the login of the administrator who prepares the test.
                  'http://127.0.0.1:9876/callback',
                ],
                postLogoutURIs: known.map(({ origin }) => `${origin}/goodbye`),
              },
            },
          ],
        },
      ],
    },
  })
  for (const app of [listed, unlisted, unknown]) app.use(service.baseUrl)
  const browser = await launchChromium()
  t.after(() => browser.close())

  /** A fresh profile at the application, where nobody is signed in. */
  async function open(app: BrowserApp) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    t.after(() => context.close())
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    await page.goto(app.origin)
    assert.equal(await settled(page), 'nobody')
    return { page, complaints }
  }

  const statusOf = async (accessToken: string) =>
    (await service.call('/edge/client/v1/current-identity', bearer(accessToken))).status

  await t.test('a user logs in, is refreshed, calls the API and logs out', async () => {
    const { page, complaints } = await open(listed)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await sendPassword(page, ADMIN)
    await page.waitForURL((url) => url.origin === listed.origin)
    assert.equal(await settled(page), ADMIN.username)
    const first = await signedIn(page)
    assert.equal(first.profile['name'], ADMIN.username)
    // D-29: only userinfo says this.
    assert.equal(first.profile['is_admin'], true)

    await page.getByRole('button', { name: 'Refresh' }).click()
    const second = await signedIn(page)
    assert.notEqual(second.access_token, first.access_token)
    assert.notEqual(second.refresh_token, first.refresh_token)
    assert.notEqual(second.id_token, first.id_token)
    // R048.
    const [before, after] = [first, second].map(({ access_token }) => decodeJwt(access_token))
    assert.equal(after?.['z_asid'], before?.['z_asid'])
    assert.equal(after?.['auth_time'], before?.['auth_time'])

    await page.getByRole('button', { name: 'Call' }).click()
    await settled(page)
    const answer = JSON.parse((await page.locator('#answer').textContent()) ?? '')
    assert.equal(answer.status, 200)
    assert.equal(answer.name, ADMIN.username)
    // SPEC Response headers: readable for scripts of this origin too.
    assert.equal(Date.parse(answer.expiresAt), Number(decodeJwt(second.access_token).exp) * 1000)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(
      ({ origin, pathname }) => origin === listed.origin && pathname === '/goodbye',
    )
    assert.equal(await settled(page), 'nobody')
    assert.equal(await page.locator('#error').textContent(), '')
    assert.equal(await statusOf(second.access_token), 401)
    const form = { grant_type: 'refresh_token', refresh_token: second.refresh_token }
    const refused = await exchange(service, form)
    assert.equal(refused.status, 400)
    assert.equal(refused.json().error, 'invalid_grant')
    assert.deepEqual(complaints, [])
  })

  await t.test('a second factor on the way does not disturb the application', async () => {
    const person = await enrolledPerson(service, await administrate(service))
    const { page, complaints } = await open(listed)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await sendPassword(page, person)
    await sendCode(page, person.app.nextCode())
    await page.waitForURL((url) => url.origin === listed.origin)
    const { sub, amr } = decodeJwt<{ amr: readonly string[] }>((await signedIn(page)).id_token)
    assert.equal(sub, person.id)
    assert.deepEqual(amr, ['pwd', 'otp', 'mfa'])
    assert.deepEqual(complaints, [])
  })

  await t.test('R038: a used refresh token is not accepted from a thief', async () => {
    const { page } = await open(listed)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await sendPassword(page, ADMIN)
    await page.waitForURL((url) => url.origin === listed.origin)
    const first = await signedIn(page)
    await page.getByRole('button', { name: 'Refresh' }).click()
    await signedIn(page)
    const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token }
    assert.equal((await exchange(service, form)).json().error, 'invalid_grant')
  })

  await t.test('R112: a script of an origin that is not listed gets no tokens', async () => {
    // Attack: a foreign site that a person may be sent back to, by a mistake in the configuration, plays the client.
    const { page, complaints } = await open(unlisted)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await sendPassword(page, ADMIN)
    await page.waitForURL((url) => url.origin === unlisted.origin)
    assert.equal(await settled(page), 'nobody')
    assert.match((await page.locator('#error').textContent()) ?? '', /Failed to fetch/)
    assert.ok(complaints.some((complaint) => complaint.includes('CORS')))
  })

  await t.test('R005: an application that is not listed at all is not returned to', async () => {
    const { page } = await open(unknown)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Invalid return address' }).waitFor()
    assert.equal(new URL(page.url()).origin, service.baseUrl)
  })
})
