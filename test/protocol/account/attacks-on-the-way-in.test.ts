/** Attacks on the way in to the account pages: the login, its callback and its cookies. D-161, D-181; R020, R026, R033, R083. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import {
  assertRefusedPage,
  openAccount,
  SESSION_COOKIE,
  signIn,
  signInUntilCallback,
  visitorWith,
} from '../../support/login/account.ts'
import { PASSWORD, partialLogin, totpPolicy } from '../../support/login/authenticator-app.ts'
import {
  authorizationParameters,
  authorize,
  exchange,
  obtainCode,
  pkce,
} from '../../support/login/login.ts'
import { administrate } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const LOGIN_COOKIE = '__Host-latchkey-account-login-'

test('attacks on the way in', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  const attacker = await admin.createIdentity({ password: PASSWORD })
  const sessionsOf = (id: string) => admin.get(`/identities/${id}/api-sessions`)

  await t.test('a callback from another browser is refused and spends nothing', async () => {
    // Attack: login CSRF. The attacker logs in as himself and sends the victim the link of his callback, so that the victim
    // works in the attacker's account.
    const his = cookieBrowser(service)
    const callback = await signInUntilCallback(service, his, '/account', attacker)
    const victim = cookieBrowser(service)
    const reply = await victim.get(callback)
    await assertRefusedPage(service, reply, 400, 'INVALID_AUTH_REQUEST')
    assert.equal(victim.cookies.size, 0)
    assert.deepEqual(await sessionsOf(attacker.id), [])
    assert.equal((await his.get(callback)).status, 303, 'the code was not touched')
  })

  await t.test(
    'a code of another login does not fit the state of this browser (R033)',
    async () => {
      // Attack: the victim's browser has begun a login; the attacker gives it his code under the victim's own state.
      const his = cookieBrowser(service)
      const stolen = new URL(
        await signInUntilCallback(service, his, '/account', attacker),
        service.baseUrl,
      )
      const victim = cookieBrowser(service)
      await victim.get('/account')
      const state = [...victim.cookies.keys()]
        .find((name) => name.startsWith(LOGIN_COOKIE))
        ?.slice(LOGIN_COOKIE.length)
      assert.ok(state !== undefined)
      stolen.searchParams.set('state', state)
      const reply = await victim.get(`${stolen.pathname}${stolen.search}`)
      await assertRefusedPage(service, reply, 400, 'INVALID_GRANT')
      assert.equal(victim.cookies.has(SESSION_COOKIE), false)
    },
  )

  await t.test('a callback works once', async () => {
    // Attack: whoever finds the address in a history or a log opens it again, in the same browser.
    const browser = cookieBrowser(service)
    const callback = await signInUntilCallback(service, browser, '/account', person)
    const kept = new Map(browser.cookies)
    assert.equal((await browser.get(callback)).status, 303)
    await assertRefusedPage(service, await browser.get(callback), 400, 'INVALID_AUTH_REQUEST')
    for (const [name, value] of kept) browser.cookies.set(name, value)
    await assertRefusedPage(service, await browser.get(callback), 400, 'INVALID_GRANT')
  })

  await t.test('what comes back must be whole, in time, and from our issuer', async () => {
    const browser = cookieBrowser(service)
    const change = async (edit: (query: URLSearchParams) => void) => {
      const path = await signInUntilCallback(service, browser, '/account', person)
      const url = new URL(path, service.baseUrl)
      edit(url.searchParams)
      return browser.get(`${url.pathname}${url.search}`)
    }
    const refused = 'INVALID_AUTH_REQUEST'
    for (const edit of [
      (query: URLSearchParams) => query.delete('state'),
      (query: URLSearchParams) => query.set('state', 'x'.repeat(22)),
      (query: URLSearchParams) => query.set('state', '../../evil; Path=/'),
      (query: URLSearchParams) => query.delete('iss'),
      (query: URLSearchParams) => query.set('iss', 'https://evil.example/oidc'),
      (query: URLSearchParams) => query.delete('code'),
      (query: URLSearchParams) => query.set('error', 'access_denied'),
    ]) {
      await assertRefusedPage(service, await change(edit), 400, refused)
      assert.equal(browser.cookies.has(SESSION_COOKIE), false)
    }
    for (const name of ['state', 'code', 'iss', 'error']) {
      const reply = await change((query) => {
        query.append(name, 'a')
        query.append(name, 'b')
      })
      await assertRefusedPage(service, reply, 400, 'COULD_NOT_VALIDATE')
    }
    const late = await signInUntilCallback(service, browser, '/account', person)
    service.clock.advance(minutes(10))
    await assertRefusedPage(service, await browser.get(late), 400, refused)
  })

  await t.test('no other client can use the redirect URI of the account', async (t) => {
    // Attack: a client names /account/callback as its own redirect URI, to have codes sent to where it can reach them.
    const listed = await startService(t, {
      config: {
        web: [
          {
            name: 'one',
            bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
            apis: [
              { binding: 'edge-client' },
              {
                binding: 'edge-oidc',
                options: { redirectURIs: ['https://app.example.com/callback'] },
              },
            ],
          },
        ],
      },
    })
    const redirect_uri = `${listed.baseUrl}/account/callback`
    const parameters = authorizationParameters(pkce().challenge, { redirect_uri })
    const refused = await authorize(listed, parameters)
    assert.equal(refused.status, 400)
    assert.equal(refused.json().error, 'invalid_request')
    assert.equal(refused.headers.location, undefined)
    const browser = cookieBrowser(listed)
    assert.equal((await browser.get('/account')).status, 302, 'the account itself can')
  })

  await t.test('a client with the code of the account has no verifier for it', async () => {
    // Attack: the code is read on its way and taken to the token endpoint.
    const browser = cookieBrowser(service)
    const callback = await signInUntilCallback(service, browser, '/account', person)
    const code = new URL(callback, service.baseUrl).searchParams.get('code') ?? ''
    const { verifier } = pkce()
    const redirect_uri = `${service.baseUrl}/account/callback`
    const reply = await exchange(service, { code, redirect_uri, code_verifier: verifier })
    assert.equal(reply.status, 400)
    assert.equal(reply.json().error, 'invalid_grant')
  })

  await t.test('a code that a client got for itself opens no account', async () => {
    // Attack: by default callbacks to this machine are allowed, /account/callback among them.
    const redirect_uri = `${service.baseUrl}/account/callback`
    const { code } = await obtainCode(service, { redirect_uri, state: 's'.repeat(22) })
    const query = new URLSearchParams({
      code,
      state: 's'.repeat(22),
      iss: `${service.baseUrl}/oidc`,
    })
    const browser = cookieBrowser(service)
    await browser.get('/account')
    const reply = await browser.get(`/account/callback?${query}`)
    await assertRefusedPage(service, reply, 400, 'INVALID_AUTH_REQUEST')
  })

  await t.test('half a login leads nowhere (R026)', async () => {
    const policy = await totpPolicy(admin)
    const half = await admin.createIdentity({ password: PASSWORD, policy })
    const { reply } = await partialLogin(service, half)
    assert.equal(reply.headers.location, undefined)
    const browser = cookieBrowser(service)
    const begun = await browser.get('/account')
    const authRequestId =
      new URL(begun.headers.location ?? '', service.baseUrl).searchParams.get('authRequestID') ?? ''
    const { username, password } = half
    const step = await browser.post('/oidc/login/username', { authRequestId, username, password })
    assert.equal(step.status, 200, 'the code is outstanding')
    assert.equal((await browser.get('/account')).status, 302)
  })

  await t.test('a login in a browser that has a session replaces it (R083)', async () => {
    // Attack: session fixation. The attacker's cookie was put into the browser; after the victim's login it must be gone.
    const { browser } = await openAccount(service, attacker)
    const planted = browser.cookies.get(SESSION_COOKIE)
    await signIn(service, browser, '/account/confirm?page=overview', person)
    assert.notEqual(browser.cookies.get(SESSION_COOKIE), planted)
    const { page } = visitorWith(service, browser)
    assert.ok((await page('/account')).includes(`Signed in as <bdi>${person.name}</bdi>.`))
    assert.ok(!(await page('/account/sessions')).includes('five minutes'), 'it is no confirmation')
    const old = cookieBrowser(service)
    old.cookies.set(SESSION_COOKIE, planted ?? '')
    assert.equal((await old.get('/account')).status, 302, 'the one before has ended')
  })

  await t.test('unfinished logins do not fill the cookies of a browser (D-181)', async () => {
    // Attack: another site opens /account again and again in a window, until the cookies are longer than what we read and
    // nobody gets in any more.
    const browser = cookieBrowser(service)
    const logins = () => [...browser.cookies.keys()].filter((name) => name.startsWith(LOGIN_COOKIE))
    const first = await signInUntilCallback(service, browser, '/account', person)
    for (let n = 0; n < 7; n += 1) assert.equal((await browser.get('/account')).status, 302)
    assert.equal(logins().length, 8)
    const kept = new Map(browser.cookies)
    assert.equal((await browser.get(first)).status, 303, 'the oldest of eight still arrives')

    browser.cookies.clear()
    for (const [name, value] of kept) browser.cookies.set(name, value)
    for (let n = 0; n < 20; n += 1) assert.equal((await browser.get('/account')).status, 302)
    assert.equal(logins().length, 8)
    await signIn(service, browser, '/account', person)

    // A name that is none of ours is not written back.
    browser.cookies.clear()
    for (let n = 0; n < 20; n += 1) browser.cookies.set(`${LOGIN_COOKIE}é "${n}"`, 'x')
    const reply = await browser.get('/account')
    assert.equal(reply.status, 302)
    assert.ok(!String(reply.headers['set-cookie']).includes('é'))
  })
})
