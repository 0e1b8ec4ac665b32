/** /account/passkeys as a person meets it, in a real browser with a virtual authenticator. D-437, D-446. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkWithAxe } from '../support/browser/axe.ts'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { tickSaved } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { submit } from '../support/browser/login-pages.ts'
import { plugIn } from '../support/browser/virtual-key.ts'
import { formTokenOf, openAccount, post } from '../support/login/account.ts'
import { PASSWORD } from '../support/login/authenticator-app.ts'
import { administrate } from '../support/management.ts'
import { startService } from '../support/service.ts'

test('a user manages passkeys', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  const browser = await launchChromium()
  t.after(() => browser.close())
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  const page = await context.newPage()
  const complaints = complaintsOf(page)
  await page.goto(`${service.baseUrl}/account/passkeys`)
  await submit(page, person)
  await page.getByRole('heading', { name: 'Passkeys' }).waitFor()
  const key = await plugIn(page)
  const PICTURES = process.env['TEST_PICTURES']
  const look = async (name: string) => {
    const { violations } = await checkWithAxe(page, [])
    assert.deepEqual(violations, [], name)
    if (PICTURES === undefined) return
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${PICTURES}/${name}-${colorScheme}.png`, fullPage: true })
    }
    await page.emulateMedia({ colorScheme: null })
  }

  await t.test('adds one, with recovery codes because it is the first factor', async () => {
    await look('passkeys-none')
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    assert.equal(await page.locator('.codes code').count(), 20)
    await look('passkeys-add')
    await page.getByLabel('Name').fill('My laptop')
    await tickSaved(page)
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByText('Your passkey was added.').waitFor()
    await page.getByRole('heading', { name: 'My laptop' }).waitFor()
    await look('passkeys-one')
  })

  await t.test('the page of the app is not switched on by it', async () => {
    await page.goto(`${service.baseUrl}/account/totp`)
    await page.getByRole('button', { name: 'Set up' }).waitFor()
    await page.goto(`${service.baseUrl}/account/passkeys`)
  })

  await t.test('the same device is not registered twice', async () => {
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByText('This device already has a passkey').waitFor()
    await page.goto(`${service.baseUrl}/account/passkeys`)
  })

  await t.test('renames it', async () => {
    await page.getByText('Rename', { exact: true }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Old laptop')
    await page.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('heading', { name: 'Old laptop' }).waitFor()
  })

  await t.test('a wrong code removes nothing', async () => {
    await page.getByText('Remove', { exact: true }).first().click()
    await page.getByLabel('Code from your app').fill('wrong1')
    await page.getByRole('button', { name: 'Remove, confirm with the code' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('heading', { name: 'Old laptop' }).waitFor()
  })

  await t.test(
    'R100: a passkey of another user is not found, and a forged form changes nothing',
    async () => {
      const other = await openAccount(service, await admin.createIdentity({ password: PASSWORD }))
      const html = await other.page('/account/passkeys')
      const [own] = await key.credentials()
      assert.ok(own !== undefined)
      const formToken = formTokenOf(
        await other.page('/account/passkeys'),
        '/account/passkeys/start',
      )
      assert.ok(html.includes('You have no passkeys yet.'))
      for (const action of ['rename', 'remove', 'verify', 'start']) {
        const form = Object.entries({
          formToken: `${formToken}x`,
          passkey: 'x',
          name: 'x',
          code: 'x',
        })
        const reply = await post(service, other.browser, `/account/passkeys/${action}`, form)
        assert.equal(reply.status, 403, action)
      }
    },
  )

  await t.test('removes it, confirmed with the passkey itself', async () => {
    await page.goto(`${service.baseUrl}/account/passkeys`)
    await page.getByText('Remove', { exact: true }).first().click()
    await page.getByRole('button', { name: 'Remove, confirm with a passkey' }).click()
    await page.getByText('The passkey was removed.').waitFor()
    await page.getByText('You have no passkeys yet.').waitFor()
  })

  assert.deepEqual(complaints, [])
})
