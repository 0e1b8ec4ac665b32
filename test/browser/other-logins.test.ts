/**
 * The other ways in, as a person meets them in a real browser: the certificate that the browser has, and the page of
 * logins that an application finishes with a JWT. Both offer the password. SPEC Primary login; D-6, D-12, D-21.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { BrowserContextOptions, Page } from 'playwright-core'
import {
  codeField,
  focused,
  openLogin,
  sendCode,
  sendPassword,
} from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { registerCa } from '../support/certificates/certificate-login.ts'
import { type MadeCertificate, openOpenssl } from '../support/certificates/openssl.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { enrolledPerson } from '../support/login/authenticator-app.ts'
import type { Tokens } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { ADMIN, startService } from '../support/service.ts'

const NO_CERTIFICATE = /^Your browser did not send a certificate\./
const REFUSED = 'This certificate cannot be used to sign in here.'

test('a user logs in another way with a browser', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const admin = await administrate(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const browser = await launchChromium()
  t.after(() => browser.close())

  /** A profile with a certificate in it, which the browser shows without asking. */
  const having = ({ pem, keyPem }: MadeCertificate): BrowserContextOptions => ({
    clientCertificates: [
      { origin: service.baseUrl, cert: Buffer.from(pem), key: Buffer.from(keyPem) },
    ],
  })
  const open = (t: TestContext, profile: BrowserContextOptions, method?: string) =>
    openLogin(t, browser, app, { profile, changes: method === undefined ? {} : { method } })

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? '' : ', without JavaScript too'

    await t.test(
      `D-6: a browser that shows a certificate gets one button for it${how}`,
      async (t) => {
        const leaf = await openssl.makeLeaf(ca)
        const person = await admin.createIdentity({ certPem: leaf.pem })
        const { page, complaints, arrive } = await open(t, { ...having(leaf), javaScriptEnabled })
        assert.equal(new URL(page.url()).pathname, '/oidc/login/cert')
        assert.equal(await page.locator('input:visible').count(), 0)
        await page.getByRole('button', { name: 'Use my certificate' }).click()
        assertLogin(await arrive(), person.id, ['swk'])
        assert.deepEqual(complaints, [])
      },
    )

    await t.test(
      `D-6: without a certificate the page says so and offers the password${how}`,
      async (t) => {
        const { page, complaints, arrive } = await open(t, { javaScriptEnabled }, 'cert')
        await page.locator('main').getByText(NO_CERTIFICATE).waitFor()
        assert.equal(await page.locator('button, form').count(), 0, 'there is nothing to press')
        await page.getByRole('link', { name: 'Use a password instead' }).click()
        await sendPassword(page, ADMIN)
        assertLogin(await arrive(), await administratorId(), ['pwd'])
        assert.deepEqual(complaints, [])
      },
    )

    await t.test(`the page of the external JWT names who is accepted${how}`, async (t) => {
      const name = `Example & <Partners> ${javaScriptEnabled}`
      const issuer = `https://idp.example/${javaScriptEnabled}`
      await admin.createSigner({ issuer, name })
      const hidden = await admin.createSigner({
        issuer: `${issuer}/off`,
        name: `Off ${javaScriptEnabled}`,
        enabled: false,
      })
      const { page, complaints, arrive } = await open(t, { javaScriptEnabled }, 'ext-jwt')
      const names = await page.getByRole('listitem').allTextContents()
      assert.ok(names.includes(name))
      assert.ok(!names.some((one) => one.startsWith('Off')), `${hidden} is disabled`)
      assert.equal(await page.locator('form').count(), 0)
      await page.getByRole('link', { name: 'Use a password instead' }).click()
      await sendPassword(page, ADMIN)
      assertLogin(await arrive(), await administratorId(), ['pwd'])
      assert.deepEqual(complaints, [])
    })
  }

  await t.test('R096: a user with a certificate may still use the password', async (t) => {
    const leaf = await openssl.makeLeaf(ca)
    await admin.createIdentity({ certPem: leaf.pem })
    const { page, arrive } = await open(t, having(leaf))
    await page.getByRole('link', { name: 'Use a password instead' }).click()
    await sendPassword(page, ADMIN)
    assertLogin(await arrive(), await administratorId(), ['pwd'])
  })

  await t.test('D-12: an unknown certificate is refused with one sentence', async (t) => {
    const before = app.answers.length
    const { page, arrive } = await open(t, having(await openssl.makeLeaf(ca)))
    assert.equal(await press(page), 401)
    assert.equal(await page.getByRole('alert').textContent(), REFUSED)
    assert.equal(app.answers.length, before)
    // SPEC Auth request: it may be tried again, also in another way.
    assert.equal(await press(page), 401)
    await page.getByRole('link', { name: 'Use a password instead' }).click()
    await sendPassword(page, ADMIN)
    await arrive()
  })

  await t.test(
    'D-12: a certificate of an unknown CA is refused in the same sentence',
    async (t) => {
      const stranger = await openssl.makeCa({ subject: '/CN=A stranger' })
      const leaf = await openssl.makeLeaf(stranger)
      await admin.createIdentity({ certPem: leaf.pem })
      const { page } = await open(t, having(leaf))
      assert.equal(await press(page), 401)
      assert.equal(await page.getByRole('alert').textContent(), REFUSED)
    },
  )

  await t.test(
    'R092: after the certificate, a user with an app is asked for the code',
    async (t) => {
      const leaf = await openssl.makeLeaf(ca)
      const person = await enrolledPerson(service, admin, { certPem: leaf.pem })
      const { page, arrive } = await open(t, having(leaf))
      await page.getByRole('button').click()
      await codeField(page).waitFor()
      await sendCode(page, person.app.nextCode())
      assertLogin(await arrive(), person.id, ['swk', 'otp', 'mfa'])
    },
  )

  await t.test('the keyboard alone is enough', async (t) => {
    const leaf = await openssl.makeLeaf(ca)
    const person = await admin.createIdentity({ certPem: leaf.pem })
    const { page, arrive } = await open(t, having(leaf))
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'submit')
    await page.keyboard.press('Enter')
    assertLogin(await arrive(), person.id, ['swk'])

    const without = await open(t, {}, 'cert')
    await without.page.keyboard.press('Tab')
    await without.page.keyboard.press('Enter')
    await without.page.getByLabel('Username').waitFor()
    assert.equal(await focused(without.page), 'username')
  })

  async function administratorId(): Promise<string> {
    const { sub } = decodeJwt(admin.token)
    return sub ?? ''
  }
})

/** Presses the one button; the status that it was answered with. */
async function press(page: Page): Promise<number> {
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.request().method() === 'POST'),
    page.getByRole('button', { name: 'Use my certificate' }).click(),
  ])
  return response.status()
}

function assertLogin({ access_token }: Tokens, id: string, amr: readonly string[]): void {
  const claims = decodeJwt(access_token)
  assert.equal(claims.sub, id)
  assert.deepEqual(claims['amr'], amr)
}
