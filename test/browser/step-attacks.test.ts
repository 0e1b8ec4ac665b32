/**
 * D-10 for the steps after the first one and for the certificate: each attack is carried out in a real browser, because
 * the browser decides what it sends. Every refusal is also looked up in the log, for its reason.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { html, type SafeHtml } from '../../src/web/login/html.ts'
import {
  type BrowserLogin,
  codeField,
  openLogin,
  sendCode,
  sendPassword,
} from '../support/browser/browser-login.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startSite } from '../support/browser/site.ts'
import { registerCa } from '../support/certificates/certificate-login.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { startClientApp } from '../support/client/client-app.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
  partialLogin,
  scanned,
  submitCode,
  totpPolicy,
  verifyEnrollment,
} from '../support/login/authenticator-app.ts'
import { answerOf, beginLogin } from '../support/login/login.ts'
import { administrate } from '../support/management.ts'
import { serviceAt, startService } from '../support/service.ts'

const FOREIGN_POST = 'a login was posted from another site'
const NO_COOKIE = 'the cookie of the browser that began the login is missing'
const PROGRAM = 'a browser took over a login that a program began'

/** The fields of each step's form; a code where the step takes one. */
const STEPS = {
  '/oidc/login/totp': (id: string, code: string) => ({ id, code }),
  '/oidc/login/totp/enroll': (authRequestId: string) => ({ authRequestId }),
  '/oidc/login/totp/enroll/verify': (authRequestId: string, code: string) => ({
    authRequestId,
    code,
  }),
} as const
type Step = keyof typeof STEPS

