/**
 * Every page of the own account, how it is reached, and its heading: for tests that look at all of them. Names are as hard to
 * wrap as they may be, and there is as much on each page as there can be.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import type { ApiSessionId, IdentityId } from '../../../src/base/ids.ts'
import { minutes } from '../../../src/base/time/duration.ts'
import { plus } from '../../../src/base/time/instant.ts'
import { logInByCertificate, presenting, registerCa } from '../certificates/certificate-login.ts'
import { openOpenssl } from '../certificates/openssl.ts'
import { renewal, enrolledPerson as withOwnCertificate } from '../certificates/renewal.ts'
import { openAccount, SESSION_COOKIE } from '../login/account.ts'
import { enrolledPerson, PASSWORD } from '../login/authenticator-app.ts'
import { administrate, logInAs } from '../management.ts'
import { anOidcSession, proven } from '../people.ts'
import { demand } from '../policies.ts'
import type { Service } from '../service.ts'
import { codeField, tickSaved } from './browser-login.ts'
import type { VisitedPages } from './visited-pages.ts'

/** More than a page shows (D-163). */
const MANY = 60
const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

type Person = Parameters<typeof openAccount>[1]

export async function accountPages(t: TestContext, service: Service): Promise<VisitedPages> {
  const admin = await administrate(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const leaf = await openssl.makeLeaf(ca)
  const someone = () => admin.createIdentity({ password: PASSWORD })

  // Written from the right, and with an override that nobody sees.
  const name = '\u202Eزينب 👩‍🚀'
  const plain = await admin.createIdentity({ name, username: 'plain', password: PASSWORD })
  const full = await admin.createIdentity({
    name: 'W'.repeat(120),
    password: PASSWORD,
    certPem: leaf.pem,
  })
  await fillWithSessions(full.id)
  const enrolled = await enrolledPerson(service, admin)
  const code = () => enrolled.app.nextCode()
  const openEnrolled = (page: Page) => open(page, '/account/totp', enrolled, code)
  const without = await openssl.makeLeaf(ca, { subject: '/CN=without' })
  await admin.createIdentity({ certPem: without.pem })
  const renewing = await someoneWhoRenews()
  const policy = await admin.createPolicy()
  const blocked = await admin.createIdentity({ password: PASSWORD, policy })
  const signer = await admin.createSigner({ issuer: 'https://idp-of-the-account.example' })

  return {
    'account: overview': ['Overview', (page) => open(page, '/account', full)],
    'account: overview with an app': ['Overview', (page) => open(page, '/account', enrolled, code)],
    'account: sessions, more than are shown': [
      'Sessions',
      (page) => open(page, '/account/sessions', full),
    ],
    'account: one session': ['Sessions', (page) => open(page, '/account/sessions', plain)],
    'account: sessions, to confirm first': [
      'Sessions',
      async (page) => {
        await logInAs(service, plain)
        await open(page, '/account/sessions', plain)
        service.clock.advance(minutes(6))
        await page.reload()
        await page.getByRole('link', { name: 'Sign in again' }).waitFor()
      },
    ],
    'account: a session that is not there any more': [
      'Sessions',
      async (page) => {
        const person = await someone()
        await logInAs(service, person)
        await open(page, '/account/sessions', person)
        const ended = page.getByRole('button', { name: /^Sign out the session of/ })
        const id = await page.locator('input[name=session]').first().getAttribute('value')
        await admin.act('DELETE', `/api-sessions/${id}`)
        await ended.first().click()
        await page.getByRole('alert').waitFor()
      },
    ],
    'account: after a session has ended': [
      'Sessions',
      async (page) => {
        const person = await someone()
        await logInAs(service, person)
        await open(page, '/account/sessions', person)
        await page.getByRole('button', { name: 'Sign out all other sessions' }).click()
        await page.getByRole('status').waitFor()
      },
    ],
    'account: password': ['Password', (page) => open(page, '/account/password', full)],
    'account: password that is refused': [
      'Password',
      async (page) => {
        await open(page, '/account/password', full)
        await page.getByLabel('Current password').fill('x')
        await page.getByLabel('New password', { exact: true }).fill('x')
        await page.getByLabel('Confirm new password').fill('y')
        await page.getByRole('button', { name: 'Change password' }).click()
        await page.getByRole('alert').waitFor()
      },
    ],
    'account: no password': [
      'Password',
      async (page) => {
        await page.goto(`${service.baseUrl}/account/password`)
        await page.getByRole('button', { name: 'Use my certificate' }).click()
      },
      [
        {
          origin: service.baseUrl,
          cert: Buffer.from(without.pem),
          key: Buffer.from(without.keyPem),
        },
      ],
    ],
    'account: no app': ['Authenticator app', (page) => open(page, '/account/totp', plain)],
    'account: no app, to confirm first': [
      'Authenticator app',
      async (page) => {
        await open(page, '/account/totp', plain)
        service.clock.advance(minutes(6))
        await page.reload()
        await page.getByRole('link', { name: 'Sign in again' }).waitFor()
      },
    ],
    'account: an app is set up': ['Set up your app', (page) => openSetUp(page)],
    'account: an app is set up, after a wrong code': [
      'Set up your app',
      async (page) => {
        await openSetUp(page)
        await tickSaved(page)
        await codeField(page).fill('no code')
        await page.keyboard.press('Enter')
        await page.getByRole('alert').waitFor()
      },
    ],
    'account: an app': ['Authenticator app', openEnrolled],
    ...Object.fromEntries(
      (['Create new recovery codes', 'Remove the app'] as const).map((name, i) => [
        `account: an app, after a wrong code to ${name.toLowerCase()}`,
        [
          'Authenticator app',
          async (page: Page) => {
            await openEnrolled(page)
            const field = page.getByLabel('Code from the app, or a recovery code').nth(i)
            await field.fill(enrolled.app.wrongCode())
            await page.getByRole('button', { name }).click()
            await page.getByRole('alert').waitFor()
          },
        ],
      ]),
    ),
    'account: new recovery codes': [
      'Your new recovery codes',
      async (page) => {
        await openEnrolled(page)
        const field = page.getByLabel('Code from the app, or a recovery code').first()
        await field.fill(enrolled.app.nextCode())
        await page.getByRole('button', { name: 'Create new recovery codes' }).click()
        await page.getByRole('link', { name: 'I have saved them' }).waitFor()
      },
    ],
    'account: certificate': ['Certificate', (page) => open(page, '/account/certificates', full)],
    'account: certificate that is being renewed': [
      'Certificate',
      (page) => open(page, '/account/certificates', renewing),
    ],
    'account: no certificate': [
      'Certificate',
      (page) => open(page, '/account/certificates', plain),
    ],
    'account: signed out': [
      'Signed out',
      async (page) => {
        await open(page, '/account', plain)
        await page.getByRole('button', { name: 'Sign out' }).click()
        await page.getByRole('link', { name: 'Sign in again' }).waitFor()
      },
    ],
    'account: not available': [
      'Not available for your account',
      async (page) => {
        await open(page, '/account', blocked)
        await demand(admin, policy, { requireExtJwt: signer })
        await page.reload()
        await demand(admin, policy, { requireExtJwt: null })
      },
    ],
    'account: a login that was not finished': [
      'Not signed in',
      async (page) => {
        await page.goto(`${service.baseUrl}/account/callback?code=x&state=${'x'.repeat(22)}`)
      },
    ],
  }

  /** Signed in without the pages of the login, which have their own visits; the cookie is the same. */
  async function open(
    page: Page,
    path: string,
    person: Person,
    code?: () => string,
  ): Promise<void> {
    const { browser } = await openAccount(service, person, code)
    const value = browser.cookies.get(SESSION_COOKIE)
    assert.ok(value !== undefined)
    const { hostname: domain } = new URL(service.baseUrl)
    const flags = { secure: true, httpOnly: true, sameSite: 'Lax' } as const
    await page.context().addCookies([{ name: SESSION_COOKIE, value, domain, path: '/', ...flags }])
    await page.goto(`${service.baseUrl}${path}`)
  }

  async function openSetUp(page: Page): Promise<void> {
    await open(page, '/account/totp', plain)
    await page.getByRole('button', { name: 'Set up an app' }).click()
    await page.locator('summary').click()
  }

  async function fillWithSessions(id: string): Promise<void> {
    const store = await service.openStore()
    const identityId = id as IdentityId
    const now = service.clock.now()
    for (let n = 0; n < MANY; n += 1) {
      const session = anOidcSession({
        id: `many-${id}-${n}` as ApiSessionId,
        identityId,
        primary: proven({ identityId, at: now }),
        userAgent: n % 2 === 0 ? BROWSER : 'W'.repeat(256),
        address: n % 3 === 0 ? '2001:db8:85a3:1234:5678:8a2e:370:7334' : '192.0.2.1',
        createdAt: now,
        endsAt: plus(now, minutes(600)),
        expiresAt: plus(now, minutes(600)),
      })
      await store.apiSessions.insert(session)
    }
  }

  async function someoneWhoRenews(): Promise<Person> {
    const owner = await withOwnCertificate(service, admin, openssl)
    const person = { username: 'who-renews', password: PASSWORD }
    await admin.create('/authenticators', {
      method: 'updb',
      identityId: owner.identityId,
      ...person,
    })
    const { access_token } = await logInByCertificate(presenting(service, owner.certificate))
    await renewal(service, access_token, owner)
    return person
  }
}
