/**
 * What the pages are like for those who use them: on a small screen, in the dark, with a screen reader. R022 and
 * D-50 as far as only a browser can tell; WCAG 2.2 for contrast and reflow.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { enrolledPerson, PASSWORD, totpPolicy } from '../support/authenticator-app.ts'
import { codeField } from '../support/browser-login.ts'
import { registerCa } from '../support/certificate-login.ts'
import { launchChromium } from '../support/chromium.ts'
import { startClientApp } from '../support/client-app.ts'
import { administrate } from '../support/management.ts'
import { openOpenssl } from '../support/openssl.ts'
import { ADMIN, startService } from '../support/service.ts'

const SCREENS = [
  { width: 320, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
] as const

/** Everything that somebody reads or types into. */
const TEXTS = 'h1, h2, p, label, input, button, a, summary, li, code'

/** A username nobody can wrap. */
const ENDLESS = 'x'.repeat(256)

test('the pages', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  const admin = await administrate(service)
  const enrolled = await enrolledPerson(service, admin)
  // The name of the account is in the QR code; this one is as long as one can be.
  const name = 'Z'.repeat(256)
  const policy = await totpPolicy(admin)
  const newcomer = await admin.createIdentity({ name, password: PASSWORD, policy })
  await admin.createSigner({ issuer: 'https://idp.example/', name: `IdP ${'y'.repeat(200)}` })
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const certificate = await openssl.makeLeaf(ca)

  const authorization = `${service.baseUrl}/oidc/authorization`
  /** How each page is reached, and its title. */
  const pages: Readonly<
    Record<
      string,
      readonly [
        title: string,
        open: (page: Page) => Promise<void>,
        certificates?: BrowserContextOptions['clientCertificates'],
      ]
    >
  > = {
    'the form': ['Sign in', (page) => openForm(page)],
    'the form after a failure': [
      'Sign in',
      async (page) => {
        await openForm(page)
        await submit(page, { username: ENDLESS, password: 'wrong horse battery' })
        await page.getByRole('alert').waitFor()
      },
    ],
    'the form_post page': [
      'One moment',
      async (page) => {
        await openForm(page, { response_mode: 'form_post' })
        await submit(page, ADMIN)
        await page.getByRole('button', { name: 'Continue' }).waitFor()
      },
    ],
    'the page of a login that has ended': [
      'This sign-in has ended',
      async (page) => {
        await page.goto(`${service.baseUrl}/oidc/login/username?authRequestID=${ENDLESS}`)
      },
    ],
    'the page that asks for a code': ['Enter your code', (page) => openCode(page)],
    'the page that asks for a code once more': [
      'Enter your code',
      async (page) => {
        await openCode(page)
        await sendCode(page)
      },
    ],
    'the page that says why an app is needed': [
      'One more step',
      async (page) => {
        await openForm(page)
        await submit(page, newcomer)
        await page.getByRole('button', { name: 'Set up the app' }).waitFor()
      },
    ],
    'the page with the QR code': [
      'Set up your app',
      async (page) => {
        await openEnrollment(page)
        await page.locator('summary').click()
      },
    ],
    'the page with the QR code after a wrong code': [
      'Set up your app',
      async (page) => {
        await openEnrollment(page)
        await sendCode(page)
      },
    ],
    'the page for a certificate': ['Sign in', (page) => openOther(page, 'cert')],
    'the page for a certificate that is refused': [
      'Sign in',
      async (page) => {
        await openOther(page, 'cert')
        await page.getByRole('button', { name: 'Use my certificate' }).click()
        await page.getByRole('alert').waitFor()
      },
      [{ origin: service.baseUrl, cert: pem(certificate.pem), key: pem(certificate.keyPem) }],
    ],
    'the page for an external JWT': ['Sign in', (page) => openOther(page, 'ext-jwt')],
    'the page after a logout': [
      'Signed out',
      async (page) => {
        await page.goto(`${service.baseUrl}/oidc/end_session`)
      },
    ],
    'the page of a logout that is not allowed': [
      'Not signed out',
      async (page) => {
        await page.goto(`${service.baseUrl}/oidc/end_session?id_token_hint=${ENDLESS}`)
      },
    ],
    'the page of an unknown application': [
      'Unknown application',
      async (page) => {
        await page.goto(`${authorization}?client_id=${ENDLESS}`)
      },
    ],
    'the page of a redirect URI that is not allowed': [
      'No way back',
      async (page) => {
        await page.goto(`${authorization}?client_id=service&redirect_uri=https://evil.example/`)
      },
    ],
  }

  async function openForm(page: Page, changes: Readonly<Record<string, string>> = {}) {
    await page.goto(app.prepare(changes).url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByLabel('Username').waitFor()
  }

  async function openOther(page: Page, method: string) {
    await page.goto(app.prepare({ method }).url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'Use a password instead' }).waitFor()
  }

  async function openCode(page: Page) {
    await openForm(page)
    await submit(page, enrolled)
    await codeField(page).waitFor()
  }

  async function openEnrollment(page: Page) {
    await openForm(page)
    await submit(page, newcomer)
    await page.getByRole('button', { name: 'Set up the app' }).click()
    await codeField(page).waitFor()
  }

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

const pem = (text: string) => Buffer.from(text)

async function sendCode(page: Page): Promise<void> {
  await codeField(page).fill('no code')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
}

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

async function submit(
  page: Page,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
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
