/** /account and the pages below it, over the protocol: what they show and what their forms change. D-161 … D-163. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { headingOf, openAccount, SESSION_COOKIE, signIn } from '../../support/login/account.ts'
import {
  authenticatorApp,
  enrolledPerson,
  PASSWORD,
} from '../../support/login/authenticator-app.ts'
import { CLIENT_API, legacyToken } from '../../support/login/legacy.ts'
import { bearer } from '../../support/login/login.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const NEW_PASSWORD = 'quite another passphrase'

test('the account pages', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const someone = () => admin.createIdentity({ password: PASSWORD })
  const current = (token: string) =>
    service.call(`${CLIENT_API}/current-api-session`, bearer(token))

  await t.test(
    'the login leaves an ordinary session behind, and the page shows the person',
    async () => {
      const person = await someone()
      const { page } = await openAccount(service, person)
      const html = await page('/account')
      assert.equal(headingOf(html), 'Overview')
      assert.ok(html.includes(`Signed in as <bdi>${person.name}</bdi>.`))
      assert.ok(html.includes('You are signed in here and nowhere else.'))
      const [session, ...others] = await admin.get(`/identities/${person.id}/api-sessions`)
      assert.deepEqual(others, [])
      assert.equal(session.kind, 'oidc')
      assert.equal(session.ipAddress, '127.0.0.1')
      assert.deepEqual(session.amr, ['pwd'])
    },
  )

  await t.test('no page can be cached or framed, and only our own script runs', async () => {
    const { browser } = await openAccount(service, await someone())
    for (const path of ['', '/sessions', '/password', '/totp', '/certificates', '/signed-out']) {
      const { status, headers } = await browser.get(`/account${path}`)
      assert.equal(status, 200, path)
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['x-frame-options'], 'DENY')
      const policy = String(headers['content-security-policy'])
      assert.match(policy, /default-src 'none'/)
      assert.match(policy, /form-action 'self'(;|$)/)
      assert.match(policy, /frame-ancestors 'none'/)
      assert.doesNotMatch(policy, /unsafe/)
      assert.match(policy, /script-src( 'sha256-[^' ]+')+;/)
    }
  })

  await t.test('a page without a session leads to the login and back to that page', async () => {
    const { browser } = await openAccount(service, await someone())
    browser.cookies.clear()
    const reply = await signIn(service, browser, '/account/password', await someone())
    assert.equal(reply.headers.location, '/account/password')
  })

  await t.test('D-363: the page after a sign-out says that it is confirmed', async () => {
    const { page, send } = await openAccount(service, await someone())
    const out = await send('/account', '/account/sign-out')
    const html = await page(String(out.headers.location))
    assert.match(html, /Confirmed: access has ended everywhere\./)
    assert.doesNotMatch(await page('/account/signed-out'), /Confirmed/, 'once')
  })

  await t.test('sessions of both kinds are listed, one is ended, then all the others', async () => {
    const person = await someone()
    const one = await logInAs(service, person)
    const two = await logInAs(service, person)
    await legacyToken(service, person)
    const { page, send } = await openAccount(service, person)
    const html = await page('/account/sessions')
    assert.equal(html.match(/<li>\n<h2>/g)?.length, 4)
    assert.equal(html.match(/This browser/g)?.length, 1)
    assert.equal(html.match(/Last used/g)?.length, 1)

    const session = (await current(one.access_token)).json().data.id
    const ended = await send('/account/sessions', '/account/sessions/end', { session })
    assert.equal(ended.status, 303)
    assert.equal(ended.headers.location, '/account/sessions')
    const done = await page('/account/sessions')
    assert.ok(
      done.includes('That session was signed out. Confirmed: access has ended everywhere.'),
      'D-363',
    )
    assert.ok(!(await page('/account/sessions')).includes('That session was signed out.'), 'once')
    assert.equal((await current(one.access_token)).status, 401)
    assert.equal((await current(two.access_token)).status, 200)

    const rest = await send('/account/sessions', '/account/sessions/end-others')
    assert.equal(rest.status, 303)
    const after = await page('/account/sessions')
    assert.ok(after.includes('All other sessions were signed out.'))
    assert.ok(after.includes('There are no other sessions.'))
    assert.equal((await current(two.access_token)).status, 401)
    const events = await admin.get(
      `/events?filter=type = "session.ended" and identityId = "${person.id}"`.replaceAll(
        ' ',
        '%20',
      ),
    )
    assert.deepEqual(
      events.map(({ reason }: { reason: string }) => reason),
      ['holder', 'holder', 'holder'],
    )
  })

  await t.test(
    'the password is changed with the present one, and ends the other sessions',
    async () => {
      const person = await someone()
      const other = await logInAs(service, person)
      const { page, send } = await openAccount(service, person)
      const fields = { currentPassword: PASSWORD, password: NEW_PASSWORD, repeated: NEW_PASSWORD }
      const reply = await send('/account/password', '/account/password', fields)
      assert.equal(reply.status, 303, reply.text)
      assert.ok((await page('/account/password')).includes('Your password was changed.'))
      assert.equal((await current(other.access_token)).status, 401)
      await logInAs(service, { ...person, password: NEW_PASSWORD })
    },
  )

  await t.test(
    'an app is set up, asked for at the next login, and removed with a code',
    async () => {
      const person = await someone()
      const { page, send, browser } = await openAccount(service, person)
      assert.ok((await page('/account/totp')).includes('Set up an app'))
      const started = await send('/account/totp', '/account/totp/start')
      assert.equal(started.status, 200, started.text)
      const { text } = started
      const codes = [...text.matchAll(/<li><code>(\w{6})<\/code>/g)].map(([, code]) => code)
      assert.equal(codes.length, 20)
      const app = authenticatorApp(provisioningUrlIn(text), service.clock)
      const proof = /name="proof" value="([^"]+)"/.exec(text)?.[1] ?? ''

      const formToken =
        /action="\/account\/totp\/verify">\n<input[^>]*value="([^"]+)"/.exec(text)?.[1] ?? ''
      const wrong = await browser.post('/account/totp/verify', {
        formToken,
        proof,
        code: app.wrongCode(),
      })
      assert.equal(wrong.status, 400)
      assert.ok(wrong.text.includes('That code is incorrect.'))
      assert.equal(provisioningUrlIn(wrong.text), app.provisioningUrl)
      const right = await browser.post('/account/totp/verify', {
        formToken,
        proof,
        code: app.code(),
      })
      assert.equal(right.status, 303, right.text)
      const on = await page('/account/totp')
      assert.ok(on.includes('Your app is set up.'))
      assert.ok(on.includes('You have 20 left.'))

      const again = await openAccount(service, person, () => app.nextCode())
      const removed = await again.send('/account/totp', '/account/totp/remove', {
        code: app.nextCode(),
      })
      assert.equal(removed.status, 303, removed.text)
      assert.ok((await again.page('/account/totp')).includes('The app was removed.'))
      await logInAs(service, person)
    },
  )

  await t.test('recovery codes are counted, and renewed with a code', async () => {
    const person = await enrolledPerson(service, admin)
    const { page, send } = await openAccount(service, person, () => person.app.nextCode())
    const renewed = await send('/account/totp', '/account/totp/recovery-codes', {
      code: person.recoveryCodes[0] ?? '',
    })
    assert.equal(renewed.status, 200, renewed.text)
    const codes = [...renewed.text.matchAll(/<li><code>(\w{6})<\/code>/g)].map(([, code]) => code)
    assert.equal(codes.length, 20)
    assert.deepEqual(
      codes.filter((code) => person.recoveryCodes.includes(code ?? '')),
      [],
    )
    assert.ok((await page('/account/totp')).includes('You have 20 left.'))
    assert.ok(!(await page('/account/totp')).includes(String(codes[0])), 'R087: shown once')
    await openAccount(service, person, () => String(codes[0]))
    assert.ok((await page('/account')).includes('Recovery codes left: 19.'))
  })

  await t.test('signing out ends the session and takes the cookie away (R113)', async () => {
    const person = await someone()
    const { send, browser } = await openAccount(service, person)
    const stolen = browser.cookies.get(SESSION_COOKIE) ?? ''
    const reply = await send('/account', '/account/sign-out')
    assert.equal(reply.status, 303)
    assert.equal(reply.headers.location, '/account/signed-out')
    assert.equal(browser.cookies.has(SESSION_COOKIE), false)
    assert.deepEqual(await admin.get(`/identities/${person.id}/api-sessions`), [])
    browser.cookies.set(SESSION_COOKIE, stolen)
    assert.equal((await browser.get('/account')).status, 302)
  })

  await t.test(
    'the session ends with its access token, and the next page asks for a login',
    async () => {
      const { browser } = await openAccount(service, await someone())
      service.clock.advance(minutes(31))
      const reply = await browser.get('/account')
      assert.equal(reply.status, 302)
      assert.match(reply.headers.location ?? '', /^\/oidc\/login\/username\?/)
      assert.equal(browser.cookies.has(SESSION_COOKIE), false)
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

function provisioningUrlIn(html: string): string {
  const href = /href="(otpauth:[^"]+)"/.exec(html)?.[1] ?? ''
  return href.replaceAll('&#38;', '&')
}
