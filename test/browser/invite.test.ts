/**
 * The link of an invitation, from the command line of an administrator to a browser that has never been here. D-376,
 * D-377. What the pages are like is in accessibility.test.ts.
 */
import assert from 'node:assert/strict'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { connect } from '../../src/client/client.ts'
import { quietPage } from '../support/browser/browser-complaints.ts'
import { codeField } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { authenticatorApp, PASSWORD } from '../support/login/authenticator-app.ts'
import { tokenOf } from '../support/login/invite.ts'
import { administrate } from '../support/management.ts'
import { freshCli } from '../support/process/cli.ts'
import { commandLineOf } from '../support/process/cli-login.ts'
import { startService } from '../support/service.ts'

test('the link of an invitation in a browser', async (t) => {
  const service = await startService(t)
  const cli = await commandLineOf(t, service)
  const admin = await administrate(service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  /** With every address that the browser asks for. */
  async function newPage(t: TestContext, options: BrowserContextOptions = {}) {
    const page = await quietPage(t, browser, options)
    const asked: string[] = []
    page.on('request', (request) => {
      asked.push(request.url(), request.headers()['referer'] ?? '')
    })
    return { page, asked }
  }

  /** The link that the command prints first. */
  async function linkOf(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await cli.run(...args)
    assert.equal(code, 0, stderr)
    const link = stdout.split('\n').find((line) => line.startsWith('https://'))
    assert.ok(link !== undefined, stdout)
    return link
  }

  async function choosePassword(page: Page, password: string): Promise<void> {
    await page.getByLabel('New password', { exact: true }).fill(password)
    await page.getByLabel('Confirm new password').fill(password)
    await page.getByRole('button', { name: 'Save and sign in' }).click()
  }

  async function setUpApp(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Set up the app' }).click()
    const url = await page.locator('a[href^="otpauth:"]').getAttribute('href')
    const app = authenticatorApp(url ?? '', service.clock)
    await codeField(page).fill(app.nextCode())
    await page.getByLabel('I have saved my recovery codes').check()
    await page.getByRole('button', { name: 'Finish' }).click()
  }

  const atAccount = (page: Page) => page.waitForURL(`${service.baseUrl}/account`)

  await t.test('leads to a signed-in account with the app that the policy demands', async (t) => {
    await admin.createPolicy({ name: 'with-app', secondary: { requireTotp: true } })
    const link = await linkOf(
      ...['create', 'identity', 'zoe', '--policy', 'with-app', '--enroll', 'updb'],
    )
    const { page, asked } = await newPage(t)
    await page.goto(link)
    await page.getByRole('heading', { name: 'Choose your password' }).waitFor()
    assert.equal(page.url(), `${service.baseUrl}/invite`, 'the token has left the address bar')
    const field = page.getByLabel('New password', { exact: true })
    await page.getByRole('button', { name: 'Show password' }).first().click()
    assert.equal(await field.getAttribute('type'), 'text')
    await choosePassword(page, 'short')
    await page.getByRole('alert').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Show password' }).count(), 2)
    await choosePassword(page, PASSWORD)
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    await setUpApp(page)
    await atAccount(page)
    await page.getByText('zoe').first().waitFor()
    const token = tokenOf(link)
    for (const address of asked) {
      assert.ok(!address.split('#')[0]?.includes(token), 'R108: no address has the token')
    }

    // Back to the link: it says that it was used, and that there is a way on.
    await page.goto(link)
    await page.reload()
    await page.goto(link)
    await page.getByRole('heading', { name: 'This link was already used' }).waitFor()
  })

  await t.test('works without scripts, in German', async (t) => {
    const link = await linkOf('create', 'identity', 'jürgen', '--enroll', 'updb')
    const { page } = await newPage(t, { javaScriptEnabled: false, locale: 'de-DE' })
    await page.goto(link)
    await page.getByLabel('Link oder Code').fill(link)
    await page.getByRole('button', { name: 'Weiter' }).click()
    await page.getByRole('heading', { name: 'Passwort wählen' }).waitFor()
    await page.getByLabel('Neues Passwort', { exact: true }).fill(PASSWORD)
    await page.getByLabel('Neues Passwort bestätigen').fill(PASSWORD)
    await page.getByRole('button', { name: 'Speichern und anmelden' }).click()
    await atAccount(page)
    await page.getByRole('heading', { name: 'Übersicht' }).waitFor()
  })

  await t.test('makes an identity file whose key stays in the browser', async (t) => {
    const link = await linkOf('create', 'identity', 'laptop 7', '--enroll', 'ott')
    const { page } = await newPage(t)
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.postData() ?? ''))
    await page.goto(link)
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Create the file' }).click()
    const download = await saving
    assert.equal(download.suggestedFilename(), 'laptop-7.json')
    await page.getByRole('heading', { name: 'Your identity file is ready' }).waitFor()
    const { home, succeed } = await freshCli(t)
    const path = join(home, 'laptop-7.json')
    await download.saveAs(path)
    const file = JSON.parse(await readFile(path, 'utf8'))
    assert.deepEqual(Object.keys(file).toSorted(), ['ca', 'cert', 'id', 'key', 'url'])
    assert.match(file.key, /^-----BEGIN PRIVATE KEY-----\n/)
    const secret = file.key.split('\n')[1]
    assert.ok(sent.every((body) => !body.includes(secret) && !body.includes('PRIVATE KEY')))

    // The page says so, because browsers save files that others can read.
    assert.match(
      await page.locator('[data-shown=done] pre').innerText(),
      /^chmod 600 laptop-7\.json\n/,
    )
    await chmod(path, 0o600)
    await succeed(['login', '--identity', path])
    assert.match(await succeed(['whoami']), /laptop 7/)
    const { url, ca, cert, key } = file
    const client = await connect({ url, ca })
    const session = await client.logIn({ method: 'cert', cert, key })
    await session.logout()
  })

  await t.test('without scripts, the identity file is left to a program', async (t) => {
    const link = await linkOf('create', 'identity', 'laptop-8', '--enroll', 'ott')
    const { page } = await newPage(t, { javaScriptEnabled: false })
    await page.goto(link)
    await page.getByLabel('Link or code').fill(link)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This browser does not run scripts').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Create the file' }).count(), 0)
    await page.locator('summary').click()
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save the invitation' }).click()
    const { home, succeed } = await freshCli(t)
    await (await saving).saveAs(join(home, 'invitation.jwt'))
    await succeed(['enroll', 'invitation.jwt', '--out', 'laptop-8.json'])
    await succeed(['login', '--identity', 'laptop-8.json'])
  })

  await t.test('of a reset replaces a forgotten password, and a lost phone', async (t) => {
    const person = await admin.createIdentity({ name: 'forgetful', password: PASSWORD })
    const next = 'the next password of hers'
    const { page } = await newPage(t)
    await page.goto(await linkOf('reset', 'password', 'forgetful'))
    await choosePassword(page, next)
    await atAccount(page)

    const policies = await admin.get('/auth-policies?filter=name="with-app"')
    await admin.act('PATCH', `/identities/${person.id}`, { authPolicyId: policies[0].id })
    const { page: other } = await newPage(t)
    await other.goto(`${service.baseUrl}/account`)
    await other.getByLabel('Username').fill('forgetful')
    await other.getByLabel('Password').fill(next)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await setUpApp(other)
    await atAccount(other)
    await other.goto(await linkOf('reset', 'mfa', 'forgetful'))
    await other.getByLabel('Password').fill(next)
    await other.getByRole('button', { name: 'Remove and continue' }).click()
    await setUpApp(other)
    await atAccount(other)
  })
})
