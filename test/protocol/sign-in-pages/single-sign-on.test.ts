/** Single sign-on: on, off, what always asks, and what ends it. D-345; OIDC Core §3.1.2.1, RFC 8252 §8.6. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { minutes } from '../../../src/base/time/duration.ts'
import { type CookieBrowser, cookieBrowser } from '../../support/browser/cookie-browser.ts'
import { logInByCertificate, presenting } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import {
  extendVerify,
  enrolledPerson as personWithCertificate,
  renewal,
} from '../../support/certificates/renewal.ts'
import type { Reply } from '../../support/http-client.ts'
import { headingOf, openAccount } from '../../support/login/account.ts'
import { enrolledPerson, PASSWORD, setUpApp } from '../../support/login/authenticator-app.ts'
import { authorizationParameters, exchange, pkce } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

const SITE = 'https://app.example.com/callback'

const withSites = (sso: object) => ({
  sso,
  web: [
    {
      name: 'one',
      bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
      apis: [
        { binding: 'edge-client' },
        { binding: 'edge-management' },
        {
          binding: 'edge-oidc',
          options: { redirectURIs: [SITE, 'http://127.0.0.1:*/callback'] },
        },
      ],
    },
  ],
})

async function ask(
  browser: CookieBrowser,
  changes: Readonly<Record<string, string>> = {},
): Promise<{ readonly reply: Reply; readonly to: string; readonly verifier: string }> {
  const { challenge, verifier } = pkce()
  const parameters = authorizationParameters(challenge, { redirect_uri: SITE, ...changes })
  const reply = await browser.get(`/oidc/authorization?${parameters}`)
  assert.equal(reply.status, 302, reply.text)
  return { reply, to: reply.headers.location ?? '', verifier }
}

const codeIn = (to: string) => {
  assert.ok(to.startsWith(`${SITE}?`), to)
  return new URL(to).searchParams.get('code')
}

const claimsOf = (tokens: Reply) =>
  decodeJwt<{ auth_time: number; amr: string[] }>(tokens.json().id_token)

const errorIn = (to: string) => new URL(to).searchParams.get('error')

function assertAsked(to: string): void {
  assert.match(to, /^\/oidc\/login\/username\?authRequestID=/)
}