test('attacks on the later steps of a browser login', async (t) => {
  const running = await startService(t)
  const [, serviceUrl = ''] = running.instance.listeners[0]?.baseUrls ?? []
  assert.match(serviceUrl, /^https:\/\/127\.0\.0\.1:/)
  const service = serviceAt(running, serviceUrl)
  const app = await startClientApp(t, service, { baseUrl: serviceUrl })
  // The evil site is `localhost`, the service and the application are `127.0.0.1`: another site to the browser.
  let evilPage: SafeHtml = html``
  const evil = await startSite(t, 'localhost', (_, { pathname }) =>
    pathname === '/' ? evilPage : undefined,
  )
  const admin = await administrate(service)
  const policy = await totpPolicy(admin)
  const browser = await launchChromium()
  t.after(() => browser.close())

  const open = (t: TestContext, profile: BrowserContextOptions = {}) =>
    openLogin(t, browser, app, { profile })

  async function assertStartAgain(page: Page, reason: string): Promise<void> {
    await page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor()
    assert.equal(await page.locator('form, input, button, a').count(), 0)
    const shown = await page.locator('code').textContent()
    const line = service.log.find(({ requestId, msg }) => requestId === shown && msg === 'request')
    assert.equal(line?.status, 400)
    assert.equal(line?.code, 'INVALID_AUTH_REQUEST')
    assert.equal(line?.reason, reason)
  }

  /** A login that waits for the second factor of somebody who has an app, or has just been shown one to set up. */
  const waiting: Record<Step, (t: TestContext) => Promise<BrowserLogin & { code: () => string }>> =
    {
      '/oidc/login/totp': async (t) => {
        const person = await enrolledPerson(service, admin)
        const login = await open(t)
        await sendPassword(login.page, person)
        await codeField(login.page).waitFor()
        const code = person.app.nextCode()
        return { ...login, code: () => code }
      },
      '/oidc/login/totp/enroll': async (t) => {
        const person = await admin.createIdentity({ password: PASSWORD, policy })
        const login = await open(t)
        await sendPassword(login.page, person)
        await login.page.getByRole('button', { name: 'Set up the app' }).waitFor()
        return { ...login, code: () => '' }
      },
      '/oidc/login/totp/enroll/verify': async (t) => {
        const login = await waiting['/oidc/login/totp/enroll'](t)
        await login.page.getByRole('button', { name: 'Set up the app' }).click()
        const link = login.page.getByRole('link', { name: 'Open in an app on this device' })
        const phone = authenticatorApp((await link.getAttribute('href')) ?? '', service.clock)
        return { ...login, code: () => phone.code() }
      },
    }

  for (const step of Object.keys(STEPS) as Step[]) {
    await t.test(`a form of a foreign site cannot post ${step}`, async (t) => {
      // Attack: the page of another site posts the next step from the very browser that has the login under way.
      const victim = await waiting[step](t)
      const before = app.answers.length
      evilPage = formTo(`${serviceUrl}${step}`, STEPS[step](victim.authRequestId(), victim.code()))
      const page = await victim.context.newPage()
      await page.goto(evil)
      const [request] = await Promise.all([
        page.waitForRequest((one) => one.method() === 'POST'),
        page.getByRole('button').click(),
      ])
      await assertStartAgain(page, FOREIGN_POST)
      assert.equal((await request.allHeaders())['sec-fetch-site'], 'cross-site')
      assert.equal(app.answers.length, before)
    })

    await t.test(`another browser without the cookie cannot post ${step}`, async (t) => {
      // Attack: somebody has read the id of the request, from a screen or a log, and has the code too. His browser
      // sends the same form as the genuine page would.
      const victim = await waiting[step](t)
      const before = app.answers.length
      const thief = await browser.newContext({ ignoreHTTPSErrors: true })
      t.after(() => thief.close())
      const copy = `${serviceUrl}/a-copy-of-the-page`
      const body = formTo(step, STEPS[step](victim.authRequestId(), victim.code()))
      await thief.route(copy, (route) =>
        route.fulfill({ contentType: 'text/html', body: body.toString() }),
      )
      const page = await thief.newPage()
      await page.goto(copy)
      // What is routed by us is not reported with all of its header fields.
      await thief.unroute(copy)
      const [request] = await Promise.all([
        page.waitForRequest((one) => one.method() === 'POST'),
        page.getByRole('button').click(),
      ])
      await assertStartAgain(page, NO_COOKIE)
      assert.equal((await request.allHeaders())['sec-fetch-site'], 'same-origin')
      assert.equal(app.answers.length, before)

      // The person in front of the genuine page goes on.
      if (step === '/oidc/login/totp/enroll') {
        await victim.page.getByRole('button', { name: 'Set up the app' }).click()
        await codeField(victim.page).waitFor()
        return
      }
      await sendCode(victim.page, victim.code())
      await victim.arrive()
    })
  }

  await t.test('a link to the second step of another user shows no form', async (t) => {
    // Attack: the attacker has proven a password on a login of his own and wants the person's code for it.
    const attacker = await waiting['/oidc/login/totp'](t)
    const victim = await browser.newContext({ ignoreHTTPSErrors: true })
    t.after(() => victim.close())
    const page = await victim.newPage()
    for (const path of ['/oidc/login/totp', '/oidc/login/totp/enroll']) {
      await page.goto(`${serviceUrl}${path}?authRequestID=${attacker.authRequestId()}`)
      await assertStartAgain(page, NO_COOKIE)
    }
  })

  await t.test('a login that a program began takes no second step from a browser', async (t) => {
    // Attack: a script of the attacker has proven the stolen password; the genuine page is to bring the code.
    const person = await enrolledPerson(service, admin)
    const { authRequestId } = await partialLogin(service, person)
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    t.after(() => context.close())
    const page = await context.newPage()
    await page.goto(`${serviceUrl}/oidc/login/totp?id=${authRequestId}`)
    await assertStartAgain(page, PROGRAM)
    // The program itself may go on.
    answerOf(await submitCode(service, authRequestId, person.app.nextCode()))
  })

  await t.test('a script of a foreign site cannot cancel an enrollment', async (t) => {
    const person = await admin.createIdentity({ password: PASSWORD, policy })
    const { authRequestId } = await partialLogin(service, person)
    const { app: phone } = await scanned(service, authRequestId)
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    t.after(() => context.close())
    const page = await context.newPage()
    evilPage = html``
    await page.goto(evil)
    const lines = service.log.length
    const outcome = await page.evaluate(
      (url) =>
        fetch(url, { method: 'DELETE', credentials: 'include' }).then(
          ({ status }) => status,
          () => 'refused by the browser',
        ),
      `${serviceUrl}/oidc/login/totp/enroll?authRequestID=${authRequestId}`,
    )
    assert.equal(outcome, 'refused by the browser')
    assert.equal(
      service.log.slice(lines).some(({ method }) => method === 'DELETE'),
      false,
    )
    answerOf(await verifyEnrollment(service, authRequestId, phone.code()))
  })

  await t.test('a foreign site cannot use the certificate of the browser', async (t) => {
    // Attack: the certificate goes along with whatever the browser sends. A page of another site posts the id of a
    // login that the attacker began, and would get the person's code at the attacker's address.
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const ca = await openssl.makeCa()
    await registerCa(admin, openssl, ca)
    const leaf = await openssl.makeLeaf(ca)
    await admin.createIdentity({ certPem: leaf.pem })
    const { pem, keyPem } = leaf
    const profile = {
      clientCertificates: [
        { origin: serviceUrl, cert: Buffer.from(pem), key: Buffer.from(keyPem) },
      ],
    }
    const victim = await open(t, profile)
    assert.equal(new URL(victim.page.url()).pathname, '/oidc/login/cert')
    const attacker = await open(t)
    const ids = {
      'begun by a program': (await beginLogin(service)).authRequestId,
      'begun in another browser': attacker.authRequestId(),
      'begun in the attacked browser': victim.authRequestId(),
    }
    const before = app.answers.length
    for (const [begun, authRequestId] of Object.entries(ids)) {
      evilPage = formTo(`${serviceUrl}/oidc/login/cert`, { authRequestId })
      const page = await victim.context.newPage()
      await page.goto(evil)
      await page.getByRole('button').click()
      await assertStartAgain(page, FOREIGN_POST)
      assert.equal(app.answers.length, before, begun)
      await page.close()
    }
    // Without a form and without a trace.
    const page = await victim.context.newPage()
    evilPage = html``
    await page.goto(evil)
    const lines = service.log.length
    await page.evaluate(
      ([url, id]) =>
        fetch(url, {
          method: 'POST',
          mode: 'no-cors',
          credentials: 'include',
          body: new URLSearchParams({ authRequestId: id }),
        }).then(() => undefined),
      [`${serviceUrl}/oidc/login/cert`, victim.authRequestId()] as const,
    )
    const line = service.log.slice(lines).find(({ method }) => method === 'POST')
    assert.equal(line?.status, 400)
    assert.equal(line?.reason, FOREIGN_POST)
    assert.equal(app.answers.length, before)
    // The person's own button works.
    await victim.page.getByRole('button', { name: 'Use my certificate' }).click()
    await victim.arrive()
  })

  await t.test('R022: no page of the later steps can be framed', async (t) => {
    const victim = await waiting['/oidc/login/totp/enroll/verify'](t)
    const id = victim.authRequestId()
    // Within the same origin the cookie comes along into the frame, so that nothing else hides the page.
    const framing = `${serviceUrl}/framing`
    const paths = ['/oidc/login/totp/enroll', '/oidc/login/totp', '/oidc/login/cert']
    for (const path of paths) {
      const body = html`<iframe src="${path}?authRequestID=${id}"></iframe>`.toString()
      await victim.context.route(framing, (route) =>
        route.fulfill({ contentType: 'text/html', body }),
      )
      const page = await victim.context.newPage()
      const refusal = page.waitForEvent('console', (one) => one.text().includes('frame-ancestors'))
      await page.goto(framing)
      assert.match((await refusal).text(), /frame-ancestors 'none'/)
      const [frame] = page.frames().filter((one) => one !== page.mainFrame())
      assert.equal(await frame?.locator('main, input').count(), 0)
      await victim.context.unroute(framing)
      await page.close()
    }
  })
})

function formTo(action: string, fields: Readonly<Record<string, string>>): SafeHtml {
  const inputs = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`<form method="post" action="${action}">${inputs}<button>Win a prize</button></form>`
}
