/** Attacks on the cookie of the account pages, and what ends it. D-161, D-52; R110, R113. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieBrowser } from '../../support/browser/cookie-browser.ts'
import {
  formTokenOf,
  openAccount,
  post,
  SESSION_COOKIE,
  signIn,
} from '../../support/login/account.ts'
import { PASSWORD } from '../../support/login/authenticator-app.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { startService } from '../../support/service.ts'

test('attacks on the cookie', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })

  await t.test(
    'the content of the cookie is not a bearer token, and a bearer token is not a cookie',
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
    'for a policy that demands a JWT with every call, a page says so, and logout works (D-52)',
    async () => {
      const policy = await admin.createPolicy()
      const someone = await admin.createIdentity({ password: PASSWORD, policy })
      const { browser, page } = await openAccount(service, someone)
      const token = formTokenOf(await page('/account/sessions'), '/account/sign-out')
      const signer = await admin.createSigner({ issuer: 'https://idp.example' })
      await demand(admin, policy, { requireExtJwt: signer })
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
