/** Attacks on the forms of the account pages, and on what they are answered with. D-162; R022, R100. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import {
  assertRefusedPage,
  formTokenOf,
  openAccount,
  post,
  signIn,
} from '../../support/login/account.ts'
import { PASSWORD } from '../../support/login/authenticator-app.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const OTHER_SITE = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }

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

  await t.test('the session of another user is 404 (R100)', async () => {
    const stranger = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, stranger)
    const his = await service.call(`${CLIENT_API}/current-api-session`, bearer(access_token))
    const { page, send, browser } = await openAccount(service, person)
    await logInAs(service, person)
    const formToken = formTokenOf(await page('/account/sessions'), '/account/sessions/end')
    for (const session of [his.json().data.id, 'nothing', '../x', 'x'.repeat(1024)]) {
      const reply = await send('/account/sessions', '/account/sessions/end', { session })
      assert.equal(reply.status, 404, session)
      assert.ok(reply.text.includes('role="alert">That session has already ended.'))
      assert.ok(!reply.text.includes(session), 'and nothing is said about it')
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
    assert.ok(html.includes(`<h2><bdi>${escaped}</bdi></h2>`))
    assert.ok(html.includes(`<p><bdi>${escaped}</bdi></p>`))
  })

  await t.test('rejects bodies that are not forms, and unknown methods', async () => {
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
  })

  await t.test('a form of the previous user is not accepted for the current one', async () => {
    // Attack: a page is left open; somebody else signs in in the same browser, on the way to confirm; then the form of the
    // page is sent, with the fresh login of the other.
    const { browser, page } = await openAccount(service, person)
    const formToken = formTokenOf(await page('/account/totp'), '/account/totp/start')
    const other = await admin.createIdentity({ password: PASSWORD })
    await signIn(service, browser, '/account/confirm?page=totp', other)
    assert.ok(!(await page('/account/totp')).includes('role="status"'), 'nobody confirmed anything')
    const reply = await post(service, browser, '/account/totp/start', [['formToken', formToken]])
    await assertRefusedPage(service, reply, 403, 'FORBIDDEN')
  })

  await t.test('a fresh login makes no other session of the same person fresh', async () => {
    // Attack: somebody at a forgotten browser waits until its owner signs in somewhere else.
    const someone = await admin.createIdentity({ password: PASSWORD })
    const forgotten = await openAccount(service, someone)
    await logInAs(service, someone)
    const html = await forgotten.page('/account/sessions')
    service.clock.advance(minutes(6))
    const owner = await openAccount(service, someone)
    const action = '/account/sessions/end-others'
    const form = [['formToken', formTokenOf(html, action)]] as const
    const reply = await post(service, forgotten.browser, action, form)
    assert.equal(reply.status, 303)
    assert.ok((await forgotten.page('/account/sessions')).includes('Confirm that it is you'))
    assert.equal((await owner.browser.get('/account')).status, 200)
  })

  await t.test(
    'a form that is sent several times at once is done once, and nothing breaks',
    async () => {
      const someone = await admin.createIdentity({ password: PASSWORD })
      await logInAs(service, someone)
      const { browser, page } = await openAccount(service, someone)
      const html = await page('/account/sessions')
      const session = /name="session" value="([^"]+)"/.exec(html)?.[1] ?? ''
      const sendAll = async (action: string, fields: Readonly<Record<string, string>> = {}) => {
        const form = Object.entries({ formToken: formTokenOf(html, action), ...fields })
        const replies = await Promise.all([1, 2, 3].map(() => post(service, browser, action, form)))
        return replies.map(({ status }) => status).toSorted()
      }
      assert.deepEqual(await sendAll('/account/sessions/end', { session }), [303, 404, 404])
      const ended = encodeURIComponent(`type = "session.ended" and identityId = "${someone.id}"`)
      assert.equal((await admin.get(`/events?filter=${ended}`)).length, 1)
      assert.deepEqual(await sendAll('/account/sessions/end-others'), [303, 303, 303])
      assert.deepEqual(await sendAll('/account/sign-out'), [303, 303, 303])
      assert.equal((await admin.get(`/events?filter=${ended}`)).length, 2)
    },
  )

  await t.test('two sessions that end each other at once do not both go', async () => {
    const someone = await admin.createIdentity({ password: PASSWORD })
    const visitors = [await openAccount(service, someone), await openAccount(service, someone)]
    const action = '/account/sessions/end-others'
    const pages = await Promise.all(visitors.map(({ page }) => page('/account/sessions')))
    const replies = await Promise.all(
      visitors.map(({ browser }, i) => {
        const form = [['formToken', formTokenOf(pages[i] ?? '', action)]] as const
        return post(service, browser, action, form)
      }),
    )
    for (const { status } of replies) assert.equal(status, 303)
    const left = await Promise.all(visitors.map(({ browser }) => browser.get('/account')))
    assert.deepEqual(left.map(({ status }) => status).toSorted(), [200, 302])
  })

  await t.test('what a page says after a change is one of our sentences, or nothing', async () => {
    // Attack: a cookie that another program of the same host has put there.
    const { browser, page } = await openAccount(service, person)
    for (const value of ['<b>Call+555</b>', 'constructor', '__proto__', 'x'.repeat(3000)]) {
      browser.cookies.set('__Host-latchkey-account-note', value)
      assert.ok(!(await page('/account')).includes('role="status"'), value)
    }
  })

  await t.test(
    'a page that responds to a form cannot be cached or framed either (R022)',
    async () => {
      // Attack: clickjacking, and whoever opens the browser after a sign-out.
      const someone = await admin.createIdentity({ password: PASSWORD })
      const { browser, page, send } = await openAccount(service, someone)
      const wrong = { currentPassword: 'x', password, repeated: password }
      const shown = [
        await send('/account/totp', '/account/totp/start'),
        await send('/account/password', '/account/password', wrong),
        await post(service, browser, '/account/password', []),
        await browser.get('/account/callback'),
      ]
      assert.deepEqual(
        shown.map(({ status }) => status),
        [200, 400, 403, 400],
      )
      for (const { headers } of shown) {
        assert.equal(headers['cache-control'], 'no-store')
        assert.equal(headers['x-frame-options'], 'DENY')
        const policy = String(headers['content-security-policy'])
        assert.match(policy, /default-src 'none'/)
        assert.match(policy, /frame-ancestors 'none'/)
        assert.doesNotMatch(policy, /unsafe/)
        assert.match(policy, /script-src( 'sha256-[^' ]+')+;/)
      }
      assert.equal((await browser.get('/account/signed-out')).status, 200)
      assert.ok((await page('/account')).includes('Overview'))
    },
  )
})
