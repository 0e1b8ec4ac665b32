/**
 * Through an external IdP in a real browser: from the application to our page, to the pages of another origin and back.
 * D-47, D-155, D-156, D-157. The IdP is the library oidc-provider.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openLogin, sendCode, sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { registerCa } from '../support/certificates/certificate-login.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { ANY_JWT } from '../support/idp/jwt-login.ts'
import { API, APP, startRealIdp } from '../support/idp/real-idp.ts'
import { authenticatorApp } from '../support/login/authenticator-app.ts'
import type { Tokens } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { startService } from '../support/service.ts'

const PASSWORD = 'a password of somebody'
const NAME = 'Example & Sons'

test('a user logs in through an identity provider', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const admin = await administrate(service)
  const redirectUris = [`${service.baseUrl}/oidc/login/ext-jwt/callback`]
  const idp = await startRealIdp(t, 'ES256', { redirectUris, hasPages: true })
  const { issuer, jwksEndpoint } = idp
  const signer = await admin.createSigner({
    name: NAME,
    issuer,
    jwksEndpoint,
    externalAuthUrl: issuer,
    clientId: APP,
    audience: APP,
    targetToken: 'ID',
  })
  const browser = await launchChromium()
  t.after(() => browser.close())

  const open = (t: TestContext, profile: BrowserContextOptions = {}, method?: string) =>
    openLogin(t, browser, app, { profile, changes: method === undefined ? {} : { method } })
  const goThere = (page: Page) => page.getByRole('link', { name: `Continue with ${NAME}` }).click()

  /** At the pages of the IdP. */
  async function logInThere(page: Page, account: string): Promise<void> {
    await page.getByRole('heading', { name: 'The IdP' }).waitFor()
    assert.equal(new URL(page.url()).origin, issuer)
    await page.getByLabel('Account').fill(account)
    await page.getByRole('button', { name: 'Log in here' }).click()
  }

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? '' : ', without JavaScript too'
    for (const method of [undefined, 'ext-jwt']) {
      const from = method === undefined ? 'the page for the password' : 'the choice'
      await t.test(`from ${from} there and back to the application${how}`, async (t) => {
        const externalId = `zoe-${method}-${javaScriptEnabled}`
        const { id } = await admin.createIdentity({ externalId })
        const { page, complaints, arrive } = await open(t, { javaScriptEnabled }, method)
        const urls: string[] = []
        page.on('request', (request) => urls.push(request.url(), JSON.stringify(request.headers())))
        await goThere(page)
        await logInThere(page, externalId)
        assertLogin(await arrive(), id, ['ext-jwt'])
        assert.deepEqual(complaints, [])
        assert.ok(!urls.some((text) => ANY_JWT.test(text)), 'no token passes through the browser')
        const referers = app.answers.at(-1)?.headers.referer ?? ''
        assert.doesNotMatch(referers, /code=|state=/)
      })
    }
  }

  await t.test('nothing of the login is left in the cookies afterwards', async (t) => {
    await admin.createIdentity({ externalId: 'ute' })
    const { page, context, arrive } = await open(t)
    await goThere(page)
    await logInThere(page, 'ute')
    await arrive()
    const ours = (await context.cookies(service.baseUrl)).map(({ name }) => name)
    assert.deepEqual(ours, [])
  })

  await t.test('a user who cancels at the IdP sees that here and can choose again', async (t) => {
    const { id } = await admin.createIdentity({ externalId: 'carl' })
    const { page, arrive } = await open(t)
    await goThere(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    const alert = page.getByRole('alert')
    assert.match((await alert.textContent()) ?? '', /^The identity provider did not sign you in\./)
    assert.equal(await page.title(), 'Error: Choose how to sign in')
    await goThere(page)
    await logInThere(page, 'carl')
    assertLogin(await arrive(), id, ['ext-jwt'])
  })

  await t.test(
    'a user whom only the IdP knows does not get in, and may use a password',
    async (t) => {
      const person = await admin.createIdentity({ password: PASSWORD })
      const { page, arrive } = await open(t)
      await goThere(page)
      await logInThere(page, 'a-stranger')
      const alert = page.getByRole('alert')
      assert.match(
        (await alert.textContent()) ?? '',
        /^That account cannot be used to sign in here\./,
      )
      await page.getByRole('link', { name: 'Use a password instead' }).click()
      await sendPassword(page, person)
      assertLogin(await arrive(), person.id, ['pwd'])
    },
  )

  await t.test('after the password, as the second factor, and then an app is set up', async (t) => {
    const secondary = { requireExtJwt: signer, requireTotp: true }
    const policy = await admin.createPolicy({ secondary })
    const person = await admin.createIdentity({ password: PASSWORD, externalId: 'dora', policy })
    const { page, complaints, arrive } = await open(t)
    await sendPassword(page, person)
    await page.getByRole('heading', { name: 'One more sign-in' }).waitFor()
    await goThere(page)
    await logInThere(page, 'dora')
    await page.getByRole('button', { name: 'Set up the app' }).click()
    const link = page.getByRole('link', { name: 'Open in an app on this device' })
    const phone = authenticatorApp((await link.getAttribute('href')) ?? '', service.clock)
    await sendCode(page, phone.code())
    assertLogin(await arrive(), person.id, ['pwd', 'otp', 'ext-jwt', 'mfa'])
    assert.deepEqual(complaints, [])
  })

  await t.test('after the certificate, as the second factor', async (t) => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const ca = await openssl.makeCa()
    await registerCa(admin, openssl, ca)
    const { pem: certPem, keyPem } = await openssl.makeLeaf(ca)
    const policy = await admin.createPolicy({ secondary: { requireExtJwt: signer } })
    const person = await admin.createIdentity({ certPem, externalId: 'ines', policy })
    const cert = { origin: service.baseUrl, cert: Buffer.from(certPem), key: Buffer.from(keyPem) }
    const { page, complaints, arrive } = await open(t, { clientCertificates: [cert] })
    await page.getByRole('button', { name: 'Use my certificate' }).click()
    await page.getByRole('heading', { name: 'One more sign-in' }).waitFor()
    await goThere(page)
    await logInThere(page, 'ines')
    assertLogin(await arrive(), person.id, ['swk', 'ext-jwt', 'mfa'])
    assert.deepEqual(complaints, [])
  })

  await t.test(
    'going back and leaving again works; the first response is not accepted',
    async (t) => {
      const { id } = await admin.createIdentity({ externalId: 'emil' })
      const { page, arrive } = await open(t)
      await goThere(page)
      await page.getByRole('heading', { name: 'The IdP' }).waitFor()
      await page.goBack()
      await goThere(page)
      await logInThere(page, 'emil')
      assertLogin(await arrive(), id, ['ext-jwt'])
    },
  )

  await t.test("a link to the IdP does nothing in another person's browser", async (t) => {
    // Attack (D-10): somebody begins a login and sends the link to a person who has a session at the IdP.
    const attacker = await open(t)
    const href = await attacker.page
      .getByRole('link', { name: `Continue with ${NAME}` })
      .getAttribute('href')
    const victim = await open(t)
    await victim.page.goto(`${service.baseUrl}${href}`)
    await victim.page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor()
  })

  await t.test(
    'D-157: eight are shown beside the password, all of them on the page of the choice',
    async (t) => {
      for (let n = 1; n <= 8; n += 1) {
        const url = `https://idp-${n}.example`
        const name = `Other ${n}`
        await admin.createSigner({ issuer: url, externalAuthUrl: url, clientId: 'x', name })
      }
      const hidden = { issuer: 'https://off.example', clientId: 'x', enabled: false }
      await admin.createSigner({ ...hidden, externalAuthUrl: 'https://off.example', name: 'Off' })
      const { page } = await open(t)
      const links = page.getByRole('link', { name: /^Continue with/ })
      assert.equal(await links.count(), 8)
      await page.getByRole('link', { name: 'More ways to sign in' }).click()
      await page.getByRole('heading', { name: 'Choose how to sign in' }).waitFor()
      const names = await links.allTextContents()
      const others = Array.from({ length: 8 }, (_, i) => `Continue with Other ${i + 1}`)
      assert.deepEqual(names, [`Continue with ${NAME}`, ...others])
    },
  )
})

