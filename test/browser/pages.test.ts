/**
 * What the pages are like for those who use them: on a small screen, in the dark, with a screen reader. R022 and
 * D-50 as far as only a browser can tell; WCAG 2.2 for contrast and reflow.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { launchChromium } from '../support/chromium.ts'
import { startClientApp } from '../support/client-app.ts'
import { loginPages, openLoginForm, submit } from '../support/login-pages.ts'
import { ADMIN, startService } from '../support/service.ts'

const SCREENS = [
  { width: 320, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
] as const

/** Everything that somebody reads or types into. */
const TEXTS = 'h1, h2, p, label, input, button, a, summary, li, code'

test('the pages', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  const pages = await loginPages(t, service, app)
  const openForm = (page: Page) => openLoginForm(page, app)

  for (const [name, [title, open, clientCertificates]] of Object.entries(pages)) {
    await t.test(`${name} can be read, on a small screen, in light and in dark`, async (t) => {
      // WCAG 2.2, 1.4.10: 320 pixels without scrolling sideways.
      for (const { width, colorScheme } of SCREENS) {
        const page = await newPage(t, browser, { width, colorScheme, clientCertificates })
        await open(page)
        assert.equal(await page.title(), title)
        assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), title)
        assert.equal(await page.getByRole('main').count(), 1)
        const root = page.locator('html')
        assert.equal(await root.getAttribute('lang'), 'en')
        assert.equal(await root.evaluate((element) => element.scrollWidth), width)

        const ground = luminance((await coloursOf(page.locator('body'))).ground)
        assert.ok(colorScheme === 'light' ? ground > 0.5 : ground < 0.1, `${colorScheme} ${ground}`)
        for (const element of await page.locator(TEXTS).all()) {
          if (!(await element.isVisible())) continue
          const { text, ground } = await coloursOf(element)
          const ratio = contrast(luminance(text), luminance(ground))
          assert.ok(ratio >= 4.5, `${await element.textContent()}: ${text} on ${ground}`)
        }
      }
    })
  }

  await t.test('labels belong to their fields, and the alert to the one in focus', async (t) => {
    const page = await newPage(t, browser)
    await openForm(page)
    assert.equal(await page.getByRole('textbox', { name: 'Username' }).count(), 1)
    // A click on the word is a click on the field.
    await page.getByText('Password', { exact: true }).click()
    assert.equal(await page.locator(':focus').getAttribute('name'), 'password')
    await submit(page, { username: ADMIN.username, password: 'wrong horse battery' })
    const alert = page.getByRole('alert')
    await alert.waitFor()
    const described = await page.locator(':focus').getAttribute('aria-describedby')
    assert.equal(described, await alert.getAttribute('id'))
  })

  await t.test('password managers find what they look for', async (t) => {
    const page = await newPage(t, browser)
    await openForm(page)
    const autocomplete = (label: string) => page.getByLabel(label).getAttribute('autocomplete')
    assert.equal(await autocomplete('Username'), 'username')
    assert.equal(await autocomplete('Password'), 'current-password')
    assert.equal(await page.getByLabel('Password').getAttribute('type'), 'password')
  })
})

/** Without JavaScript, so that the form_post page stays. */
async function newPage(
  t: TestContext,
  browser: Browser,
  {
    width = 1000,
    colorScheme = 'light',
    clientCertificates = [],
  }: {
    width?: number
    colorScheme?: 'light' | 'dark'
    clientCertificates?: BrowserContextOptions['clientCertificates']
  } = {},
): Promise<Page> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    javaScriptEnabled: false,
    viewport: { width, height: 700 },
    colorScheme,
    clientCertificates,
  })
  t.after(() => context.close())
  return context.newPage()
}

/** The ground is that of the nearest element that has one. */
function coloursOf(locator: Locator): Promise<{ text: string; ground: string }> {
  return locator.evaluate((element) => {
    const { getComputedStyle } = element.ownerDocument.defaultView
    let at = element
    while (getComputedStyle(at).backgroundColor === 'rgba(0, 0, 0, 0)') at = at.parentElement
    return {
      text: getComputedStyle(element).color,
      ground: getComputedStyle(at).backgroundColor,
    }
  })
}

/** WCAG 2.2, relative luminance of `rgb(r, g, b)`. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((text) => {
    const part = Number(text) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
