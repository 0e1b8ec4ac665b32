/**
 * Every page that people meet at a login, how it is reached, and its title: for tests that look at all of them. Names are
 * as long and as hard to wrap as they may be.
 */
import type { TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { registerCa } from '../certificates/certificate-login.ts'
import { openOpenssl } from '../certificates/openssl.ts'
import type { ClientApp } from '../client/client-app.ts'
import { enrolledPerson, PASSWORD, totpPolicy } from '../login/authenticator-app.ts'
import { administrate } from '../management.ts'
import { ADMIN, type Service } from '../service.ts'
import { codeField, tickSaved } from './browser-login.ts'
import type { VisitedPages } from './visited-pages.ts'

/** A username nobody can wrap. */
const ENDLESS = 'x'.repeat(256)

export async function loginPages(
  t: TestContext,
  service: Service,
  app: ClientApp,
): Promise<VisitedPages> {
  const admin = await administrate(service)
  const enrolled = await enrolledPerson(service, admin)
  // The name of the account is in the QR code; this one is as long as one can be.
  const name = 'Z'.repeat(256)
  const policy = await totpPolicy(admin)
  const newcomer = await admin.createIdentity({ name, password: PASSWORD, policy })
  const leaving = await admin.createIdentity({ name: 'W'.repeat(256), password: PASSWORD })
  // One that people can be sent to, if it were there, with a name that nobody can wrap.
  const nowhere = 'http://127.0.0.1:1'
  const endless = `IdP ${'y'.repeat(200)}`
  const signer = { issuer: nowhere, externalAuthUrl: nowhere, clientId: 'x', name: endless }
  const demanded = await admin.createSigner(signer)
  await admin.createSigner({ issuer: 'https://by-application.example', name: 'y'.repeat(200) })
  const twice = await admin.createIdentity({
    password: PASSWORD,
    policy: await admin.createPolicy({ secondary: { requireExtJwt: demanded } }),
  })
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const certificate = await openssl.makeLeaf(ca)

  const authorization = `${service.baseUrl}/oidc/authorization`
  const pages: VisitedPages = {
    'the form': ['Sign in', (page) => openForm(page)],
    'the form after a failure': [
      'Sign in',
      async (page) => {
        await openForm(page)
        await submit(page, { username: ENDLESS, password: 'wrong horse battery' })
        await page.getByRole('alert').waitFor()
      },
    ],
    'the form_post page': [
      'One moment',
      async (page) => {
        await openForm(page, { response_mode: 'form_post' })
        await submit(page, ADMIN)
        await page.getByRole('button', { name: 'Continue' }).waitFor()
      },
    ],
    'the page of an unknown address': [
      'Page not found',
      async (page) => {
        await page.goto(`${service.baseUrl}/${ENDLESS}`)
      },
    ],
    'the page of a login that has ended': [
      'This sign-in has ended',
      async (page) => {
        await page.goto(`${service.baseUrl}/oidc/login/username?authRequestID=${ENDLESS}`)
      },
    ],
    'the page of a login that is complete, with a way to start again': [
      'This sign-in has ended',
      async (page) => {
        await openForm(page)
        const address = page.url()
        await submit(page, leaving)
        await page.waitForURL((url) => url.href.startsWith(app.redirectUri))
        await page.goto(address)
        await page.getByRole('link', { name: 'Start again' }).waitFor()
      },
    ],
    'the page that asks whether to continue': [
      'Continue?',
      async (page) => {
        await page.goto(`${service.baseUrl}/account`)
        await submit(page, leaving)
        await page.getByRole('heading', { name: 'Overview' }).waitFor()
        await page.goto(app.prepare({}).url)
        await page.getByRole('link', { name: 'Sign in' }).click()
        await page.getByRole('button', { name: 'Continue' }).waitFor()
      },
    ],
    'the page that asks for a code': ['Enter your code', (page) => openCode(page)],
    'the page that asks for a code once more': [
      'Enter your code',
      async (page) => {
        await openCode(page)
        await sendCode(page)
      },
    ],
    'the page that says why an app is needed': [
      'One more step',
      async (page) => {
        await openForm(page)
        await submit(page, newcomer)
        await page.getByRole('button', { name: 'Set up the app' }).waitFor()
      },
    ],
    'the page with the QR code': [
      'Set up your app',
      async (page) => {
        await openEnrollment(page)
        await page.locator('summary').click()
      },
    ],
    'the page with the QR code after a wrong code': [
      'Set up your app',
      async (page) => {
        await openEnrollment(page)
        await sendCode(page)
      },
    ],
    'the page for a certificate': ['Sign in with a certificate', (page) => openOther(page, 'cert')],
    'the page for a certificate that is refused': [
      'Sign in with a certificate',
      async (page) => {
        await openOther(page, 'cert')
        await page.getByRole('button', { name: 'Use my certificate' }).click()
        await page.getByRole('alert').waitFor()
      },
      [{ origin: service.baseUrl, cert: pem(certificate.pem), key: pem(certificate.keyPem) }],
    ],
    'the choice of an identity provider': [
      'Choose how to sign in',
      (page) => openOther(page, 'ext-jwt'),
    ],
    'the choice of an identity provider after a failure': [
      'Choose how to sign in',
      async (page) => {
        await openOther(page, 'ext-jwt')
        await page.getByRole('link', { name: /^Continue with/ }).click()
        await page.getByRole('alert').waitFor()
      },
    ],
    'the identity providers whose proof an application brings': [
      'Choose how to sign in',
      async (page) => {
        // As long as there is one that people can go to, that one is offered.
        await admin.act('PATCH', `/external-jwt-signers/${demanded}`, { enabled: false })
        await openOther(page, 'ext-jwt')
        await admin.act('PATCH', `/external-jwt-signers/${demanded}`, { enabled: true })
      },
    ],
    'the page that asks for a second sign-in': [
      'One more sign-in',
      async (page) => {
        await openForm(page)
        await submit(page, twice)
        await page.getByRole('link', { name: /^Continue with/ }).waitFor()
      },
    ],
    'the page that asks whether to sign out': ['Sign out?', (page) => openSignOut(page)],
    'the page after a logout': [
      'Signed out',
      async (page) => {
        await openSignOut(page)
        await page.getByRole('button', { name: 'Sign out' }).click()
        await page.getByRole('heading', { name: 'Signed out' }).waitFor()
      },
    ],
    'the page of a logout where no one is signed in': [
      'You are not signed in',
      async (page) => {
        await page.goto(`${service.baseUrl}/oidc/end_session`)
      },
    ],
    'the page of a logout that is not allowed': [
      'Not signed out',
      async (page) => {
        await page.goto(`${service.baseUrl}/oidc/end_session?id_token_hint=${ENDLESS}`)
      },
    ],
    'the page of an unknown application': [
      'Unknown application',
      async (page) => {
        await page.goto(`${authorization}?client_id=${ENDLESS}`)
      },
    ],
    'the page of a redirect URI that is not allowed': [
      'Invalid return address',
      async (page) => {
        await page.goto(`${authorization}?client_id=service&redirect_uri=https://evil.example/`)
      },
    ],
  }

  const openForm = (page: Page, changes: Readonly<Record<string, string>> = {}) =>
    openLoginForm(page, app, changes)

  async function openOther(page: Page, method: string) {
    await page.goto(app.prepare({ method }).authorizationUrl)
    await page.getByRole('link', { name: 'Use a password instead' }).waitFor()
  }

  async function openCode(page: Page) {
    await openForm(page)
    await submit(page, enrolled)
    await codeField(page).waitFor()
  }

  async function openSignOut(page: Page) {
    await page.goto(`${service.baseUrl}/account`)
    await submit(page, leaving)
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.goto(`${service.baseUrl}/oidc/end_session`)
  }

  async function openEnrollment(page: Page) {
    await openForm(page)
    await submit(page, newcomer)
    await page.getByRole('button', { name: 'Set up the app' }).click()
    await codeField(page).waitFor()
  }

  return pages
}

/** Opens the form for username and password. Tests of whole logins start at the page of the application instead. */
export async function openLoginForm(
  page: Page,
  app: ClientApp,
  changes: Readonly<Record<string, string>> = {},
): Promise<void> {
  await page.goto(app.prepare(changes).authorizationUrl)
  await page.getByLabel('Username').waitFor()
}

const pem = (text: string) => Buffer.from(text)

async function sendCode(page: Page): Promise<void> {
  await tickSaved(page)
  await codeField(page).fill('no code')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
}

export async function submit(
  page: Page,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
