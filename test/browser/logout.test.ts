/**
 * Leaving, in a real browser: the page after a logout, the way back to the application, and what a person sees of a
 * logout that is not allowed. D-30, R049.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { html } from '../../src/web/login/html.ts'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { openLogin, sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startSite } from '../support/browser/site.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { bearer, type Tokens } from '../support/login/login.ts'
import { ADMIN, startService } from '../support/service.ts'

test('a user logs out with a browser', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const left: URL[] = []
  const site = await startSite(t, '127.0.0.1', (_, url) => {
    if (url.pathname === '/form') {
      const hidden = [...url.searchParams].map(
        ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
      )
      return html`<form method="post" action="${service.baseUrl}/oidc/end_session">${hidden}<button>Leave</button></form>`
    }
    if (url.pathname !== '/left') return undefined
    left.push(url)
    return html`<h1>Until next time</h1>`
  })
  const browser = await launchChromium()
  t.after(() => browser.close())

  const endSession = (parameters: Readonly<Record<string, string>>) =>
    `${service.baseUrl}/oidc/end_session?${new URLSearchParams(parameters)}`
  const isAlive = async ({ access_token }: Tokens) =>
    (await service.call('/edge/client/v1/current-identity', bearer(access_token))).status === 200

  async function goTo(page: Page, url: string): Promise<number | undefined> {
    return (await page.goto(url))?.status()
  }

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? '' : ', without JavaScript too'
    const profile = { javaScriptEnabled }

    await t.test(`the session ends, and a page says so${how}`, async (t) => {
      const { page, complaints, arrive } = await openLogin(t, browser, app, { profile })
      await sendPassword(page, ADMIN)
      const tokens = await arrive()
      assert.ok(await isAlive(tokens))
      assert.equal(await goTo(page, endSession({ id_token_hint: tokens.id_token })), 200)
      await page.getByRole('heading', { name: 'Signed out' }).waitFor()
      // Only the way to the account, without the hint that the address has.
      const ways = page.locator('form, a, button')
      assert.deepEqual(await ways.allTextContents(), ['Go to your account'])
      assert.equal(await ways.getAttribute('href'), '/account')
      assert.equal(await isAlive(tokens), false)
      assert.deepEqual(complaints, [])
    })

    await t.test(`the browser comes back to where the application wants it${how}`, async (t) => {
      const { page, complaints, arrive } = await openLogin(t, browser, app, { profile })
      await sendPassword(page, ADMIN)
      const tokens = await arrive()
      const back = { post_logout_redirect_uri: `${site}/left`, state: 'a state & more' }
      await goTo(page, endSession({ id_token_hint: tokens.id_token, ...back }))
      await page.getByRole('heading', { name: 'Until next time' }).waitFor()
      assert.equal(left.at(-1)?.searchParams.get('state'), 'a state & more')
      assert.equal(await isAlive(tokens), false)
      assert.deepEqual(complaints, [])
    })
  }

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? '' : ', without JavaScript too'

    await t.test(
      `D-242: without a hint the browser is asked, and then signed out${how}`,
      async (t) => {
        const context = await browser.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled })
        t.after(() => context.close())
        const page = await context.newPage()
        const complaints = complaintsOf(page)
        const signIn = async () => {
          await goTo(page, `${service.baseUrl}/account`)
          await sendPassword(page, ADMIN)
          await page.getByRole('heading', { name: 'Overview' }).waitFor()
        }
        await signIn()

        await goTo(page, endSession({}))
        await page.getByRole('heading', { name: 'Sign out?' }).waitFor()
        assert.match((await page.locator('main').innerText()) ?? '', /as admin\./)
        await page.getByRole('link', { name: 'Stay signed in' }).click()
        await page.getByRole('heading', { name: 'Overview' }).waitFor()

        await goTo(page, endSession({}))
        await page.getByRole('button', { name: 'Sign out' }).click()
        await page.getByRole('heading', { name: 'Signed out' }).waitFor()
        await goTo(page, `${service.baseUrl}/account`)
        await page.getByLabel('Username').waitFor()

        // Also the redirect back to an application, through a form on a page of another site.
        await signIn()
        const back = { post_logout_redirect_uri: `${site}/left`, state: 'another state & more' }
        await page.goto(`${site}/form?${new URLSearchParams(back)}`)
        await page.getByRole('button', { name: 'Leave' }).click()
        await page.getByRole('heading', { name: 'Sign out?' }).waitFor()
        await page.getByRole('button', { name: 'Sign out' }).click()
        await page.getByRole('heading', { name: 'Until next time' }).waitFor()
        assert.equal(left.at(-1)?.searchParams.get('state'), 'another state & more')
        await goTo(page, endSession({}))
        await page.getByRole('heading', { name: 'You are not signed in' }).waitFor()
        assert.deepEqual(complaints, [])
      },
    )
  }

  await t.test('R049: a way back that is not allowed ends nothing and leads nowhere', async (t) => {
    // Attack: a link on a foreign page logs the person out and goes on to a page that looks like the login.
    const { page, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, ADMIN)
    const tokens = await arrive()
    const evil = { post_logout_redirect_uri: 'https://evil.example/' }
    assert.equal(await goTo(page, endSession({ id_token_hint: tokens.id_token, ...evil })), 400)
    await page.getByRole('heading', { name: 'Not signed out' }).waitFor()
    assert.equal(new URL(page.url()).origin, service.baseUrl)
    assert.equal(await isAlive(tokens), true)
  })

  await t.test('R049: a hint that is not ours ends nothing', async (t) => {
    const { page, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, ADMIN)
    const tokens = await arrive()
    const [header, claims] = tokens.id_token.split('.')
    assert.equal(await goTo(page, endSession({ id_token_hint: `${header}.${claims}.AAAA` })), 400)
    await page.getByRole('heading', { name: 'Not signed out' }).waitFor()
    assert.equal(await isAlive(tokens), true)
  })

  await t.test('R049: the other sessions of the same person stay', async (t) => {
    const first = await openLogin(t, browser, app)
    await sendPassword(first.page, ADMIN)
    const one = await first.arrive()
    const second = await openLogin(t, browser, app)
    await sendPassword(second.page, ADMIN)
    const other = await second.arrive()
    await goTo(first.page, endSession({ id_token_hint: one.id_token }))
    assert.equal(await isAlive(one), false)
    assert.equal(await isAlive(other), true)
  })
})
