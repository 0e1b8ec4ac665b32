/**
 * Passkeys as a person meets them, in a real browser with a virtual authenticator: alone, as the second factor, created in
 * the middle of a login. D-430 … D-437, D-446.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { openLogin, sendPassword, tickSaved } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { plugIn } from '../support/browser/virtual-key.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { PASSWORD } from '../support/login/authenticator-app.ts'
import { administrate } from '../support/management.ts'
import { passkeyPolicy } from '../support/passkeys/passkey-login.ts'
import { startService } from '../support/service.ts'

test('a user signs in with a passkey', async (t) => {
  const service = await startService(t)
  const app = await startClientApp(t, service)
  const admin = await administrate(service)
  const policy = await passkeyPolicy(admin)
  const browser = await launchChromium()
  t.after(() => browser.close())
  const newPerson = () => admin.createIdentity({ password: PASSWORD, policy })

  const person = await newPerson()
  let credentials: readonly object[] = []
  let recoveryCodes: readonly string[] = []
  let uses = 0
  /** What the key holds now: it counts how often it was used. */
  const inUse = () => {
    uses += 10
    return credentials.map((one) => ({ ...one, signCount: uses }))
  }

  await t.test('one is created in the middle of a login that demands it', async (t) => {
    const { page, complaints, arrive } = await openLogin(t, browser, app)
    const key = await plugIn(page)
    await sendPassword(page, person)
    await page.getByRole('heading', { name: 'Create a passkey' }).waitFor()
    recoveryCodes = await page.locator('.codes code').allTextContents()
    assert.equal(recoveryCodes.length, 20)
    await tickSaved(page)
    await page.getByRole('button', { name: 'Create passkey' }).click()
    const { access_token } = await arrive()
    assert.deepEqual(decodeJwt(access_token)['amr'], ['pwd', 'pop', 'user', 'mfa'])
    credentials = await key.credentials()
    assert.equal(credentials.length, 1)
    assert.deepEqual(complaints, [])
  })

  await t.test('it is the second factor after the password', async (t) => {
    const { page, complaints, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByRole('heading', { name: 'Use your passkey' }).waitFor()
    await plugIn(page, inUse())
    await page.getByRole('button', { name: 'Use passkey' }).click()
    const { access_token } = await arrive()
    assert.deepEqual(decodeJwt(access_token)['amr'], ['pwd', 'pop', 'user', 'mfa'])
    assert.deepEqual(complaints, [])
  })

  await t.test('it signs in without name and password', async (t) => {
    const { page, complaints, arrive } = await openLogin(t, browser, app)
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor()
    assert.equal(
      await page.getByLabel('Username').getAttribute('autocomplete'),
      'username webauthn',
    )
    await plugIn(page, inUse())
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    const { access_token } = await arrive()
    assert.deepEqual(decodeJwt(access_token)['amr'], ['pop', 'user', 'mfa'])
    assert.equal(decodeJwt(access_token).sub, person.id)
    assert.deepEqual(complaints, [])
  })

  await t.test('a recovery code stands in for it', async (t) => {
    const { page, complaints, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByText('Use a recovery code').click()
    await page.getByLabel('Recovery code').fill(recoveryCodes[0] ?? '')
    await page.getByRole('button', { name: 'Continue' }).click()
    await arrive()
    assert.deepEqual(complaints, [])
  })

  await t.test('a user who cancels is told so, and can try again', async (t) => {
    const { page, arrive } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByRole('heading', { name: 'Use your passkey' }).waitFor()
    // An authenticator without the passkey: the browser gives up at once.
    await page.evaluate(
      "navigator.credentials.get = () => Promise.reject(new DOMException('', 'NotAllowedError'))",
    )
    await page.getByRole('button', { name: 'Use passkey' }).click()
    await page.getByText('The passkey was not used. Try again').waitFor()
    await page.reload()
    await plugIn(page, inUse())
    await page.getByRole('button', { name: 'Use passkey' }).click()
    await arrive()
  })

  await t.test(
    'the error of a wrong recovery code is at its field, and another one can be typed',
    async (t) => {
      const { page } = await openLogin(t, browser, app)
      await sendPassword(page, person)
      await page.getByText('Use a recovery code').click()
      await page.getByLabel('Recovery code').fill('WRONG2')
      await page.getByRole('button', { name: 'Continue' }).click()
      await page.getByText('That recovery code is incorrect, or was already used.').waitFor()
      assert.equal(await page.locator(':focus').getAttribute('name'), 'code')
      await page.keyboard.type('WRONG3')
      await page.keyboard.press('Enter')
      await page.getByText('That recovery code is incorrect, or was already used.').waitFor()
    },
  )

  await t.test('pressing twice shows no failure, and the browser still asks', async (t) => {
    const { page } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByRole('heading', { name: 'Use your passkey' }).waitFor()
    // A prompt that stays until it is aborted: the one of Firefox leaves the page usable.
    await page.evaluate(`
      window.prompts = 0
      navigator.credentials.get = ({ signal }) => new Promise((_, reject) => {
        window.prompts += 1
        signal.addEventListener('abort', () => {
          window.prompts -= 1
          reject(signal.reason)
        })
      })`)
    const button = page.getByRole('button', { name: 'Use passkey' })
    await button.click()
    await button.click()
    assert.equal(await page.evaluate('window.prompts'), 1)
    assert.equal(await page.getByRole('alert').isVisible(), false)
  })

  await t.test('a browser without passkeys says so, beside a button that looks off', async (t) => {
    const { page } = await openLogin(t, browser, app)
    await page.addInitScript('delete window.PublicKeyCredential')
    await sendPassword(page, person)
    await page.getByText('This browser cannot use passkeys.').waitFor()
    const ground = (which: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('button${which}')).backgroundColor`)
    assert.equal(await page.getByRole('button', { name: 'Use passkey' }).isDisabled(), true)
    assert.notEqual(await ground(':disabled'), await ground(':enabled'))
  })

  await t.test('a cloned passkey, whose counter went back, is refused on the page', async (t) => {
    const { page } = await openLogin(t, browser, app)
    await sendPassword(page, person)
    await page.getByRole('heading', { name: 'Use your passkey' }).waitFor()
    await plugIn(
      page,
      credentials.map((one) => ({ ...one, signCount: 0 })),
    )
    await page.getByRole('button', { name: 'Use passkey' }).click()
    await page.getByRole('alert').filter({ hasText: 'was not accepted' }).waitFor()
    assert.equal(await page.title(), 'Error: Use your passkey')
  })

  await t.test(
    'a passkey that is not registered here is refused, beside the password',
    async (t) => {
      const stranger = await newPerson()
      const first = await openLogin(t, browser, app)
      const key = await plugIn(first.page)
      await sendPassword(first.page, stranger)
      await first.page.getByRole('heading', { name: 'Create a passkey' }).waitFor()
      await tickSaved(first.page)
      await first.page.getByRole('button', { name: 'Create passkey' }).click()
      await first.arrive()
      await admin.act('DELETE', `/identities/${stranger.id}/mfa`)
      const { page } = await openLogin(t, browser, app)
      await page.getByRole('button', { name: 'Use a passkey' }).waitFor()
      await plugIn(page, await key.credentials())
      await page.getByRole('button', { name: 'Use a passkey' }).click()
      await page.getByRole('alert').filter({ hasText: 'cannot be used to sign in here' }).waitFor()
      await page.getByLabel('Username').waitFor()
    },
  )

  await t.test(
    'without scripts the page says what to do, and the password page has no button',
    async (t) => {
      const { page } = await openLogin(t, browser, app, { profile: { javaScriptEnabled: false } })
      assert.equal(await page.getByRole('button', { name: 'Use a passkey' }).isVisible(), false)
      await sendPassword(page, person)
      // By its element: locators by text skip it.
      const note = page.locator('noscript p')
      await note.waitFor()
      assert.match((await note.textContent()) ?? '', /^Passkeys need scripts\./)
      assert.equal(await page.getByRole('button', { name: 'Use passkey' }).isVisible(), false)
    },
  )

  await t.test(
    'a policy that demands a passkey from now on is met in the middle of a login',
    async (t) => {
      const plain = await admin.createPolicy()
      const changed = await admin.createIdentity({ password: PASSWORD, policy: plain })
      const { page, arrive } = await openLogin(t, browser, app)
      await admin.act('PATCH', `/auth-policies/${plain}`, { secondary: { requirePasskey: true } })
      await plugIn(page)
      await sendPassword(page, changed)
      await page.getByRole('heading', { name: 'Create a passkey' }).waitFor()
      await tickSaved(page)
      await page.getByRole('button', { name: 'Create passkey' }).click()
      await arrive()
    },
  )
})
