/**
 * Every page of the login, held against WCAG 2.2 by axe in light, in dark and on a small screen; and with letters twice
 * as large (WCAG 2.2, 1.4.4). What no program can judge is in pages.test.ts and keyboard.test.ts.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { html } from '../../src/web/login/html.ts'
import { checkWithAxe } from '../support/axe.ts'
import { launchChromium } from '../support/chromium.ts'
import { startClientApp } from '../support/client-app.ts'
import { loginPages } from '../support/login-pages.ts'
import { startService } from '../support/service.ts'
import { startSite } from '../support/site.ts'

const LOOKS: readonly BrowserContextOptions[] = [
  { colorScheme: 'light', viewport: { width: 1000, height: 700 } },
  { colorScheme: 'dark', viewport: { width: 320, height: 600 } },
]

test('accessibility', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const pages = await loginPages(t, service, app)

  for (const [name, [title, open, clientCertificates]] of Object.entries(pages)) {
    await t.test(`${name} has no fault that axe can find`, async (t) => {
      for (const look of LOOKS) {
        const page = await newPage(t, browser, {
          ...look,
          clientCertificates: clientCertificates ?? [],
        })
        await open(page)
        assert.equal(await page.title(), title)
        const { violations, passed } = await checkWithAxe(page)
        assert.deepEqual(violations, [])
        assert.ok(passed >= 5, `only ${passed} rules were looked at`)
      }
    })
  }

  for (const [name, [, open, clientCertificates]] of Object.entries(pages)) {
    await t.test(`${name} has room for letters twice as large`, async (t) => {
      const viewport = { width: 640, height: 700 }
      const page = await newPage(t, browser, {
        viewport,
        clientCertificates: clientCertificates ?? [],
      })
      await open(page)
      await page.evaluate("document.documentElement.style.fontSize = '200%'")
      const width = await page.locator('html').evaluate((element) => element.scrollWidth)
      assert.equal(width, viewport.width)
    })
  }

  await t.test('the check finds faults where there are some', async (t) => {
    const bad = html`<input name="a"><p style="color: #ccc; background: #fff">Faint</p>`
    const origin = await startSite(t, '127.0.0.1', () => bad)
    const page = await newPage(t, browser, {})
    await page.goto(origin)
    const { violations } = await checkWithAxe(page)
    const rules = violations.map((violation) => violation.slice(0, violation.indexOf(':')))
    assert.deepEqual(rules.toSorted(), ['color-contrast', 'label'])
  })

  /** With JavaScript, which axe needs. The one script of the pages is left out, so that the form_post page stays. */
  async function newPage(
    t: TestContext,
    from: Browser,
    options: BrowserContextOptions,
  ): Promise<Page> {
    const context = await from.newContext({ ignoreHTTPSErrors: true, ...options })
    t.after(() => context.close())
    const page = await context.newPage()
    await page.route('**/oidc/login/username', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      const response = await route.fetch({ maxRedirects: 0 })
      const body = (await response.text()).replace(/<script>.*<\/script>/, '')
      return route.fulfill({ response, body })
    })
    return page
  }
})