test('an access token of the IdP, asked for by a parameter of externalAuthUrl', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const admin = await administrate(service)
  const redirectUris = [`${service.baseUrl}/oidc/login/ext-jwt/callback`]
  const idp = await startRealIdp(t, 'RS256', { redirectUris, hasPages: true })
  const { issuer, jwksEndpoint, authorizationEndpoint } = idp
  await admin.createSigner({
    name: NAME,
    issuer,
    jwksEndpoint,
    externalAuthUrl: `${authorizationEndpoint}?resource=${encodeURIComponent(API)}`,
    clientId: APP,
    scopes: ['api'],
    audience: API,
  })
  const { id } = await admin.createIdentity({ externalId: 'zoe' })
  const browser = await launchChromium()
  t.after(() => browser.close())
  const { page, arrive } = await openLogin(t, browser, app)
  await page.getByRole('link', { name: `Continue with ${NAME}` }).click()
  await page.getByLabel('Account').fill('zoe')
  await page.keyboard.press('Enter')
  assertLogin(await arrive(), id, ['ext-jwt'])
})

function assertLogin({ access_token }: Tokens, id: string, methods: readonly string[]): void {
  const { sub, amr } = decodeJwt<{ amr: readonly string[] }>(access_token)
  assert.equal(sub, id)
  assert.deepEqual(amr, methods)
}
