/** Attacks on the account pages: on the way in, on the cookie, and on the forms. D-161, D-162; R083, R100, R110, R113. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/duration.ts'
import {
  assertRefusedPage,
  formTokenOf,
  openAccount,
  post,
  SESSION_COOKIE,
  signIn,
  signInUntilCallback,
  visitorWith,
} from '../../support/account.ts'
import { PASSWORD, partialLogin, totpPolicy } from '../../support/authenticator-app.ts'
import { cookieBrowser } from '../../support/cookie-browser.ts'
import { CLIENT_API } from '../../support/legacy.ts'
import {
  authorizationParameters,
  authorize,
  bearer,
  exchange,
  obtainCode,
  pkce,
} from '../../support/login.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { startService } from '../../support/service.ts'

const LOGIN_COOKIE = '__Host-latchkey-account-login-'
const OTHER_SITE = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }

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

  await t.test('nobody else can use the redirect URI of the account', async (t) => {
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
    assert.ok((await page('/account')).includes(`Signed in as ${person.name}.`))
    assert.ok(!(await page('/account/sessions')).includes('five minutes'), 'it is no confirmation')
    const old = cookieBrowser(service)
    old.cookies.set(SESSION_COOKIE, planted ?? '')
    assert.equal((await old.get('/account')).status, 302, 'the one before has ended')
  })
})

test('attacks on the cookie', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })

  await t.test(
    'what is in the cookie is no bearer token, and a bearer token is no cookie',
    async () => {
      const { browser } = await openAccount(service, person)
      const cookie = browser.cookies.get(SESSION_COOKIE) ?? ''
      const call = await service.call(`${CLIENT_API}/current-identity`, bearer(cookie))
      assert.equal(call.status, 401)
      const { access_token } = await logInAs(service, person)
      const other = cookieBrowser(service)
      for (const value of [access_token, '', 'x', cookie.slice(1), `${cookie}A`, 'é', 'a=b=c']) {
        other.cookies.clear()
        other.cookies.set(SESSION_COOKIE, encodeURI(value))
        assert.equal((await other.get('/account')).status, 302, value)
      }
    },
  )

  await t.test('a cookie made at another address of ours is refused', async (t) => {
    // Attack: cookies know no ports. What was made at one listener of the host must not work at another.
    const two = await startService(t, {
      config: {
        web: ['one', 'two'].map((name) => ({
          name,
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }],
        })),
      },
    })
    const someone = await (await administrate(two)).createIdentity({ password: PASSWORD })
    const { browser } = await openAccount(two, someone)
    const [, second] = two.instance.listeners
    const [baseUrl = ''] = second?.baseUrls ?? []
    const elsewhere = {
      ...two,
      baseUrl,
      call: (path: string, options = {}) => two.client.call(`${baseUrl}${path}`, options),
    }
    const there = cookieBrowser(elsewhere)
    there.cookies.set(SESSION_COOKIE, browser.cookies.get(SESSION_COOKIE) ?? '')
    assert.equal((await there.get('/account')).status, 302)
    assert.equal((await browser.get('/account')).status, 200)
  })

  await t.test(
    'an administrator ends the session: the next page asks for a login, the next form changes nothing',
    async () => {
      const { browser, page } = await openAccount(service, person)
      const html = await page('/account/password')
      const formToken = formTokenOf(html, '/account/password')
      await admin.act('DELETE', `/identities/${person.id}/api-sessions`)
      const fields = Object.entries({
        formToken,
        currentPassword: PASSWORD,
        password: 'quite another passphrase',
        repeated: 'quite another passphrase',
      })
      const cookie = browser.cookies.get(SESSION_COOKIE) ?? ''
      const posted = await post(service, browser, '/account/password', fields)
      assert.equal(posted.status, 303)
      assert.equal(posted.headers.location, '/account/password')
      assert.equal(browser.cookies.has(SESSION_COOKIE), false)
      browser.cookies.set(SESSION_COOKIE, cookie)
      assert.equal((await browser.get('/account')).status, 302)
      await signIn(service, browser, '/account/password', person)
      assert.ok((await page('/account/password')).includes('so nothing was changed'))
    },
  )

  await t.test('a disabled identity is out at once', async () => {
    const someone = await admin.createIdentity({ password: PASSWORD })
    const { browser } = await openAccount(service, someone)
    await admin.act('POST', `/identities/${someone.id}/disable`, { durationMinutes: 0 })
    assert.equal((await browser.get('/account')).status, 302)
  })

  await t.test(
    'a policy that demands a JWT with every call is told in a page, and logout works (D-52)',
    async () => {
      const policy = await admin.createPolicy()
      const someone = await admin.createIdentity({ password: PASSWORD, policy })
      const { browser, page } = await openAccount(service, someone)
      const token = formTokenOf(await page('/account/sessions'), '/account/sign-out')
      const signer = await admin.createSigner({ issuer: 'https://idp.example' })
      await demand(service, admin, policy, { requireExtJwt: signer })
      for (const path of ['/account', '/account/sessions', '/account/totp']) {
        const reply = await browser.get(path)
        assert.equal(reply.status, 403, path)
        assert.equal(reply.headers['www-authenticate'], undefined)
        assert.ok(reply.text.includes('Not available for your account'))
        assert.ok(reply.text.includes(token), 'the form to sign out is there')
      }
      const change = await post(service, browser, '/account/totp/start', [['formToken', token]])
      assert.equal(change.status, 403)
      const out = await post(service, browser, '/account/sign-out', [['formToken', token]])
      assert.equal(out.status, 303)
      assert.deepEqual(await admin.get(`/identities/${someone.id}/api-sessions`), [])
    },
  )

  await t.test('nothing in the database is what the browser holds (R110)', async () => {
    const { browser } = await openAccount(service, person)
    const store = await service.openStore()
    const [session] = await store.apiSessions.listOf(person.id as never)
    const stored = JSON.stringify(session)
    for (const value of browser.cookies.values()) assert.ok(!stored.includes(value))
    const log = JSON.stringify(service.log)
    for (const value of browser.cookies.values()) assert.ok(!log.includes(value), 'R034, R108')
  })
})

test('attacks on the forms', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  const FORMS = [
    ['/account/sessions/end', '/account/sessions'],
    ['/account/sessions/end-others', '/account/sessions'],
    ['/account/password', '/account/password'],
    ['/account/totp/start', '/account/totp'],
    ['/account/totp/verify', '/account/totp'],
    ['/account/totp/remove', '/account/totp'],
    ['/account/totp/recovery-codes', '/account/totp'],
    ['/account/sign-out', '/account'],
  ] as const
  const password = 'quite another passphrase'
  const FIELDS = { currentPassword: PASSWORD, password, repeated: password, code: '123456' }

  await t.test(
    'a form without our token, or with that of another form or session, changes nothing',
    async () => {
      // Attack: CSRF. A page of somebody else makes the victim's browser send the form; it cannot read the token.
      const other = await openAccount(service, person)
      await logInAs(service, person)
      const { browser, page } = await openAccount(service, person)
      const pages = await Promise.all(['/account', '/account/password'].map((path) => page(path)))
      const signOut = formTokenOf(pages[0] ?? '', '/account/sign-out')
      const change = formTokenOf(pages[1] ?? '', '/account/password')
      const foreign = formTokenOf(await other.page('/account/password'), '/account/password')
      for (const [action] of FORMS) {
        const wrong = action === '/account/sign-out' ? change : signOut
        for (const token of [undefined, '', 'x', wrong, foreign]) {
          const form = Object.entries({
            ...FIELDS,
            ...(token === undefined ? {} : { formToken: token }),
          })
          const reply = await post(service, browser, action, form)
          await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
        }
        const twice = [
          ['formToken', change],
          ['formToken', signOut],
        ] as const
        await assertRefusedPage(
          service,
          await post(service, browser, action, twice),
          403,
          'FORBIDDEN',
        )
      }
      assert.equal((await browser.get('/account')).status, 200, 'and nobody was signed out')
    },
  )

  await t.test(
    'a form from another site or origin is refused, even with the right token',
    async () => {
      // Attack: the same, with a token that leaked; or from another port of the same host, which counts as the same site.
      const { browser, page } = await openAccount(service, person)
      const formToken = formTokenOf(await page('/account/password'), '/account/password')
      const form = Object.entries({ ...FIELDS, formToken })
      for (const headers of [
        OTHER_SITE,
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { origin: 'null' },
        { origin: 'https://localhost:1' },
        { origin: service.baseUrl.replace('https', 'http') },
      ]) {
        const reply = await post(service, browser, '/account/password', form, headers)
        await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
      }
      const out = formTokenOf(await page('/account'), '/account/sign-out')
      const reply = await post(
        service,
        browser,
        '/account/sign-out',
        [['formToken', out]],
        OTHER_SITE,
      )
      await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
      await logInAs(service, person)
    },
  )

  await t.test('somebody else’s session is not there (R100)', async () => {
    const stranger = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, stranger)
    const his = await service.call(`${CLIENT_API}/current-api-session`, bearer(access_token))
    const { page, send, browser } = await openAccount(service, person)
    await logInAs(service, person)
    const formToken = formTokenOf(await page('/account/sessions'), '/account/sessions/end')
    for (const session of [his.json().data.id, 'nothing', '../x', 'x'.repeat(1024)]) {
      const reply = await send('/account/sessions', '/account/sessions/end', { session })
      await assertRefusedPage(service, reply, 404, 'NOT_FOUND')
    }
    for (const sessions of [[], [''], ['a', 'b'], ['x'.repeat(1025)]]) {
      const form = [['formToken', formToken], ...sessions.map((one) => ['session', one])] as const
      const reply = await post(service, browser, '/account/sessions/end', form as never)
      await assertRefusedPage(service, reply, 400, 'COULD_NOT_VALIDATE')
    }
    const after = await service.call(`${CLIENT_API}/current-api-session`, bearer(access_token))
    assert.equal(after.status, 200)
  })

  await t.test('names and user agents are texts, whatever is in them', async () => {
    // Attack: stored XSS through the name of a program or of a person.
    const evil = '"><script>alert(1)</script>\'&'
    const someone = await admin.createIdentity({ name: evil, username: 'evil', password: PASSWORD })
    const headers = { 'user-agent': evil }
    await service.call(`${CLIENT_API}/authenticate?method=password`, {
      headers,
      json: { username: 'evil', password: PASSWORD },
    })
    const { page } = await openAccount(service, someone)
    const escaped = '&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;&#39;&#38;'
    const html = await page('/account/sessions')
    assert.ok(!html.includes('<script'))
    assert.ok(html.includes(`<h2>${escaped}</h2>`))
    assert.ok(html.includes(`<p>${escaped}</p>`))
  })

  await t.test(
    'bodies that are no form, and methods that are none of ours, are refused',
    async () => {
      const { browser } = await openAccount(service, person)
      const json = await browser.get('/account/password', { method: 'POST', json: {} })
      assert.equal(json.status, 415)
      const broken = {
        method: 'POST',
        body: '%zz',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }
      assert.equal((await browser.get('/account/password', broken)).status, 400)
      assert.equal((await browser.get('/account', { method: 'DELETE' })).status, 405)
      assert.equal((await browser.get('/account/totp/start')).status, 405, 'a GET changes nothing')
      const asJson = await browser.get('/account', { headers: { accept: 'application/json' } })
      assert.equal(asJson.status, 406, 'R023')
      assert.equal(asJson.json().error.code, 'NOT_ACCEPTABLE')
    },
  )
})

test('the pages are where the provider is, and nowhere else', async (t) => {
  const service = await startService(t, {
    config: {
      edge: { api: { disableOidcAutoBinding: true } },
      web: [
        {
          name: 'apis',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          apis: [{ binding: 'edge-client' }, { binding: 'edge-management' }],
        },
        {
          name: 'provider',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          apis: [{ binding: 'edge-oidc' }],
        },
      ],
    },
  })
  const [apis, provider] = service.instance.listeners.map(({ baseUrls }) => baseUrls[0])
  for (const path of ['/account', '/account/sessions', '/account/callback']) {
    assert.equal((await service.client.call(`${apis}${path}`)).status, 404, path)
  }
  assert.equal((await service.client.call(`${provider}/account`)).status, 302)
  const elsewhere = { headers: { host: 'localhost:1' } }
  assert.equal((await service.client.call(`${provider}/account`, elsewhere)).status, 421)
})
