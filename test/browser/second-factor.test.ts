/**
 * The second factor as a person meets it, in a real browser: the code of the app, recovery codes, and setting the app
 * up in the middle of a login. SPEC Secondary factors and TOTP; D-17 … D-20, D-50. None of it needs a script.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import {
  codeField,
  focused,
  openLogin,
  sendCode,
  sendPassword,
  tickSaved,
} from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startClientApp } from '../support/client/client-app.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  totpPolicy,
} from '../support/login/authenticator-app.ts'
import type { Tokens } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { startService } from '../support/service.ts'

const WRONG_CODE = 'That code is incorrect. Wait for the next one and try again.'

/** Presses Tab until this has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let pressed = 0; pressed < 8; pressed += 1) {
    await page.keyboard.press('Tab')
    if ((await page.locator(`${selector}:focus`).count()) > 0) return
  }
  assert.fail(`Tab does not lead to ${selector}`)
}

test('a user proves a second factor with a browser', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const admin = await administrate(service)
  const policy = await totpPolicy(admin)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const newPerson = () => admin.createIdentity({ password: PASSWORD, policy })

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? '' : ', without JavaScript too'

    await t.test(`the code of the app leads back to the application${how}`, async (t) => {
      const person = await enrolledPerson(service, admin)
      const { page, complaints, arrive } = await openLogin(t, browser, app, {
        profile: { javaScriptEnabled },
      })
      await sendPassword(page, person)
      await codeField(page).waitFor()
      assert.equal(await page.title(), 'Enter your code')
      await codeField(page).fill(person.app.nextCode())
      await page.getByRole('button', { name: 'Continue' }).click()
      assertSecondFactor(await arrive(), person.id)
      assert.deepEqual(complaints, [])
    })

    await t.test(`an app is set up in the middle of a login${how}`, async (t) => {
      const person = await newPerson()
      const { page, complaints, arrive } = await openLogin(t, browser, app, {
        profile: { javaScriptEnabled },
      })
      await sendPassword(page, person)
      await page.getByRole('heading', { name: 'One more step' }).waitFor()
      await page.getByRole('button', { name: 'Set up the app' }).click()
      const { app: phone, recoveryCodes } = await scan(page)
      assert.equal(recoveryCodes.length, 20)
      await codeField(page).fill(phone.code())
      await tickSaved(page)
      await page.getByRole('button', { name: 'Finish' }).click()
      assertSecondFactor(await arrive(), person.id)
      assert.deepEqual(complaints, [])

      // R092: the next login asks for it, and takes one of the recovery codes that the page showed.
      const next = await openLogin(t, browser, app, { profile: { javaScriptEnabled } })
      await sendPassword(next.page, person)
      await codeField(next.page).fill(recoveryCodes[7] ?? '')
      await next.page.keyboard.press('Enter')
      assertSecondFactor(await next.arrive(), person.id)
      assert.deepEqual(next.complaints, [])
    })
  }

  await t.test(
    'recovery codes are copied, and downloaded with the account that they are for',
    async (t) => {
      const person = await newPerson()
      const { context, page, complaints } = await openLogin(t, browser, app)
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await sendPassword(page, person)
      await page.getByRole('button', { name: 'Set up the app' }).click()
      const { recoveryCodes } = await scan(page)
      const codes = recoveryCodes.map((code) => `${code}\n`).join('')

      await page.getByRole('button', { name: 'Copy' }).click()
      await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor()
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), codes)

      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download' }).click()
      const download = await downloading
      assert.equal(download.suggestedFilename(), 'recovery-codes.txt')
      const file = await readFile(await download.path(), 'utf8')
      assert.equal(file, `Recovery codes for ${person.username}, localhost\n\n${codes}`)
      assert.deepEqual(complaints, [])
    },
  )

  await t.test('R088: a wrong code is said at the field, and the next try works', async (t) => {
    const person = await enrolledPerson(service, admin)
    const before = app.answers.length
    const { page, complaints, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    assert.equal(await sendCode(page, person.app.wrongCode()), 400)
    const alert = page.getByRole('alert')
    assert.equal(await alert.textContent(), WRONG_CODE)
    assert.equal(await codeField(page).inputValue(), '')
    assert.equal(await focused(page), 'code')
    const described = await codeField(page).getAttribute('aria-describedby')
    assert.equal(described, await alert.getAttribute('id'))
    assert.equal(app.answers.length, before)

    await sendCode(page, person.app.nextCode())
    assertSecondFactor(await arrive(), person.id)
    assert.deepEqual(complaints, [])
  })

  await t.test(
    'R087: a recovery code works once, in small letters and in two groups',
    async (t) => {
      const person = await enrolledPerson(service, admin)
      const [code = ''] = person.recoveryCodes
      const typed = `${code.slice(0, 3)} ${code.slice(3)}`.toLowerCase()
      const first = await openLogin(t, browser, app)
      await sendPassword(first.page, person)
      await sendCode(first.page, typed)
      assertSecondFactor(await first.arrive(), person.id)

      const second = await openLogin(t, browser, app)
      await sendPassword(second.page, person)
      assert.equal(await sendCode(second.page, typed), 400)
      assert.equal(await second.page.getByRole('alert').textContent(), WRONG_CODE)
    },
  )

  await t.test('R085: a code that was used in one window does not work in another', async (t) => {
    const person = await enrolledPerson(service, admin)
    const code = person.app.nextCode()
    const first = await openLogin(t, browser, app)
    await sendPassword(first.page, person)
    await sendCode(first.page, code)
    await first.arrive()
    const second = await openLogin(t, browser, app)
    await sendPassword(second.page, person)
    assert.equal(await sendCode(second.page, code), 400)
    assert.equal(await second.page.getByRole('alert').textContent(), WRONG_CODE)
  })

  await t.test('D-18: ten wrong codes end the sign-in, and the page says so', async (t) => {
    const person = await enrolledPerson(service, admin)
    const { page } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    for (let n = 0; n < 10; n += 1) assert.equal(await sendCode(page, 'no code'), 400)
    await sendCode(page, person.app.nextCode())
    await page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor()
    assert.equal(await page.locator('form').count(), 0)
  })

  await t.test('the keyboard alone is enough for a code', async (t) => {
    const person = await enrolledPerson(service, admin)
    const { page, arrive } = await openLogin(t, browser, app)
    await page.locator('input:focus').waitFor()
    await page.keyboard.type(person.username)
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await codeField(page).waitFor()
    assert.equal(await focused(page), 'code')
    await page.keyboard.type(person.app.nextCode())
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'submit')
    await page.keyboard.press('Enter')
    await arrive()
  })

  await t.test('the keyboard alone is enough to set up an app', async (t) => {
    const person = await newPerson()
    const { page, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByRole('heading', { name: 'One more step' }).waitFor()
    await tabTo(page, 'button[type=submit]')
    await page.keyboard.press('Enter')
    const { app: phone } = await scan(page)
    await tabTo(page, 'a[href^="otpauth://totp/"]')
    await tabTo(page, 'summary')
    await page.keyboard.press('Enter')
    assert.ok(await page.locator('code.key').isVisible(), 'the key to type opens')
    await tabTo(page, 'input[name=code]')
    await page.keyboard.type(phone.code())
    await tabTo(page, 'input[name=saved]')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await arrive()
  })

  await t.test('an empty code is not sent', async (t) => {
    const person = await enrolledPerson(service, admin)
    const { page } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await codeField(page).waitFor()
    const posts: string[] = []
    page.on('request', (request) => posts.push(request.method()))
    await page.keyboard.press('Enter')
    assert.equal(await focused(page), 'code')
    assert.deepEqual(posts, [])
  })

  await t.test('phones and password managers find what they look for', async (t) => {
    const enrolled = await enrolledPerson(service, admin)
    const { page } = await openLogin(t, browser, app)
    await sendPassword(page, enrolled)
    const attribute = (name: string) => codeField(page).getAttribute(name)
    assert.equal(await attribute('autocomplete'), 'one-time-code')
    // Recovery codes have letters.
    assert.equal(await attribute('inputmode'), 'text')
    assert.equal(await attribute('name'), 'code')
  })

  await t.test('a wrong code while setting up shows the same picture again', async (t) => {
    const person = await newPerson()
    const { page, complaints, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByRole('button', { name: 'Set up the app' }).click()
    const { app: phone } = await scan(page)
    assert.equal(await sendCode(page, phone.wrongCode()), 400)
    assert.equal(await page.getByRole('alert').textContent(), WRONG_CODE)
    assert.equal(await focused(page), 'code')
    const again = await scan(page)
    assert.equal(again.app.provisioningUrl, phone.provisioningUrl)
    // R087: shown once.
    assert.deepEqual(again.recoveryCodes, [])
    await sendCode(page, phone.code())
    assertSecondFactor(await arrive(), person.id)
    assert.deepEqual(complaints, [])
  })

  await t.test('a user who missed the recovery codes starts again and gets new ones', async (t) => {
    const person = await newPerson()
    const { page, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByRole('button', { name: 'Set up the app' }).click()
    const first = await scan(page)
    assert.equal(await sendCode(page, first.app.wrongCode()), 400)
    await page.getByRole('link', { name: 'start over' }).click()
    await page.getByRole('button', { name: 'Set up the app' }).click()
    const second = await scan(page)
    assert.equal(second.recoveryCodes.length, 20)
    assert.notEqual(second.app.provisioningUrl, first.app.provisioningUrl)
    assert.equal(await sendCode(page, first.app.code()), 400, 'the first picture is worth nothing')
    await sendCode(page, second.app.code())
    assertSecondFactor(await arrive(), person.id)
  })

  await t.test(
    'D-19: an app that was proven in another window ends the setting up here',
    async (t) => {
      const person = await newPerson()
      const here = await openLogin(t, browser, app)
      await sendPassword(here.page, person)
      await here.page.getByRole('button', { name: 'Set up the app' }).click()
      const { app: phone } = await scan(here.page)
      const there = await openLogin(t, browser, app)
      await sendPassword(there.page, person)
      await there.page.getByRole('button', { name: 'Set up the app' }).click()
      const { app: other } = await scan(there.page)
      await sendCode(there.page, other.code())
      await there.arrive()
      assert.equal(await sendCode(here.page, phone.code()), 404)
      await here.page.getByRole('button', { name: 'Set up the app' }).click()
      await here.page.getByRole('heading', { name: 'Already set up' }).waitFor()
    },
  )

  /** The app that reads what the page shows, and the recovery codes on it. */
  async function scan(page: Page) {
    await page.getByRole('heading', { name: 'Set up your app' }).waitFor()
    assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), 1)
    const link = page.getByRole('link', { name: 'Open in an app on this device' })
    const url = (await link.getAttribute('href')) ?? ''
    const key = await page.locator('code.key').textContent()
    assert.equal(key, new URL(url).searchParams.get('secret'))
    const recoveryCodes = await page.locator('.codes code').allTextContents()
    return { app: authenticatorApp(url, service.clock), recoveryCodes }
  }
})

function assertSecondFactor({ access_token }: Tokens, id: string): void {
  const { sub, amr } = decodeJwt<{ amr: readonly string[] }>(access_token)
  assert.equal(sub, id)
  assert.deepEqual(amr, ['pwd', 'otp', 'mfa'])
}
