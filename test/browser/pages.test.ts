/**
 * What the pages are like for those who use them without scripts: on a small screen, in the dark, with the keyboard alone,
 * with a screen reader, on paper. R022 and D-50 as far as only a browser can tell; WCAG 2.2 for contrast, reflow, and the
 * focus (2.1.1, 2.4.3, 2.4.7).
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { accountPages } from '../support/browser/account-pages.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { loginPages, openLoginForm, submit } from '../support/browser/login-pages.ts'
import { passkeyPages } from '../support/browser/passkey-pages.ts'
import { anew, titleWanted, type VisitedPages } from '../support/browser/visited-pages.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { ADMIN, startService } from '../support/service.ts'

const SMALL = { width: 320, height: 700 }

/** Everything that somebody reads or types into. */
const TEXTS = 'h1, h2, p, label, input, button, a, summary, li, code, dt, dd'

/** What a person can use. */
const USABLE = 'a[href], button:not([hidden] *), summary, input:not([type=hidden]):not([hidden])'

/** Where the page takes a person who has just arrived: what failed, what happened, or where to begin. */
const FOCUS: Readonly<Record<string, string>> = {
  'the form': 'username',
  'the form after a failure': 'password',
  'the page that asks for a code': 'code',
  'the page that asks for a code once more': 'code',
  // Pressed on the way.
  'the page with the QR code': 'summary',
  'account: an app is set up': 'summary',
  'the page with the QR code after a wrong code': 'code',
  'the page for a certificate that is refused': 'alert',
  'the choice of an identity provider after a failure': 'alert',
  'account: a session that is not there any more': 'alert',
  'account: after a session has ended': 'status',
  'account: password that is refused': 'currentPassword',
  'account: an app is set up, after a wrong code': 'code',
  'account: an app, after a wrong code to create new recovery codes': 'renew-code',
  'account: an app, after a wrong code to remove the app': 'remove-code',
}

test('the pages', async (t) => {
  const service = await startService(t, { config: { sso: { duration: '10m' } } })
  const app = await startClientApp(t, service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  const pages: VisitedPages = {
    ...(await loginPages(t, service, app)),
    ...(await accountPages(t, service)),
  }

  /** Without JavaScript, so that the form_post page stays. */
  async function newPage(t: TestContext, options: BrowserContextOptions = {}): Promise<Page> {
    const profile = { ignoreHTTPSErrors: true, javaScriptEnabled: false }
    const context = await browser.newContext({ ...profile, ...options })
    t.after(() => context.close())
    return context.newPage()
  }

  const shared = await newPage(t)
  for (const [name, [heading, open, clientCertificates = []]] of Object.entries(pages)) {
    await t.test(
      `${name} can be read on a small screen and used with the keyboard alone`,
      async (t) => {
        const page = await anew(
          clientCertificates.length === 0 ? shared : await newPage(t, { clientCertificates }),
          SMALL,
        )
        await open(page)
        await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
        assert.equal(await page.title(), await titleWanted(page, heading))
        assert.equal(await page.getByRole('main').count(), 1)
        assert.equal(await page.locator('html').getAttribute('lang'), 'en')
        // WCAG 2.2, 1.4.10: 320 pixels without scrolling sideways.
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), SMALL.width)
        assert.equal(await focusOf(page), FOCUS[name])

        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          const [body, ...texts] = await coloursOf(page)
          const ground = luminance(body?.ground)
          assert.ok(colorScheme === 'light' ? ground > 0.5 : ground < 0.1, `${colorScheme}`)
          assert.ok(texts.length > 0)
          for (const { words, text, ground } of texts) {
            const ratio = contrast(luminance(text), luminance(ground))
            assert.ok(ratio >= 4.5, `${colorScheme}: ${words}: ${text} on ${ground}`)
          }
        }
        await assertTabReachesAll(page)
      },
    )
  }

  await t.test('every page with a place to begin is in the list of those', () => {
    for (const name of Object.keys(FOCUS)) assert.ok(name in pages, name)
  })

  await t.test('labels belong to their fields, and the alert to the one in focus', async (t) => {
    const page = await newPage(t)
    await openLoginForm(page, app)
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

  await t.test('password managers and phones find what they look for', async (t) => {
    const wanted: Readonly<Record<string, readonly string[]>> = {
      'the form': ['username webauthn', 'current-password'],
      'the page that asks for a code': ['one-time-code'],
      'the page with the QR code': ['one-time-code'],
      'account: password': ['username', 'current-password', 'new-password', 'new-password'],
      'account: an app': ['one-time-code', 'one-time-code'],
      'account: an app is set up': ['one-time-code'],
    }
    for (const [name, fields] of Object.entries(wanted)) {
      const page = await newPage(t)
      await pages[name]?.[1](page)
      const found = await page.evaluate(`
        [...document.querySelectorAll('input:not([type=hidden], [type=checkbox])')]
          .map((one) => one.getAttribute('autocomplete'))`)
      assert.deepEqual(found, fields, name)
      for (const field of await page.locator('input[autocomplete$=password]').all()) {
        assert.equal(await field.getAttribute('type'), 'password')
      }
    }
  })

  await t.test(
    'on paper there are the recovery codes and whose they are, nothing else',
    async (t) => {
      const sheets = [
        ['the page with the QR code', 'Z'.repeat(256)],
        ['account: new recovery codes', ''],
        ['account: a first passkey', ''],
        ['the page that creates a passkey', ''],
      ] as const
      const opened = { ...pages, ...(await passkeyPages(t, service, app)) }
      // Scripts add buttons, which are not for paper either.
      const all = [false, true].flatMap((hasScripts) =>
        sheets.map(([name, owner]) => ({ hasScripts, name, owner })),
      )
      for (const { hasScripts, name, owner } of all) {
        const page = await newPage(t, { colorScheme: 'dark', javaScriptEnabled: hasScripts })
        await opened[name]?.[1](page)
        const whose = page.getByText(/^Recovery codes for /)
        assert.equal(await whose.isVisible(), false, 'on the screen everybody knows')
        if (hasScripts) await page.getByRole('button', { name: 'Copy' }).waitFor()
        await page.emulateMedia({ media: 'print' })
        assert.equal(await page.locator('.codes code:visible').count(), 20)
        assert.ok((await whose.textContent())?.includes(`${owner}, localhost`))
        assert.equal(await whose.isVisible(), true)
        assert.equal(
          await page.locator('.qr, nav, button, input, a').filter({ visible: true }).count(),
          0,
        )
      }
    },
  )
})