test('single sign-on', async (t) => {
  const service = await startService(t, { config: withSites({ duration: '10m' }) })
  const admin = await administrate(service)
  const someone = () => admin.createIdentity({ password: PASSWORD })
  const events = async (identityId: string) => {
    const filter = encodeURIComponent(`type="login.succeeded" and identityId="${identityId}"`)
    return admin.get(`/events?filter=${filter}`)
  }

  await t.test(
    'a browser that signed in to the account page is not asked again, and the tokens say when it was',
    async () => {
      const person = await someone()
      const { browser } = await openAccount(service, person)
      const signedInAt = Math.floor(service.clock.now() / 1000)
      service.clock.advance(minutes(2))
      const { to, verifier } = await ask(browser, { nonce: 'n' })
      const code = codeIn(to)
      assert.ok(code)
      assert.equal(new URL(to).searchParams.get('state'), 'a-state')
      const tokens = await exchange(service, {
        code,
        code_verifier: verifier,
        redirect_uri: SITE,
      })
      assert.equal(tokens.status, 200, tokens.text)
      const claims = claimsOf(tokens)
      assert.ok(Math.abs(claims.auth_time - signedInAt) <= 1)
      assert.deepEqual(claims.amr, ['pwd'])
      assert.equal(claims.sub, person.id)
      const [event] = await events(person.id)
      assert.equal(event.details.application, 'app.example.com')
      assert.ok(event.details.reusedSession)
    },
  )

  await t.test(
    'prompt=login and max_age always ask; prompt=none answers without a page',
    async () => {
      const { browser } = await openAccount(service, await someone())
      assertAsked((await ask(browser, { prompt: 'login' })).to)
      assertAsked((await ask(browser, { max_age: '3600' })).to)
      assertAsked((await ask(browser, { max_age: '0' })).to)
      assert.ok(codeIn((await ask(browser, { prompt: 'none' })).to))
      assert.equal(
        errorIn((await ask(browser, { prompt: 'none', max_age: '60' })).to),
        'login_required',
      )
      assert.equal(errorIn((await ask(browser, { prompt: 'none login' })).to), 'login_required')
      assert.equal(
        errorIn((await ask(cookieBrowser(service), { prompt: 'none' })).to),
        'login_required',
      )
    },
  )

  await t.test(
    'it ends after the configured time, at the sign-out, and when the session is ended',
    async () => {
      const late = await openAccount(service, await someone())
      service.clock.advance(minutes(10))
      assertAsked((await ask(late.browser)).to)
      const out = await openAccount(service, await someone())
      const cookies = new Map(out.browser.cookies)
      assert.equal((await out.send('/account', '/account/sign-out')).status, 303)
      assertAsked((await ask(out.browser)).to)
      // Attack: the cookie was copied before the sign-out.
      const copy = cookieBrowser(service)
      for (const [name, value] of cookies) copy.cookies.set(name, value)
      assertAsked((await ask(copy)).to)
      const person = await someone()
      const ended = await openAccount(service, person)
      const [session] = await admin.get(`/identities/${person.id}/api-sessions`)
      await admin.act('DELETE', `/api-sessions/${session.id}`)
      assertAsked((await ask(ended.browser)).to)
    },
  )

  await t.test('it ends with a disabled identity and with a changed password', async () => {
    const person = await someone()
    const disabled = await openAccount(service, person)
    await admin.act('POST', `/identities/${person.id}/disable`)
    assertAsked((await ask(disabled.browser)).to)
    const other = await openAccount(service, await someone())
    const passwords = {
      currentPassword: PASSWORD,
      password: 'quite another one',
      repeated: 'quite another one',
    }
    const changed = await other.send('/account/password', '/account/password', passwords)
    assert.equal(changed.status, 303, changed.text)
    assertAsked((await ask(other.browser)).to)
  })

  // The session stays, but the code of such a login could not be exchanged (D-122).
  await t.test('it ends when the certificate of the session is renewed', async () => {
    const openssl = await openOpenssl()
    t.after(() => openssl.close())
    const device = await personWithCertificate(service, admin, openssl)
    const shown = presenting(service, device.certificate)
    const browser = cookieBrowser(shown)
    const begun = (await browser.get('/account')).headers.location ?? ''
    const authRequestId = new URL(begun, service.baseUrl).searchParams.get('authRequestID') ?? ''
    const { headers } = await browser.post('/oidc/login/cert', { authRequestId })
    await browser.get((headers.location ?? '').replace(service.baseUrl, ''))
    assert.ok(codeIn((await ask(browser)).to))

    const { access_token } = await logInByCertificate(shown)
    const next = await renewal(service, access_token, device)
    const { authenticatorId } = device
    await extendVerify(shown, access_token, authenticatorId, { clientCert: next.pem })
    const later = cookieBrowser(presenting(service, next))
    for (const [name, value] of browser.cookies) later.cookies.set(name, value)
    assert.equal((await later.get('/account')).status, 200)
    assert.match((await ask(later)).to, /^\/oidc\/login\/cert\?authRequestID=/)
  })

  await t.test('a policy that demands more than was proven asks', async () => {
    const policy = await admin.createPolicy()
    const { browser } = await openAccount(
      service,
      await admin.createIdentity({ password: PASSWORD, policy }),
    )
    assert.ok(codeIn((await ask(browser)).to))
    await admin.act('PATCH', `/auth-policies/${policy}`, { secondary: { requireTotp: true } })
    assertAsked((await ask(browser)).to)
    assert.equal(errorIn((await ask(browser, { prompt: 'none' })).to), 'login_required')
  })

  await t.test(
    'an app that was set up since the sign-in is asked for its code, and nothing else',
    async () => {
      const person = await someone()
      const { browser } = await openAccount(service, person)
      const { app } = await setUpApp(service, person)
      const { to } = await ask(browser)
      assert.match(to, /^\/oidc\/login\/totp\?authRequestID=/)
      const page = await browser.get(to)
      assert.equal(headingOf(page.text), 'Enter your code')
      assert.ok(page.text.includes(`app.example.com</strong> as <strong><bdi>${person.name}`))
      assert.equal(errorIn((await ask(browser, { prompt: 'none' })).to), 'login_required')
      const id = new URL(to, service.baseUrl).searchParams.get('authRequestID') ?? ''
      const done = await browser.post('/oidc/login/totp', { id, code: app.nextCode() })
      assert.ok(codeIn(done.headers.location ?? ''))
    },
  )

  await t.test('a login that waits for the code of the app ends with the session', async () => {
    const person = await someone()
    const { browser, send } = await openAccount(service, person)
    const { app } = await setUpApp(service, person)
    const idIn = (to: string) =>
      new URL(to, service.baseUrl).searchParams.get('authRequestID') ?? ''
    const [first, second, third] = [await ask(browser), await ask(browser), await ask(browser)]
    const done = await browser.post('/oidc/login/totp', {
      id: idIn(first.to),
      code: app.nextCode(),
    })
    assert.ok(codeIn(done.headers.location ?? ''))
    const [event] = await events(person.id)
    assert.equal(event.details.application, 'app.example.com')
    assert.ok(event.details.reusedSession)
    assert.equal((await send('/account', '/account/sign-out')).status, 303)
    const late = await browser.get('/oidc/login/totp', {
      method: 'POST',
      json: { id: idIn(second.to), code: app.nextCode() },
      headers: { accept: 'application/json' },
    })
    assertRefused(late, 400, 'INVALID_AUTH_REQUEST')
    // A password proves the login anew, and then it does not need the session.
    const authRequestId = idIn(third.to)
    const { username } = person
    await browser.post('/oidc/login/username', { authRequestId, username, password: PASSWORD })
    const again = await browser.post('/oidc/login/totp', {
      id: authRequestId,
      code: app.nextCode(),
    })
    assert.ok(codeIn(again.headers.location ?? ''))
  })

  await t.test('a code of the app that was proven counts too, and amr says so', async () => {
    const person = await enrolledPerson(service, admin)
    const { browser } = await openAccount(service, person, () => person.app.nextCode())
    const { to, verifier } = await ask(browser)
    const code = codeIn(to)
    assert.ok(code)
    const tokens = await exchange(service, {
      code,
      code_verifier: verifier,
      redirect_uri: SITE,
    })
    assert.ok(claimsOf(tokens).amr.includes('otp'))
  })

  // Attack: any program of the device listens on a port of its own and opens the browser (RFC 8252 §8.6).
  await t.test(
    'an application on the device needs a press of a button, and no other site can press it',
    async () => {
      const person = await someone()
      const { browser } = await openAccount(service, person)
      const local = { redirect_uri: 'http://127.0.0.1:9876/callback' }
      const { to } = await ask(browser, local)
      assert.match(to, /^\/oidc\/login\/continue\?authRequestID=/)
      const page = await browser.get(to)
      assert.equal(headingOf(page.text), 'Continue?')
      assert.ok(page.text.includes(`as <strong><bdi>${person.name}</bdi></strong>`))
      assert.match(String(page.headers['content-security-policy']), /frame-ancestors 'none'/)
      const authRequestId = new URL(to, service.baseUrl).searchParams.get('authRequestID') ?? ''
      const foreign = await browser.get('/oidc/login/continue', {
        method: 'POST',
        form: [['authRequestId', authRequestId]],
        headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      })
      assert.equal(foreign.status, 400)
      const done = await browser.post('/oidc/login/continue', { authRequestId })
      assert.match(done.headers.location ?? '', /^http:\/\/127\.0\.0\.1:9876\/callback\?.*code=/)
      assert.equal(errorIn((await ask(browser, { ...local, prompt: 'none' })).to), 'login_required')
      // Another person can sign in instead.
      const other = await browser.get(`/oidc/login/username?authRequestID=${authRequestId}`)
      assert.equal(other.status, 400, 'this login is complete')
    },
  )

  // Attack: the cookie of one address is sent to another, or is not ours.
  await t.test('a cookie that is not a session of this address asks', async () => {
    const browser = cookieBrowser(service)
    browser.cookies.set('__Host-latchkey-account', 'forged')
    assertAsked((await ask(browser)).to)
  })
})

