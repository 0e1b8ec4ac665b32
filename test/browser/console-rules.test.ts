/**
 * The overview, policies, signers, CAs, the expiry calendar and the configuration in a real browser: in light
 * and dark, wide and at 360 pixels, held against WCAG by axe. test/protocol/console goes the same ways without scripts. What anyone can name is never markup. D-365 to D-372.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { days } from '../../src/base/time/duration.ts'
import { bringAxe, checkWithAxe } from '../support/browser/axe.ts'
import { complaintsOf } from '../support/browser/browser-complaints.ts'
import { sendPassword } from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { authenticate } from '../support/login/legacy.ts'
import { administrate, logInAs } from '../support/management.ts'
import { ADMIN, startService } from '../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

/** Where pictures of the pages go, for people to look at. */
const PICTURES = process.env['TEST_PICTURES']
const PASSWORD = 'a password of somebody'
const EVIL = '<img src=x onerror=alert(1)>"\'&'
const WIDE = { width: 1280, height: 900 }
const SMALL = { width: 360, height: 740 }

test('screens of the installation as a whole, in a browser', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const policy = await admin.createPolicy({ name: `strict ${EVIL}` })
  const ann = await admin.createIdentity({
    name: `Ann ${EVIL}`,
    username: 'ann',
    password: PASSWORD,
    policy,
  })
  await logInAs(service, ann)
  for (let i = 0; i < 3; i += 1) await authenticate(service, { username: 'ann', password: 'wrong' })
  const issuer = 'https://idp.example'
  const signer = await admin.createSigner({ issuer, name: `Partner ${EVIL}` })
  const word = 'Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz'
  await admin.createSigner({ issuer: `${issuer}/2`, name: word })
  const leaf = await openssl.makeLeaf(await openssl.makeCa(), { notAfter: days(20) })
  await admin.createIdentity({ name: `Laptop ${EVIL}`, certPem: leaf.pem })
  const factory = await openssl.makeCa({ notAfter: days(300) })
  const ca = await admin.createCa({ name: `Factory ${EVIL}`, certPem: factory.pem })
  const browser = await launchChromium()
  t.after(() => browser.close())
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: WIDE,
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(10_000)
  const page = await context.newPage()
  await bringAxe(page)
  const complaints = complaintsOf(page)
  await page.goto(`${service.baseUrl}/console`)
  await sendPassword(page, ADMIN)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()

  /** Axe and the width in every look; a picture of each if anybody wants to look. */
  async function inspect(name: string): Promise<void> {
    for (const [look, size, colorScheme] of [
      ['light', WIDE, 'light'],
      ['dark-small', SMALL, 'dark'],
    ] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(size)
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert.ok(width <= size.width, `${name} ${look} scrolls sideways: ${width}`)
      const { violations } = await checkWithAxe(page)
      assert.deepEqual(violations, [], `${name} ${look}`)
      if (PICTURES !== undefined) {
        await page.screenshot({ path: join(PICTURES, `${name}-${look}.png`), fullPage: true })
      }
    }
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize(WIDE)
    assert.equal(await page.locator('img').count(), 0, `${name}: names are text`)
  }

  const menu = (name: string) =>
    page
      .getByRole('navigation', { name: 'Console' })
      .getByRole('link', { name, exact: true })
      .click()
  const heading = (name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

  await t.test('the overview shows sign-ins, instances, what expires and the backup', async () => {
    await page
      .getByRole('img', { name: /Sign-ins, last 24 hours: \d+ sign-ins, 3 failures\./ })
      .waitFor()
    await page.getByRole('img', { name: /Live sessions, last 24 hours: highest \d+/ }).waitFor()
    await page.getByText('Show the numbers').first().click()
    await page.getByRole('region', { name: 'Sign-ins, last 24 hours' }).waitFor()
    await page.getByText('No backup is recorded').waitFor()
    await page.getByRole('link', { name: `Laptop ${EVIL}` }).waitFor()
    await inspect('overview')
  })

  await t.test('on a phone one button opens the menu', async () => {
    await page.setViewportSize(SMALL)
    const link = page.getByRole('link', { name: 'Live sessions', exact: true })
    assert.equal(await link.isVisible(), false)
    const height = await page.locator('main').evaluate((main) => main.getBoundingClientRect().top)
    assert.ok(height <= 130, `the page begins at ${height}`)
    await page.getByRole('button', { name: 'Menu' }).focus()
    await page.keyboard.press('Enter')
    await link.waitFor()
    assert.deepEqual((await checkWithAxe(page)).violations, [])
    await page.keyboard.press('Escape')
    assert.equal(await link.isVisible(), false)
    await page.setViewportSize(WIDE)
  })

  await t.test('a policy is previewed before it is saved, by keyboard alone', async () => {
    await menu('Policies')
    await inspect('policies')
    await page.getByRole('link', { name: `strict ${EVIL}` }).click()
    await heading(`strict ${EVIL}`)
    await inspect('policy')
    await page.getByRole('checkbox', { name: 'Allow passwords' }).focus()
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Preview the change' }).focus()
    await page.keyboard.press('Enter')
    await heading(`What would change: strict ${EVIL}`)
    await page.getByRole('heading', { name: '1 identity could no longer sign in' }).waitFor()
    await page.getByRole('heading', { name: '1 of 1 session would end' }).waitFor()
    await inspect('policy-preview')
    const saved = () => admin.get(`/auth-policies/${policy}`)
    assert.equal((await saved()).primary.updb.allowed, true, 'nothing is saved yet')
    await page.getByRole('button', { name: 'Go back' }).press('Enter')
    await heading(`strict ${EVIL}`)
    const passwords = page.getByRole('checkbox', { name: 'Allow passwords' })
    assert.equal(await passwords.isChecked(), false, 'the change is still there')
    await inspect('policy-again')
    await page.getByRole('button', { name: 'Preview the change' }).press('Enter')
    await page.getByRole('button', { name: 'Save the change' }).click()
    await page.getByRole('status').getByText('The policy was changed.').waitFor()
    assert.equal((await saved()).primary.updb.allowed, false)
  })

  await t.test('refusals and changes of another administrator stand at their fields', async () => {
    const shared = await admin.createPolicy({ name: `shared ${EVIL}` })
    await page.goto(`${service.baseUrl}/console/policies/${shared}`)
    for (const name of [
      'Allow passwords',
      'Allow client certificates',
      'Allow JWTs of external signers',
      'Allow signing in with a passkey alone',
    ]) {
      await page.getByRole('checkbox', { name }).uncheck()
    }
    await page.getByRole('button', { name: 'Preview the change' }).click()
    const reason = 'The policy must allow at least one method.'
    await page.getByRole('alert').getByRole('link', { name: reason }).click()
    const refused = page.getByRole('checkbox', { name: 'Allow passwords', description: reason })
    await refused.waitFor()
    await inspect('policy-refused')
    await refused.check()
    await page.getByLabel('Failures before a lock').fill('7')
    await page.getByRole('checkbox', { name: `Partner ${EVIL}` }).check()
    const other = await admin.createSigner({ issuer: 'https://other.example', name: 'Other' })
    await admin.call('PATCH', `/auth-policies/${shared}`, {
      primary: { updb: { maxAttempts: 3 }, extJwt: { allowedSigners: [other] } },
    })
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByRole('alert').getByText('Nothing is saved yet.').waitFor()
    await page.getByRole('group', { name: 'Only these signers', description: /“Other”/ }).waitFor()
    await inspect('policy-conflict')
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByRole('button', { name: 'Save the change' }).click()
    await page.getByRole('status').getByText('The policy was changed.').waitFor()
    const { updb, extJwt } = (await admin.get(`/auth-policies/${shared}`)).primary
    assert.deepEqual([updb.maxAttempts, extJwt.allowedSigners], [7, [signer]])
    // A certificate is long: it must not widen the page.
    await page.goto(`${service.baseUrl}/console/signers/${other}`)
    await admin.call('PATCH', `/external-jwt-signers/${other}`, {
      jwksEndpoint: null,
      certPem: leaf.pem,
    })
    await page.getByLabel('URL of the key set').fill('https://mine.example/keys')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Save anyway' }).waitFor()
    await inspect('signer-conflict')
  })

  await t.test('the last administrator cannot be locked out', async () => {
    await page.goto(`${service.baseUrl}/console/policies/default`)
    await page.getByRole('checkbox', { name: 'Allow passwords' }).uncheck()
    await page.getByRole('button', { name: 'Preview the change' }).click()
    await page.getByText('This cannot be saved:').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Save the change' }).count(), 0)
    await inspect('policy-cannot-be-saved')
  })

  await t.test('a token is checked against a signer', async () => {
    await menu('Signers')
    await inspect('signers')
    await page.goto(`${service.baseUrl}/console/signers/${signer}`)
    await page.getByLabel('JWT of this signer').fill('not a token')
    await page.getByRole('button', { name: 'Check the token' }).click()
    await page.getByText('A login with this token would be refused.').waitFor()
    await inspect('signer')
    await page.goto(`${service.baseUrl}/console/signers/new`)
    await page.getByLabel('Issuer or discovery URL').fill('https://127.0.0.1:1')
    await page.getByLabel('Name').fill(EVIL)
    await page.getByLabel('Client ID at the provider').fill('app')
    await page.getByRole('button', { name: 'Add signer' }).click()
    await page.getByRole('alert').getByText('has no discovery document').waitFor()
    assert.equal(await page.getByLabel('Name').inputValue(), EVIL, 'what was typed stays')
    await inspect('signer-new')
  })

  await t.test('a CA is verified step by step', async () => {
    await menu('CAs')
    await inspect('cas')
    await page.getByRole('link', { name: `Factory ${EVIL}` }).click()
    await inspect('ca')
    const { verificationToken } = await admin.get(`/cas/${ca}`)
    assert.ok((await page.content()).includes(verificationToken))
    const proof = await openssl.makeLeaf(factory, { subject: `/CN=${verificationToken}` })
    await page.getByLabel('The signed certificate, in PEM').fill(proof.pem)
    await page.getByRole('button', { name: 'Verify the CA' }).click()
    await page.getByRole('status').getByText('The CA is verified.').waitFor()
    assert.equal((await admin.get(`/cas/${ca}`)).isVerified, true)
  })

  await t.test('the calendar, the routers and the configuration', async () => {
    await menu('Expiry')
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('Enrolled certificate')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.getByText('1 entry').waitFor()
    await page.getByRole('link', { name: `Laptop ${EVIL}` }).waitFor()
    await menu('Expiry')
    await inspect('expiry')
    await admin.createIdentity({ name: `Gate ${EVIL}`, type: 'Router' })
    await menu('Routers')
    await page.getByText(`Gate ${EVIL}`).first().waitFor()
    await inspect('routers')
    await menu('Configuration')
    await page.getByRole('cell', { name: 'edge.audit.retention' }).waitFor()
    await inspect('configuration')
  })

  assert.deepEqual(complaints, [])
})
