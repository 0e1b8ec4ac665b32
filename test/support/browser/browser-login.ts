/**
 * A person in front of a browser: a fresh profile that has come from the application to the login, what can be typed
 * there, and everything that the browser had to complain about on the way.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { ClientApp, PreparedLogin } from '../client/client-app.ts'
import type { Tokens } from '../login/login.ts'
import { complaintsOf } from './browser-complaints.ts'
import type { TestBrowser } from './chromium.ts'

export interface BrowserLogin {
  readonly context: BrowserContext
  readonly page: Page
  readonly login: PreparedLogin
  /** What the console says, violations of the content security policy among it, and what fails. */
  readonly complaints: readonly string[]
  /** The auth request that the page belongs to. */
  authRequestId(): string
  /** Waits until the browser is back at the application, and exchanges the code that it brought. */
  arrive(): Promise<Tokens>
}

/** From the page of the application to the first page of the login. The profile ends with the test. */
export async function openLogin(
  t: TestContext,
  browser: TestBrowser,
  app: ClientApp,
  {
    profile = {},
    changes = {},
  }: {
    readonly profile?: BrowserContextOptions
    readonly changes?: Readonly<Record<string, string>>
  } = {},
): Promise<BrowserLogin> {
  // The CA of the service is not in the browser's store.
  const context = await browser.newContext({ ignoreHTTPSErrors: true, ...profile })
  t.after(() => context.close())
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  const login = app.prepare(changes)
  await page.goto(login.url)
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  const begun = page.url()
  return {
    context,
    page,
    login,
    complaints,
    authRequestId() {
      const id = new URL(begun).searchParams.get('authRequestID')
      assert.ok(id !== null, begun)
      return id
    },
    async arrive() {
      await page.waitForURL((url) => url.href.startsWith(app.redirectUri))
      return app.finish(login, app.answers.at(-1))
    },
  }
}

/** Types name and password and sends them with the Enter key. */
export async function sendPassword(
  page: Page,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
}

/** The field for a code. */
export const codeField = (page: Page) => page.getByRole('textbox', { name: 'Code', exact: true })

/** Says that the recovery codes are saved, where the page asks. */
export async function tickSaved(page: Page): Promise<void> {
  const saved = page.getByRole('checkbox', { name: 'I have saved my recovery codes' })
  if ((await saved.count()) > 0) await saved.check()
}

/** Types a code and sends it with the Enter key; the status that it was answered with. */
export async function sendCode(page: Page, code: string): Promise<number> {
  await tickSaved(page)
  await codeField(page).fill(code)
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.request().method() === 'POST'),
    page.keyboard.press('Enter'),
  ])
  return response.status()
}

/** The id of the focused element, or its type when it has none. Waits until there is one. */
export async function focused(page: Page): Promise<string | null> {
  await page.locator(':focus').waitFor()
  return page.evaluate('document.activeElement.id || document.activeElement.getAttribute("type")')
}
