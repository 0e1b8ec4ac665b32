/**
 * Every page of the login and of the own account, with branding, in English and German, held against WCAG 2.2 by axe:
 * light and dark, wide and small, with the colors of the system, and with letters twice as large (1.4.4, 1.4.10). The
 * browser has nothing to complain about, and no page is left out. What no program can judge is in pages.test.ts and
 * keyboard.test.ts.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { html } from '../../src/web/login/html.ts'
import { accountPages } from '../support/browser/account-pages.ts'
import { bringAxe, checkWithAxe } from '../support/browser/axe.ts'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { launchChromium, type TestBrowser } from '../support/browser/chromium.ts'
import { devicePages } from '../support/browser/device-pages.ts'
import { invitePages } from '../support/browser/invite-pages.ts'
import { loginPages } from '../support/browser/login-pages.ts'
import { watchPages } from '../support/browser/page-coverage.ts'
import { passkeyPages } from '../support/browser/passkey-pages.ts'
import { startSite } from '../support/browser/site.ts'
import { anew, titleWanted } from '../support/browser/visited-pages.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { startService, temporaryFolder } from '../support/service.ts'

const WIDE = { width: 1000, height: 700 }
const SMALL = { width: 320, height: 600 }
const DOUBLED = { width: 640, height: 700 }

/** What a look can change; everything else is the same in all of them. */
const OF_THE_LOOK = ['color-contrast', 'target-size', 'link-in-text-block']

/**
 * The whole check once in each language; dark and small where the words are longest. Other combinations cannot differ
 * but in their colors, which src/web/login/styles.test.ts computes, and in their width, which is measured here.
 */
const LOOKS = [
  { look: 'english', language: 'en', size: WIDE, media: { colorScheme: 'light' }, rules: [] },
  {
    look: 'system-colours',
    language: 'en',
    size: WIDE,
    media: { forcedColors: 'active' },
    rules: OF_THE_LOOK,
  },
  { look: 'german', language: 'de', size: SMALL, media: { colorScheme: 'dark' }, rules: [] },
] as const

const FORM_POST = 'the form_post page'

/** The address of each is spent when it is shown. */
const SHOWN_ONCE = [
  FORM_POST,
  'device: approved',
  'device: denied',
  'device: a form that is out of date',
]

const NAME = 'Example Corp'
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40"><rect width="120" height="40" fill="#0a6b4f"/></svg>'

/** Where pictures of the pages go, for people to look at. */
const PICTURES = process.env['TEST_PICTURES']