/** From the top, wherever the page has put the focus. */
async function assertTabReachesAll(page: Page): Promise<void> {
  const usable = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('${USABLE}')].map((one) => one.outerHTML)`,
  )
  if (usable.length === 0) return
  await page.locator(USABLE).first().focus()
  const reached: string[] = []
  for (let n = 0; n < usable.length; n += 1) {
    if (n > 0) await page.keyboard.press('Tab')
    const { html, outline } = await page.evaluate<{ html: string; outline: string }>(`(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
      return { html: document.activeElement.outerHTML, outline: outlineStyle + ' ' + outlineWidth }
    })()`)
    reached.push(html)
    if (n > 0) assert.match(outline, /^solid [23]px$/, `${html} is seen to be in focus`)
  }
  assert.deepEqual(reached, usable)
}

/** What has the focus: an id, or the role of words that have it, or what it is. Undefined: the page leaves it at the top. */
async function focusOf(page: Page): Promise<string | undefined> {
  if ((await page.locator(':focus').count()) === 0) return undefined
  return page.evaluate(`(({ role, id, localName }) => role ?? (id || localName))
    (document.activeElement)`)
}

interface Colours {
  readonly words: string
  readonly text: string
  readonly ground: string
}

/** Of the page, then of everything on it. The ground is that of the nearest element that has one. */
function coloursOf(page: Page): Promise<readonly Colours[]> {
  return page.evaluate(`
    [...document.querySelectorAll('body, ${TEXTS}')]
      .filter((element) => element.checkVisibility())
      .map((element) => {
        let at = element
        while (getComputedStyle(at).backgroundColor === 'rgba(0, 0, 0, 0)') at = at.parentElement
        return {
          words: element.textContent.trim().slice(0, 40),
          text: getComputedStyle(element).color,
          ground: getComputedStyle(at).backgroundColor,
        }
      })`)
}

/** WCAG 2.2, relative luminance of `rgb(r, g, b)`. */
function luminance(colour = ''): number {
  const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((text) => {
    const part = Number(text) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(a: number, b: number): number {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}
