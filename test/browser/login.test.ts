/**
 * The whole login as a person does it, in a real browser: from the application's page, over the form, back to the
 * application. SPEC Authorization and Primary login; D-11, D-12, D-50.
 */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { focused } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import type { SiteHost } from '../support/browser/site.ts'
import { type ClientApp, startClientApp } from '../support/client/client-app.ts'
import { bearer } from '../support/login/login.ts'
import { ADMIN, startService } from '../support/service.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)
const HOSTS: readonly SiteHost[] = [
  '127.0.0.1',
  'localhost',
  ...(hasIpv6 ? ['[::1]' as const] : []),
]

test('a user logs in with a browser', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  /** A fresh browser profile at the login form, and everything that its console says. */
  async function openForm(
    {
      from = app,
      javaScriptEnabled = true,
    }: { from?: ClientApp; javaScriptEnabled?: boolean } = {},
    changes: Readonly<Record<string, string>> = {},
  ) {
    // The CA of the service is not in the browser's store.
    const context = await browser.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled })
    const page = await context.newPage()
    const complaints = complaintsOf(page)
    const login = from.prepare(changes)
    await page.goto(login.url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByLabel('Username').waitFor()
    return { context, page, login, complaints }
  }

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? '' : ', without JavaScript too'
    await t.test(
      `the application gets code, state and iss, and the code is good${how}`,
      async () => {
        const { context, page, login, complaints } = await openForm({ javaScriptEnabled })
        await typeCredentials(page, ADMIN)
        await page.getByRole('button', { name: 'Sign in' }).click()
        await arriveAt(page, app)

        const answer = app.answers.at(-1)
        assert.equal(answer?.method, 'GET')
        assert.deepEqual([...answer.parameters.keys()], ['state', 'iss', 'code'])
        assert.equal(answer.parameters.get('state'), login.state)
        assert.equal(answer.parameters.get('iss'), `${service.baseUrl}/oidc`)
        const tokens = await app.finish(login, answer)
        const call = await service.call(
          '/edge/client/v1/current-identity',
          bearer(tokens.access_token),
        )
        assert.equal(call.json().data.name, ADMIN.username)
        assert.deepEqual(complaints, [])
        await context.close()
      },
    )

    await t.test(`response_mode form_post posts the answer to the application${how}`, async () => {
      const { context, page, login, complaints } = await openForm(
        { javaScriptEnabled },
        { response_mode: 'form_post' },
      )
      await typeCredentials(page, ADMIN)
      await page.keyboard.press('Enter')
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Continue' }).click()
      await arriveAt(page, app)

      const answer = app.answers.at(-1)
      assert.equal(answer?.method, 'POST')
      assert.equal(page.url(), app.redirectUri)
      assert.equal(answer.parameters.get('state'), login.state)
      assert.equal(answer.parameters.get('iss'), `${service.baseUrl}/oidc`)
      await app.finish(login, answer)
      assert.deepEqual(complaints, [])
      await context.close()
    })
  }

  for (const host of HOSTS) {
    await t.test(`D-50: form-action lets the browser go back to ${host} on any port`, async (t) => {
      const other = await startClientApp(t, service, { host })
      for (const response_mode of ['query', 'form_post']) {
        const { context, page, login, complaints } = await openForm(
          { from: other },
          { response_mode },
        )
        await typeCredentials(page, ADMIN)
        await page.keyboard.press('Enter')
        await arriveAt(page, other)
        await other.finish(login, other.answers.at(-1))
        assert.deepEqual(complaints, [])
        await context.close()
      }
    })
  }

  await t.test(
    'a fault of the request goes back to the application through the browser',
    async () => {
      const page = await browser.newPage({ ignoreHTTPSErrors: true })
      for (const response_mode of ['query', 'form_post']) {
        const login = app.prepare({ response_mode, prompt: 'none' })
        await page.goto(login.url)
        await page.getByRole('link', { name: 'Sign in' }).click()
        await arriveAt(page, app)
        const answer = app.answers.at(-1)
        assert.equal(answer?.method, response_mode === 'query' ? 'GET' : 'POST')
        assert.equal(answer.parameters.get('error'), 'login_required')
        assert.equal(answer.parameters.get('state'), login.state)
      }
      await page.close()
    },
  )

  await t.test('R034: the application is not told where the browser came from', async () => {
    // Attack: the auth request id in the address of the login page leaks to the client's host as a Referer.
    const { context, page } = await openForm()
    assert.match(page.url(), /authRequestID=/)
    await typeCredentials(page, ADMIN)
    await page.keyboard.press('Enter')
    await arriveAt(page, app)
    assert.equal(app.answers.at(-1)?.headers.referer, undefined)
    await context.close()
  })

  await t.test('R035: a wrong password is said on the page, and the next try works', async () => {
    const before = app.answers.length
    const { context, page, login, complaints } = await openForm()
    await typeCredentials(page, { username: ADMIN.username, password: 'wrong horse battery' })
    const [response] = await Promise.all([
      page.waitForResponse((one) => one.request().method() === 'POST'),
      page.keyboard.press('Enter'),
    ])
    assert.equal(response.status(), 401)
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.equal(await alert.textContent(), 'That username and password do not match. Try again.')
    assert.equal(await page.getByLabel('Username').inputValue(), ADMIN.username)
    assert.equal(await page.getByLabel('Password').inputValue(), '')
    assert.equal(await focused(page), 'password')
    assert.equal(app.answers.length, before)

    await page.keyboard.type(ADMIN.password)
    await page.keyboard.press('Enter')
    await arriveAt(page, app)
    await app.finish(login, app.answers.at(-1))
    assert.deepEqual(complaints, [])
    await context.close()
  })

  await t.test(
    'D-479: after a wrong password, the address of the page shows the form again',
    async () => {
      const { context, page } = await openForm()
      await typeCredentials(page, { ...ADMIN, password: 'wrong horse battery' })
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
      // As a browser does that has dropped the page, and a user who presses Enter in the address bar.
      await page.goto(page.url())
      await page.getByLabel('Username').waitFor()
      await typeCredentials(page, ADMIN)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await arriveAt(page, app)
      await context.close()
    },
  )

  await t.test('the keyboard alone is enough: focus, Tab order, Enter', async () => {
    const { context, page } = await openForm()
    assert.equal(await focused(page), 'username')
    await page.keyboard.type(ADMIN.username)
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'password')
    await page.keyboard.type(ADMIN.password)
    await page.keyboard.press('Tab')
    assert.equal(await page.locator(':focus').textContent(), 'Show password')
    await page.keyboard.press('Enter')
    assert.equal(await page.locator('#password').getAttribute('type'), 'text')
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'submit')
    await page.keyboard.press('Enter')
    await arriveAt(page, app)
    await context.close()
  })

  await t.test('an empty password is not sent', async () => {
    const { context, page } = await openForm()
    const posts: string[] = []
    page.on('request', (request) => posts.push(request.method()))
    await page.getByLabel('Username').fill(ADMIN.username)
    await page.keyboard.press('Enter')
    assert.equal(await focused(page), 'password')
    assert.deepEqual(posts, [])
    await context.close()
  })

  await t.test('two tabs of one browser log in at the same time, and both succeed', async () => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const logins = [app.prepare(), app.prepare()]
    const pages = await Promise.all(logins.map(() => context.newPage()))
    for (const [i, page] of pages.entries()) {
      await page.goto(logins[i]?.url ?? '')
      await page.getByRole('link', { name: 'Sign in' }).click()
      await page.getByLabel('Username').waitFor()
    }
    for (const page of pages) {
      await typeCredentials(page, ADMIN)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await arriveAt(page, app)
    }
    for (const login of logins) {
      const answer = app.answers.find(({ parameters }) => parameters.get('state') === login.state)
      await app.finish(login, answer)
    }
    await context.close()
  })
})

async function typeCredentials(
  page: Page,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
}

async function arriveAt(page: Page, app: ClientApp): Promise<void> {
  await page.waitForURL((url) => url.href.startsWith(app.redirectUri))
}