test('accessibility', async (t) => {
  const unvisited = await watchPages(t)
  const logo = join(await temporaryFolder(t), 'logo.svg')
  await writeFile(logo, LOGO)
  const colors = { accent: '#0a6b4f' }
  const support = 'https://help.example.com/'
  const service = await startService(t, {
    config: { branding: { name: NAME, logo, colors, support }, sso: { duration: '10m' } },
  })
  const app = await startClientApp(t, service)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const login = await loginPages(t, service, app)
  const account = await accountPages(t, service)
  const invite = await invitePages(t, service)
  const passkeys = await passkeyPages(t, service, app)
  const devices = await devicePages(t, service)
  const shared = await newPage(t, browser, {})
  await bringAxe(shared)

  for (const [name, [heading, open, clientCertificates = []]] of Object.entries({
    ...login,
    ...account,
    ...invite,
    ...passkeys,
    ...devices,
  })) {
    await t.test(`${name} has no fault that axe can find, however it looks`, async (t) => {
      const page = await anew(
        clientCertificates.length === 0
          ? shared
          : await newPage(t, browser, { clientCertificates }),
        WIDE,
      )
      const complaints = complaintsOf(page)
      if (name === FORM_POST) await leaveScriptOut(page)
      await open(page)
      await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
      const title = (await page.title()).replace(` – ${NAME}`, '')
      assert.equal(title, await titleWanted(page, heading))
      const picture = async (look: string) => {
        if (PICTURES === undefined) return
        const path = join(PICTURES, `${name.replaceAll(/\W+/g, '-')}-${look}.png`)
        await page.screenshot({ path, fullPage: true })
      }

      let shown = 'en'
      for (const { look, language, size, media, rules } of LOOKS) {
        if (language !== shown && SHOWN_ONCE.includes(name)) continue
        if (language !== shown) await reloadIn(page, language)
        shown = language
        await page.setViewportSize(size)
        await page.emulateMedia({ colorScheme: null, forcedColors: null, ...media })
        await picture(look)
        const { violations, passed } = await checkWithAxe(page, rules)
        assert.deepEqual(violations, [], look)
        if (rules.length === 0) assert.ok(passed >= 5, `only ${passed} rules were looked at`)
        const shownAs = await documentOf(page)
        assert.equal(shownAs.language, language)
        assert.equal(shownAs.width, size.width, `${look}: nothing is cut off sideways`)
      }
      await page.emulateMedia({ colorScheme: null, forcedColors: null })
      await page.setViewportSize(DOUBLED)
      await page.evaluate("document.documentElement.style.fontSize = '200%'")
      await picture('letters')
      const { width } = await documentOf(page)
      assert.equal(width, DOUBLED.width, 'there is room for letters twice as large')
      const broken = await page.evaluate(`[...document.querySelectorAll('.codes code')]
        .filter((one) => one.getClientRects().length !== 1).length`)
      assert.equal(broken, 0, 'a recovery code stays on one line')
      assert.deepEqual(complaints, [])
    })
  }

  await t.test('no page is left out', async () => {
    assert.deepEqual(await unvisited(), [])
  })

  await t.test('the check finds faults where there are some', async (t) => {
    const bad = html`<input name="a"><p style="color: #ccc; background: #fff">Faint</p>`
    const origin = await startSite(t, '127.0.0.1', () => bad)
    const page = await newPage(t, browser, {})
    await page.goto(origin)
    const rules = async (only: readonly string[]) =>
      (await checkWithAxe(page, only)).violations
        .map((violation) => violation.slice(0, violation.indexOf(':')))
        .toSorted()
    assert.deepEqual(await rules([]), ['color-contrast', 'label'])
    assert.deepEqual(await rules(OF_THE_LOOK), ['color-contrast'])
  })

  await t.test('what the browser complains about is found where there is something', async (t) => {
    const bad = html`<img src="/nothing.png" alt="Nothing"><script>nothing()</script>`
    const origin = await startSite(t, '127.0.0.1', (_, { pathname }) =>
      pathname === '/' ? bad : undefined,
    )
    const page = await newPage(t, browser, {})
    const complaints = complaintsOf(page)
    await page.goto(`${origin}/not-there`)
    assert.equal(complaints.length, 0, 'the status of a page is none')
    await page.goto(origin, { waitUntil: 'networkidle' })
    const found = complaints.map((text) => text.slice(0, text.indexOf(':'))).toSorted()
    assert.deepEqual(found, ['Failed to load resource', 'ReferenceError'])
  })

  /** The same page in another language: a page that answered a form is asked for again with the same form. */
  async function reloadIn(page: Page, language: string): Promise<void> {
    const cookie = { name: '__Host-latchkey-language', value: language, url: service.baseUrl }
    await page.context().addCookies([{ ...cookie, secure: true }])
    await page.reload()
  }

  /** With JavaScript, which axe needs. */
  async function newPage(
    t: TestContext,
    from: TestBrowser,
    options: BrowserContextOptions,
  ): Promise<Page> {
    const context = await from.newContext({ ignoreHTTPSErrors: true, ...options })
    t.after(() => context.close())
    return context.newPage()
  }
})

/**
 * Not by a locator: `evaluate` of one makes each document load the library's script a second time, which takes about as
 * much CPU time as loading the page.
 */
function documentOf(page: Page): Promise<{ readonly language: string; readonly width: number }> {
  return page.evaluate(
    '({ language: document.documentElement.lang, width: document.documentElement.scrollWidth })',
  )
}

/** The form_post page has a script that leaves it at once. */
async function leaveScriptOut(page: Page): Promise<void> {
  await page.route('**/oidc/login/username?**', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    const response = await route.fetch({ maxRedirects: 0 })
    const body = (await response.text()).replace(/<script>.*<\/script>/, '')
    return route.fulfill({ response, body })
  })
}
