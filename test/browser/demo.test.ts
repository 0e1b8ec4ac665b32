/**
 * The way of the demo through its identity provider, in a real browser: from `latchkey login` to the login page, to the
 * page of the IdP, and back to the terminal; and as a second factor to one's own account. D-47, D-171.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkWithAxe } from '../support/browser/axe.ts'
import { sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { freshCli } from '../support/process/cli.ts'
import { startDemoProcess } from '../support/process/demo.ts'
import { temporaryFolder } from '../support/service.ts'

test('the identity provider of the demo, in a browser', async (t) => {
  const demo = await startDemoProcess(t, { temporary: await temporaryFolder(t) })
  const browser = await launchChromium()
  t.after(() => browser.close())

  async function openPage(t: TestContext, javaScriptEnabled = true) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, javaScriptEnabled })
    t.after(() => context.close())
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    return { page, complaints }
  }
  async function goToIdp(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'Continue with the demo IdP' }).click()
    await page.getByRole('heading', { name: 'Who do you want to sign in as?' }).waitFor()
    assert.equal(new URL(page.url()).origin, demo.idpUrl)
  }
  const be = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()

  /** Somebody who has typed `latchkey login`, and whose browser has opened. */
  async function fromTerminal(t: TestContext, javaScriptEnabled = true) {
    const cli = await freshCli(t)
    const args = ['login', '--url', demo.serviceUrl, '--ca', join(demo.folder, 'ca.pem')]
    const terminal = cli.open([...args, '--no-browser'], { columns: 2_000 })
    await terminal.sees('&code_challenge_method=S256')
    const [url = ''] = /https:\S+/.exec(terminal.output()) ?? []
    const { page, complaints } = await openPage(t, javaScriptEnabled)
    await page.goto(url)
    const arrive = async (name: string) => {
      await terminal.sees(`Logged in as ${name} `)
      assert.equal(await terminal.ended(), 0)
    }
    return { page, complaints, arrive }
  }

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? '' : ', without JavaScript too'
    await t.test(`emil comes from the terminal, and back to it${how}`, async (t) => {
      const { page, complaints, arrive } = await fromTerminal(t, javaScriptEnabled)
      await goToIdp(page)
      if (javaScriptEnabled) {
        const { violations, passed } = await checkWithAxe(page)
        assert.deepEqual(violations, [])
        assert.ok(passed > 10, `${passed} rules`)
      }
      await be(page, 'emil')
      await arrive('emil')
      assert.deepEqual(complaints, [])
    })
  }

  await t.test('dora shows her password here and her account there', async (t) => {
    const { page, arrive } = await fromTerminal(t)
    await sendPassword(page, { username: 'dora', password: demo.passwordOf('dora') })
    await page.getByRole('heading', { name: 'One more sign-in' }).waitFor()
    await goToIdp(page)
    await be(page, 'dora')
    await arrive('dora')
  })

  await t.test('paula comes through the gateway to the service behind it', async (t) => {
    const { page } = await openPage(t)
    await page.goto(`${demo.gatewayUrl}/hello`)
    await sendPassword(page, { username: 'paula', password: demo.passwordOf('paula') })
    await page.waitForURL(`${demo.gatewayUrl}/hello`)
    assert.match((await page.textContent('body')) ?? '', /"x-latchkey-identity-id": "/)
  })

  await t.test('emil sees his own account', async (t) => {
    const { page } = await openPage(t)
    await page.goto(`${demo.serviceUrl}/account`)
    await goToIdp(page)
    await be(page, 'emil')
    await page.waitForURL(`${demo.serviceUrl}/account`)
    assert.match((await page.textContent('main')) ?? '', /\bemil\b/)
  })

  await t.test(
    'an unknown user does not get in, and every return without a code is an error',
    async (t) => {
      const { page } = await openPage(t)
      const alert = page.getByRole('alert')
      await page.goto(`${demo.serviceUrl}/account`)
      await goToIdp(page)
      await be(page, 'stranger')
      await alert.waitFor()
      assert.match(
        (await alert.textContent()) ?? '',
        /^That account cannot be used to sign in here/,
      )
      await goToIdp(page)
      await be(page, 'Cancel')
      await alert.waitFor()
      assert.match((await alert.textContent()) ?? '', /^The identity provider did not sign you in/)
    },
  )
})