test('single sign-on is off by default, and every application asks', async (t) => {
  const service: Service = await startService(t, { config: withSites({}) })
  const admin = await administrate(service)
  const { browser } = await openAccount(service, await admin.createIdentity({ password: PASSWORD }))
  assertAsked((await ask(browser)).to)
  assert.equal(errorIn((await ask(browser, { prompt: 'none' })).to), 'login_required')
})

// Attack: at a browser whose user left, a step-up adds a passkey that opens the account for ever.
test('D-465: a session that is reused sets up a factor only while it is recent', async (t) => {
  const service = await startService(t, { config: withSites({ duration: '25m' }) })
  service.clock.hold()
  const admin = await administrate(service)
  const person = await admin.createIdentity({ password: PASSWORD })
  const { browser } = await openAccount(service, person)
  const stepUp = { acr_values: 'phr' }
  service.clock.advance(minutes(9))
  const { to } = await ask(browser, stepUp)
  assert.match(to, /^\/oidc\/login\/passkey\/enroll\?authRequestID=/)
  assert.equal((await browser.get(to)).status, 200)
  service.clock.advance(minutes(1))
  const id = new URL(to, service.baseUrl).searchParams.get('authRequestID') ?? ''
  for (const path of ['/oidc/login/passkey/enroll', '/oidc/login/totp/enroll']) {
    const json = { id, authRequestId: id }
    const headers = { accept: 'application/json' }
    const late = await browser.get(path, { method: 'POST', json, headers })
    assertRefused(late, 403, 'LOGIN_TOO_OLD')
  }
  assertAsked((await ask(browser, stepUp)).to)
  assert.ok(codeIn((await ask(browser)).to), 'and what needs no new factor is not asked')
})
