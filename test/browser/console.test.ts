/**
 * The console in a real browser: each screen by keyboard, with and without scripts, light and dark, wide and narrow, held
 * against axe; text that others chose does nothing but be shown; two administrators at once. D-355 to D-360.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { minutes } from '../../src/base/time/duration.ts'
import { bringAxe, checkWithAxe } from '../support/browser/axe.ts'
import { quietPage } from '../support/browser/browser-complaints.ts'
import { sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { enrolledPerson, PASSWORD } from '../support/login/authenticator-app.ts'
import { CLIENT_API } from '../support/login/legacy.ts'
import { administrate, logInAs } from '../support/management.ts'
import { ADMIN, startService } from '../support/service.ts'

/** Runs if any page shows it as anything but text. */
const EVIL = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
const EVIL_ATTRIBUTES =
  "x' hx-get=/console/sign-out hx-trigger=load onmouseover=window.hacked=1 y='"

test('the console in a browser', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const browser = await launchChromium()
  t.after(() => browser.close())

  // Everything that a user, a program or an administrator of somebody else's making can choose.
  const evil = await admin.createIdentity({
    name: EVIL,
    username: `${EVIL_ATTRIBUTES}${'n'.repeat(20)}`,
    password: PASSWORD,
    // Firefox breaks lines at fewer places than Chromium; without any such place, both need a style that says so.
    externalId: `${EVIL}${'n'.repeat(60)}`,
    roleAttributes: ['<b>role</b>'],
    tags: { [EVIL_ATTRIBUTES]: EVIL },
  })
  const enrolled = await enrolledPerson(service, admin)
  const alice = await admin.createIdentity({
    name: 'Alice Example',
    username: 'alice',
    password: PASSWORD,
  })
  await admin.createIdentity({ name: 'Invited' })
  await logInAs(service, alice)
  const login = (password: string, username = evil.username) =>
    service.call(`${CLIENT_API}/authenticate?method=password`, {
      json: { username, password },
      headers: { 'user-agent': EVIL },
    })
  assert.equal((await login(PASSWORD)).status, 200)
  const refused = await login('wrong')
  const requestId = String(refused.headers['x-request-id'])
  await login('wrong', EVIL)

  const newPage = (t: TestContext, options: BrowserContextOptions = {}) =>
    quietPage(t, browser, options)

  async function open(
    page: Page,
    path: string,
    person: { readonly username: string; readonly password: string } = ADMIN,
  ): Promise<void> {
    await page.goto(`${service.baseUrl}${path}`)
    await sendPassword(page, person)
    await page.waitForURL(`${service.baseUrl}${path}`)
  }

  const SCREENS = {
    identities: '/console/identities',
    'no identity': '/console/identities?name=nobody',
    identity: `/console/identities/${evil.id}`,
    'edited identity': `/console/identities/${evil.id}/edit`,
    'identity with a second factor': `/console/identities/${enrolled.id}`,
    search: `/console/search?q=e`,
    sessions: '/console/sessions',
    explain: `/console/explain?request=${requestId}`,
    audit: '/console/audit',
    invite: '/console/invite',
  } as const

  for (const look of [
    { colorScheme: 'light', viewport: { width: 1280, height: 900 }, rules: [] },
    // What can differ from the other look.
    { colorScheme: 'dark', viewport: { width: 360, height: 740 }, rules: ['color-contrast'] },
  ] as const) {
    const { colorScheme, viewport, rules } = look
    await t.test(`every screen is clean: ${colorScheme}, ${viewport.width} px`, async (t) => {
      const page = await newPage(t, { colorScheme, viewport })
      await bringAxe(page)
      await open(page, '/console/identities')
      for (const [screen, path] of Object.entries(SCREENS)) {
        await page.goto(`${service.baseUrl}${path}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        assert.equal(await page.evaluate('window.htmx !== undefined'), true, `${screen}: no htmx`)
        await picture(page, `${screen}-${colorScheme}`)
        assert.equal(
          await page.evaluate('window.hacked'),
          undefined,
          `${screen} ran text of others`,
        )
        assert.equal(await page.locator('main script, main img').count(), 0, screen)
        const { violations, passed } = await checkWithAxe(page, rules)
        assert.deepEqual(violations, [], screen)
        assert.ok(passed > 0)
        const width = await page.evaluate<number>('document.documentElement.scrollWidth')
        assert.ok(width <= viewport.width, `${screen} is ${width} px wide`)
        assert.doesNotMatch((await page.locator('main time').allTextContents()).join(), /UTC/)
      }
    })
  }

  await t.test('a field for a time has room for date and time', async (t) => {
    const page = await newPage(t)
    await open(page, '/console/audit')
    const widths = await page.evaluate<readonly (readonly [number, number])[]>(`
      [...document.querySelectorAll('[type=datetime-local]')].map((field) => {
        const shown = field.offsetWidth
        field.style.width = 'max-content'
        return [shown, field.offsetWidth]
      })`)
    assert.equal(widths.length, 2)
    for (const [shown, needed] of widths) assert.ok(shown >= needed, `${shown} of ${needed} px`)
  })

  await t.test('an IPv4 address in the list of sessions is one line', async (t) => {
    const page = await newPage(t, { viewport: { width: 820, height: 800 } })
    await open(page, '/console/sessions')
    const lines = await page.evaluate<readonly number[]>(`
      [...document.querySelectorAll('td[data-label=Address] code')].map((address) => {
        address.textContent = '203.113.100.200'
        return address.offsetHeight / parseFloat(getComputedStyle(address).lineHeight)
      })`)
    assert.ok(lines.length > 0)
    for (const count of lines) assert.ok(count < 1.5, `${count} lines`)
  })

  await t.test('an invitation is copied with one click, and says when it ends', async (t) => {
    const page = await newPage(t, { permissions: ['clipboard-read', 'clipboard-write'] })
    await open(page, '/console/invite')
    await page.getByLabel('Name', { exact: true }).fill('Newcomer')
    await page.getByRole('button', { name: 'Create invitation' }).click()
    const link = await page.getByRole('textbox', { name: 'Link' }).inputValue()
    assert.match(link, /\/invite#lke_/)
    await page.getByRole('button', { name: 'Copy the link' }).click()
    await page.getByRole('status').getByText('Copied').waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), link)
    const words = [await page.getByRole('main').innerText()]
    await page.getByRole('link', { name: 'Back to Newcomer' }).click()
    // A script writes the time in the words of the browser, once the page is there.
    await page
      .getByText(/until \w+ \d+, \d{4}/)
      .first()
      .waitFor()
    words.push(await page.getByRole('main').innerText())
    for (const text of words) {
      assert.match(text, /until \w+ \d+, \d{4}/)
      assert.doesNotMatch(text, /until in /)
    }
  })

  await t.test('on a phone, every value of a row stands beside its label', async (t) => {
    const page = await newPage(t, { viewport: { width: 360, height: 740 } })
    await open(page, '/console/sessions')
    for (const path of [SCREENS.identities, SCREENS.sessions, '/console/policies']) {
      await page.goto(`${service.baseUrl}${path}`)
      const strays = await page.evaluate(`
        [...document.querySelectorAll('.table td :is(a, span, input)')]
          .filter((one) => {
            const cell = one.closest('td').getBoundingClientRect()
            return one.getBoundingClientRect().left < cell.left + 100
          })
          .map((one) => one.outerHTML)`)
      assert.deepEqual(strays, [], path)
    }
  })

  await t.test('a message is centered, and badges are next to each other', async (t) => {
    const page = await newPage(t)
    await open(page, '/console/identities')
    await page.getByRole('link', { name: 'admin', exact: true }).last().click()
    const marks = page.locator('main > .heading .badge')
    await marks.first().waitFor()
    const [first, second] = await Promise.all([
      marks.nth(0).boundingBox(),
      marks.nth(1).boundingBox(),
    ])
    assert.ok(first && second)
    const gap = second.x - (first.x + first.width)
    assert.ok(gap >= 0 && gap < 20, `the marks are ${gap} px apart`)
    await page.getByRole('cell', { name: 'Password', exact: true }).first().waitFor()
    await page.goto(`${service.baseUrl}/console/identities/nothing`)
    const card = await page.getByRole('main').boundingBox()
    const size = page.viewportSize()
    assert.ok(card && size)
    const below = size.height - card.y - card.height
    assert.ok(Math.abs(card.y - below) <= 2, `${card.y} px above, ${below} px below`)
  })

  await t.test('with the keyboard alone: find a person, disable and enable them', async (t) => {
    const page = await newPage(t)
    await open(page, '/console/identities')
    await page.keyboard.press('/')
    await page.keyboard.type('alice')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Alice Example' }).waitFor()
    await focus(page, 'Disable…')
    await page.keyboard.press('Enter')
    await focus(page, 'Disable')
    await page.keyboard.press('Enter')
    await page.getByText('The identity is disabled. Its sessions have ended.').waitFor()
    await focus(page, 'Enable')
    await page.keyboard.press('Enter')
    await page.getByText('The identity is enabled.').waitFor()
  })

  await t.test(
    'an identity is edited without scripts, and input survives a new login',
    async (t) => {
      const page = await newPage(t, { javaScriptEnabled: false })
      const person = await admin.createIdentity({ name: 'Bob Example', password: PASSWORD })
      await open(page, `/console/identities/${person.id}`)
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByLabel('Name').fill('Alice Example')
      await page.getByLabel('Roles').fill('engineering\non-call')
      await page.getByRole('button', { name: 'Save' }).click()
      const taken = 'This name is already taken. Choose another one.'
      await page.getByRole('alert').getByRole('link', { name: taken }).click()
      await picture(page, 'edit refused')
      const name = page.getByRole('textbox', {
        name: 'Name',
        description: `${taken} Usernames stay as they are.`,
      })
      assert.equal(await name.inputValue(), 'Alice Example')
      await name.fill('Robert Example')
      service.clock.advance(minutes(6))
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('link', { name: 'Confirm that it is you' }).click()
      await sendPassword(page, ADMIN)
      await page.getByRole('status').getByText('What you entered is still here').waitFor()
      assert.equal(await page.getByLabel('Roles').inputValue(), 'engineering\non-call')
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByRole('status').getByText('The identity was changed.').waitFor()
      await page.getByRole('heading', { level: 1, name: 'Robert Example' }).waitFor()
      await page.getByText('engineering, on-call').waitFor()
    },
  )

  await t.test('changes that end sessions, and changes of others, are asked about', async (t) => {
    const page = await newPage(t)
    const person = await admin.createIdentity({ name: 'Carol Example', password: PASSWORD })
    await logInAs(service, person)
    await open(page, `/console/identities/${person.id}/edit`)
    await page.getByLabel('Name').fill('Alice Example')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('This name is already taken.').first().waitFor()
    assert.deepEqual((await checkWithAxe(page)).violations, [])
    const second = await administrate(service)
    await second.call('PATCH', `/identities/${person.id}`, { name: 'Caroline Example' })
    await page.getByLabel('Name').fill('Carola Example')
    await page.getByLabel('Administrator').check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('alert').getByText('Saving ends 1 session of Caroline Example.').waitFor()
    await page.getByText('it is “Caroline Example” now.').waitFor()
    await picture(page, 'edit asked')
    assert.deepEqual((await checkWithAxe(page)).violations, [])
    await page.getByRole('button', { name: 'Save anyway' }).click()
    await page.getByRole('heading', { level: 1, name: 'Carola Example' }).waitFor()
    await page.getByText('Administrator', { exact: true }).waitFor()
  })

  await t.test('without scripts: search, end a session, explain a refusal', async (t) => {
    const page = await newPage(t, { javaScriptEnabled: false })
    await logInAs(service, alice)
    await open(page, '/console/sessions')
    assert.match((await page.locator('main time').first().textContent()) ?? '', / UTC$/)
    await page
      .getByLabel(/^End the session of Alice Example/)
      .first()
      .check()
    await page.getByRole('button', { name: 'End chosen sessions' }).click()
    await page.getByRole('status').getByText('The session has ended.').waitFor()
    await page.getByRole('searchbox', { name: 'Find anyone' }).fill(requestId)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The password is wrong.' }).waitFor()
    await page.getByRole('link', { name: 'See its credentials' }).click()
    await page.getByRole('heading', { name: 'Ways to sign in' }).waitFor()
  })

  await t.test(
    'two administrators: one sees what the other does, without loading the page',
    async (t) => {
      const second = await admin.createIdentity({
        name: 'Second',
        password: PASSWORD,
        isAdmin: true,
      })
      const [one, other] = [await newPage(t), await newPage(t)]
      await open(one, '/console/audit')
      await one.getByText('Live', { exact: true }).waitFor()
      await open(other, `/console/identities/${alice.id}`, second)
      await other.getByText('Disable…').click()
      await other.getByRole('button', { name: 'Disable', exact: true }).click()
      await other.getByText('The identity is disabled.').waitFor()
      await one.locator('#list').getByText('identity.disabled').first().waitFor()
      await one.getByRole('link', { name: 'Second' }).first().waitFor()
    },
  )

  async function picture(page: Page, name: string): Promise<void> {
    const { LATCHKEY_TEST_PICTURES: folder } = process.env
    if (folder === undefined) return
    await page.screenshot({ path: `${folder}/${name.replaceAll(' ', '-')}.png`, fullPage: true })
  }
})

/** Moves on with the tab key until the element with this text has the focus. */
async function focus(page: Page, text: string): Promise<void> {
  for (let i = 0; i < 80; i += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<string>('document.activeElement.textContent.trim()')
    if (focused === text) return
  }
  assert.fail(`the tab key does not lead to ${text}`)
}
