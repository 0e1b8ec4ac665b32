/**
 * D-10: a browser finishes what it began. Each attack is carried out in a real browser, because the browser decides
 * what it sends: `Sec-Fetch-*`, `Origin`, cookies. Every refusal is also looked up in the log, for its reason.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { html, type SafeHtml } from '../../src/web/login/html.ts'
import { launchChromium } from '../support/browser/chromium.ts'
import { startSite } from '../support/browser/site.ts'
import { startClientApp } from '../support/client/client-app.ts'
import { authorizationParameters, authorize, beginLogin, pkce } from '../support/login/login.ts'
import { ADMIN, startService } from '../support/service.ts'

const FOREIGN_POST = 'a login was posted from another site'
const NO_COOKIE = 'the cookie of the browser that began the login is missing'
const PROGRAM = 'a browser took over a login that a program began'
const FINISHED = 'the auth request has its tokens already'

test('attacks on the browser login', async (t) => {
  const service = await startService(t)
  const [, serviceUrl = ''] = service.instance.listeners[0]?.baseUrls ?? []
  assert.match(serviceUrl, /^https:\/\/127\.0\.0\.1:/)
  const app = await startClientApp(t, service, { baseUrl: serviceUrl })
  // The evil site is `localhost`, the service and the application are `127.0.0.1`: another site to the browser.
  let evilPage: SafeHtml = html``
  const evil = await startSite(t, 'localhost', (_, { pathname }) =>
    pathname === '/' ? evilPage : undefined,
  )
  const browser = await launchChromium()
  t.after(() => browser.close())

  const openBrowser = () => browser.newContext({ ignoreHTTPSErrors: true })
  const loginLink = (id: string) => `${serviceUrl}/oidc/login/username?authRequestID=${id}`

  /** A login begun in this browser, up to the form. */
  async function beginIn(context: BrowserContext) {
    const page = await context.newPage()
    const login = app.prepare()
    await page.goto(login.url)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByLabel('Username').waitFor()
    const id = new URL(page.url()).searchParams.get('authRequestID') ?? ''
    assert.notEqual(id, '')
    return { page, login, id }
  }

  /** A login that is over can be started again (D-344); one that is open in another browser cannot. */
  async function assertStartAgain(page: Page, reason: string, isOver = false): Promise<void> {
    await page.getByRole('heading', { name: 'This sign-in has ended' }).waitFor()
    assert.equal(await page.locator('form, input, button').count(), 0)
    assert.deepEqual(await page.locator('main a').allTextContents(), isOver ? ['Start again'] : [])
    if (!isOver) assert.match((await page.locator('main').textContent()) ?? '', /sign in again/)
    const shown = await page.locator('code').textContent()
    const line = service.log.find(({ requestId, msg }) => requestId === shown && msg === 'request')
    assert.equal(line?.status, 400)
    assert.equal(line?.code, 'INVALID_AUTH_REQUEST')
    assert.equal(line?.reason, reason)
  }

  /** The person still gets in, with a login of their own. */
  async function finishOwnLogin({ page, login }: Awaited<ReturnType<typeof beginIn>>) {
    await submit(page)
    await page.waitForURL((url) => url.href.startsWith(app.redirectUri))
    await app.finish(login, app.answers.at(-1))
  }

  await t.test('a genuine login link that a program began shows nothing to type into', async () => {
    // Attack: somebody begins a login with his own challenge, from a script, and sends a person the genuine link
    // by mail. Name and password, typed into the genuine page, would complete the attacker's login.
    const { authRequestId } = await beginLogin(service)
    const victim = await openBrowser()
    const page = await victim.newPage()
    await page.goto(loginLink(authRequestId))
    await assertStartAgain(page, PROGRAM)
    await victim.close()
  })

  await t.test('a program that poses as a browser gains nothing by it', async () => {
    // Attack: as before, but the script asks for HTML, so that the login counts as begun in a browser: its own.
    const parameters = authorizationParameters(pkce().challenge)
    const reply = await authorize(service, parameters, { headers: { accept: 'text/html' } })
    assert.match(String(reply.headers['set-cookie']), /^__Host-latchkey-/)
    const victim = await openBrowser()
    const page = await victim.newPage()
    await page.goto(`${serviceUrl}${reply.headers.location}`)
    await assertStartAgain(page, NO_COOKIE)
    await victim.close()
  })

  await t.test('a login link that another browser began shows nothing to type into', async () => {
    // Attack: the attacker opens the login in his browser and sends the address of the page to a person.
    const attacker = await openBrowser()
    const { id } = await beginIn(attacker)
    const victim = await openBrowser()
    const page = await victim.newPage()
    await page.goto(loginLink(id))
    await assertStartAgain(page, NO_COOKIE)
    await Promise.all([attacker.close(), victim.close()])
  })

  await t.test('a link on a foreign page is refused like one in a mail', async () => {
    // Attack: the link stands on the attacker's page, and the person follows it in a browser that has a login of
    // its own under way, so that it holds a cookie of ours.
    const attacker = await openBrowser()
    const { id } = await beginIn(attacker)
    const victim = await openBrowser()
    const own = await beginIn(victim)
    evilPage = html`<a href="${loginLink(id)}">Your invoice</a>`
    const page = await victim.newPage()
    await page.goto(evil)
    await page.getByRole('link').click()
    await assertStartAgain(page, NO_COOKIE)
    await finishOwnLogin(own)
    await Promise.all([attacker.close(), victim.close()])
  })

  const begunBy = {
    'a program': async () => (await beginLogin(service)).authRequestId,
    'another browser': async (attacker: BrowserContext) => (await beginIn(attacker)).id,
    'the attacked browser itself': async (_: BrowserContext, own: string) => own,
  }
  for (const [who, begin] of Object.entries(begunBy)) {
    await t.test(`a form of a foreign site cannot post a login that ${who} began`, async () => {
      // Attack: a page of another site posts good credentials – the attacker's own, to log the person in as
      // somebody else, or guessed ones – from the person's browser to the login endpoint.
      const [attacker, victim] = [await openBrowser(), await openBrowser()]
      const own = await beginIn(victim)
      const id = await begin(attacker, own.id)
      const before = app.answers.length
      evilPage = html`<form method="post" action="${serviceUrl}/oidc/login/username">
<input type="hidden" name="authRequestId" value="${id}">
<input type="hidden" name="username" value="${ADMIN.username}">
<input type="hidden" name="password" value="${ADMIN.password}">
<button>Win a prize</button></form>`
      const page = await victim.newPage()
      await page.goto(evil)
      const [request] = await Promise.all([
        page.waitForRequest((one) => one.method() === 'POST'),
        page.getByRole('button').click(),
      ])
      await assertStartAgain(page, FOREIGN_POST)
      assert.equal((await request.allHeaders())['sec-fetch-site'], 'cross-site')
      assert.equal(app.answers.length, before)
      await finishOwnLogin(own)
      await Promise.all([attacker.close(), victim.close()])
    })
  }

  await t.test('a script of a foreign site cannot post a login either', async () => {
    // Attack: the same without a form and without a trace: fetch, with whatever cookies the browser would add.
    const victim = await openBrowser()
    const own = await beginIn(victim)
    const page = await victim.newPage()
    evilPage = html``
    await page.goto(evil)
    const lines = service.log.length
    const body = { authRequestId: own.id, ...ADMIN }
    await page.evaluate(
      ([url, fields]) =>
        fetch(url, {
          method: 'POST',
          mode: 'no-cors',
          credentials: 'include',
          body: new URLSearchParams(fields),
        }).then(() => undefined),
      [`${serviceUrl}/oidc/login/username`, body] as const,
    )
    const line = service.log.slice(lines).find(({ method }) => method === 'POST')
    assert.equal(line?.status, 400)
    assert.equal(line?.reason, FOREIGN_POST)
    await finishOwnLogin(own)
    await victim.close()
  })

  await t.test('R022: a page that frames the login page shows nothing of it', async () => {
    // Attack: the login page lies invisibly over a game, and the person types and clicks without knowing where.
    const victim = await openBrowser()
    const own = await beginIn(victim)
    const framed = html`<iframe src="${loginLink(own.id)}"></iframe>`
    evilPage = framed
    // Within the same site the cookie comes along into the frame, so that nothing else hides the form.
    const sameSite = `${serviceUrl}/framing`
    await victim.route(sameSite, (route) =>
      route.fulfill({ contentType: 'text/html', body: framed.toString() }),
    )
    for (const site of [evil, sameSite]) {
      const page = await victim.newPage()
      const refusal = page.waitForEvent('console', (one) => one.text().includes('frame-ancestors'))
      await page.goto(site)
      const [frame, ...others] = page.frames().filter((one) => one !== page.mainFrame())
      assert.ok(frame !== undefined && others.length === 0)
      await frame.waitForLoadState()
      assert.equal(await frame.locator('main, input').count(), 0)
      assert.equal(frame.url(), 'chrome-error://chromewebdata/')
      assert.match((await refusal).text(), /frame-ancestors 'none'/)
    }
    await finishOwnLogin(own)
    await victim.close()
  })

  await t.test(
    'R028: after success neither Back nor a second form makes a second code',
    async () => {
      // Attack: somebody at the same machine goes back to the finished login; or a person sends the form twice.
      const context = await openBrowser()
      const { page, login, id } = await beginIn(context)
      const second = await context.newPage()
      await second.goto(loginLink(id))
      await second.getByLabel('Username').waitFor()
      // A copy of the cookie, as if the answer to the first form had been lost on its way.
      const cookies = await context.cookies()
      const before = app.answers.length
      await finishOwnLogin({ page, login, id })

      await page.goBack()
      await assertStartAgain(page, NO_COOKIE, true)
      await context.addCookies(cookies)
      await submit(second)
      await assertStartAgain(second, FINISHED, true)
      await page.reload()
      await assertStartAgain(page, FINISHED, true)
      assert.equal(app.answers.length, before + 1)
      await context.close()
    },
  )

  await t.test(
    'R113: the cookie is __Host-, Secure, HttpOnly, Lax, and goes with success',
    async () => {
      const context = await openBrowser()
      const { page, login, id } = await beginIn(context)
      const cookies = await context.cookies()
      assert.equal(cookies.length, 1)
      const [cookie] = cookies
      assert.match(cookie?.name ?? '', /^__Host-latchkey-[\w-]{22}$/)
      assert.equal(cookie?.secure, true)
      assert.equal(cookie?.httpOnly, true)
      assert.equal(cookie?.sameSite, 'Lax')
      assert.equal(cookie?.path, '/')
      assert.equal(cookie?.domain, '127.0.0.1')
      // D-7: it lives as long as the auth request at most.
      const lifeSeconds = (cookie?.expires ?? 0) - service.clock.now() / 1000
      assert.ok(lifeSeconds > 500 && lifeSeconds <= 600, String(lifeSeconds))

      await page.getByLabel('Username').fill(ADMIN.username)
      await page.getByLabel('Password').fill('wrong horse battery')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
      assert.deepEqual(
        (await context.cookies()).map(({ name, value }) => [name, value]),
        cookies.map(({ name, value }) => [name, value]),
      )
      await finishOwnLogin({ page, login, id })
      // D-216: what is left says that this browser has signed in before, and has the same attributes.
      const [device, ...others] = await context.cookies()
      assert.deepEqual(others, [])
      assert.equal(device?.name, '__Host-latchkey-device')
      const { secure, httpOnly, sameSite, path, domain } = device
      assert.deepEqual(
        { secure, httpOnly, sameSite, path, domain },
        { secure: true, httpOnly: true, sameSite: 'Lax', path: '/', domain: '127.0.0.1' },
      )
      await context.close()
    },
  )
})

async function submit(page: Page): Promise<void> {
  await page.getByLabel('Username').fill(ADMIN.username)
  await page.getByLabel('Password').fill(ADMIN.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}
