/**
 * The keyboard alone: on every page of the login the Tab key reaches everything that can be used, in the order in which it
 * stands there, and shows where it is (WCAG 2.2, 2.1.1, 2.4.3, 2.4.7). And whole ways with it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import { openLogin } from '../support/browser-login.ts'
import { launchChromium } from '../support/chromium.ts'
import { startClientApp } from '../support/client-app.ts'
import { loginPages } from '../support/login-pages.ts'
import { administrate } from '../support/management.ts'
import { APP, startRealIdp } from '../support/real-idp.ts'
import { startService } from '../support/service.ts'

/** What a person can use. */
const USABLE = 'a[href], button, summary, input:not([type=hidden])'

test('the keyboard alone is enough', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const pages = await loginPages(t, service, app)

  for (const [name, [, open, clientCertificates]] of Object.entries(pages)) {
    await t.test(
      `${name}: Tab reaches everything in its order, and shows where it is`,
      async (t) => {
        const context = await browser.newContext({
          ignoreHTTPSErrors: true,
          javaScriptEnabled: false,
          clientCertificates: clientCertificates ?? [],
        })
        t.after(() => context.close())
        const page = await context.newPage()
        await open(page)
        const usable: string[] = []
        for (const one of await page.locator(USABLE).all()) usable.push(await one.evaluate(nameOf))
        // From the top, wherever the page has put the focus.
        await page.evaluate('document.activeElement.blur()')
        await page.locator('h1').click()
        const reached: string[] = []
        for (let n = 0; n < usable.length; n += 1) {
          await page.keyboard.press('Tab')
          const focus = page.locator(':focus')
          reached.push(await focus.evaluate(nameOf))
          const outline = await focus.evaluate((element) => {
            const { outlineStyle, outlineWidth } =
              element.ownerDocument.defaultView.getComputedStyle(element)
            return `${outlineStyle} ${outlineWidth}`
          })
          assert.match(outline, /^solid [23]px$/, `${reached.at(-1)} is seen to be in focus`)
        }
        assert.deepEqual(reached, usable)
      },
    )
  }

  await t.test('through an identity provider and back', async (t) => {
    const admin = await administrate(service)
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
    await page.keyboard.type('zoe')
    await page.keyboard.press('Enter')
    assert.equal(decodeJwt((await arrive()).access_token).sub, id)
  })
})

/** The words on an element, or its name. Runs in the page. */
function nameOf(element: {
  readonly textContent: string | null
  getAttribute(name: string): string | null
}): string {
  return element.textContent || element.getAttribute('name') || ''
}

async function tabTo(page: Page, words: string): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    await page.keyboard.press('Tab')
    if ((await page.locator(':focus').textContent()) === words) return
  }
  assert.fail(`Tab never reaches ${words}`)
}
