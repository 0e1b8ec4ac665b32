/**
 * Setting up an app in a browser: the pages, with JSON nowhere, and the cookie of the browser that began the login. D-10,
 * D-11, D-19; R087.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  authenticatorApp,
  PASSWORD,
  partialLogin,
  scanned,
  startEnrollment,
  totpPolicy,
} from '../../support/login/authenticator-app.ts'
import {
  answerOf,
  authorizationParameters,
  authorize,
  beginLogin,
  exchangeOf,
  pkce,
} from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

/** Neither digits nor the letters of recovery codes: right for nobody. */
const NO_CODE = '00000x'

/** Somebody without an app whose policy demands one, after the password. */
async function newcomer(t: TestContext, name = 'ada') {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const policy = await totpPolicy(admin)
  const ada = await admin.createIdentity({ name, username: 'ada', password: PASSWORD, policy })
  const { authRequestId } = await partialLogin(service, ada)
  return { service, ada, id: authRequestId }
}

test('the pages of an enrollment', async (t) => {
  const html = { accept: 'text/html,application/xhtml+xml;q=0.9' }
  const { service, ada, id } = await newcomer(t, '<b>Ada & "Eve"</b>')
  const form = (fields: Record<string, string>) => ({
    form: Object.entries({ authRequestId: id, ...fields }),
    headers: html,
  })

  await t.test('the password leads to the page that starts it', async () => {
    const again = await beginLogin(service)
    const { username, password } = ada
    const reply = await service.call('/oidc/login/username', {
      form: Object.entries({ authRequestId: again.authRequestId, username, password }),
      headers: html,
    })
    assert.equal(reply.status, 200, reply.text)
    assert.equal(reply.headers['totp-required'], 'true')
    assert.match(
      reply.text,
      /<form method="post" action="\/oidc\/login\/totp\/enroll\?authRequestID=[\w-]+">/,
    )
  })

  await t.test(
    'D-19: the start is a page with a QR code, the key, and the recovery codes',
    async () => {
      const reply = await service.call('/oidc/login/totp/enroll', form({}))
      assert.equal(reply.status, 201, reply.text)
      assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
      assert.equal(reply.headers['cache-control'], 'no-store')
      assert.match(String(reply.headers['content-security-policy']), /frame-ancestors 'none'/)
      assert.match(reply.text, /<svg/)
      assert.match(reply.text, /action="\/oidc\/login\/totp\/enroll\/verify"/)
      const codes = [...reply.text.matchAll(/<code>([A-Z2-7]{6})<\/code>/g)]
      assert.equal(codes.length, 20)
      assert.equal(reply.text.includes('<b>Ada'), false, 'a name is no markup')
    },
  )

  await t.test('a wrong code shows the page again, without the recovery codes', async () => {
    const { app } = await scanned(service, id)
    const code = app.wrongCode()
    const reply = await service.call('/oidc/login/totp/enroll/verify', form({ code }))
    assert.equal(reply.status, 400)
    assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
    assert.match(reply.text, /role="alert"/)
    assert.match(reply.text, /<svg/)
    assert.equal(/<code>[A-Z2-7]{6}<\/code>/.test(reply.text), false, 'R087: shown once')
    assert.equal(reply.text.includes(`"${code}"`), false, 'the code does not come back')
  })

  await t.test('a right code goes to the client', async () => {
    const { app } = await scanned(service, id)
    const code = app.code()
    const reply = await service.call('/oidc/login/totp/enroll/verify', form({ code }))
    assert.ok(answerOf(reply).get('code'))
  })

  await t.test('from then on the password leads to the page that asks for a code', async () => {
    const again = await beginLogin(service)
    const { username, password } = ada
    const fields = { authRequestId: again.authRequestId, username, password }
    const reply = await service.call('/oidc/login/username', {
      form: Object.entries(fields),
      headers: html,
    })
    assert.equal(reply.status, 200, reply.text)
    assert.match(
      reply.text,
      /<form method="post" action="\/oidc\/login\/totp\?authRequestID=[\w-]+">/,
    )
    const wrong = await service.call('/oidc/login/totp', {
      form: [
        ['id', again.authRequestId],
        ['code', NO_CODE],
      ],
      headers: html,
    })
    assert.equal(wrong.status, 400)
    assert.match(wrong.text, /role="alert"/)
    assert.match(wrong.text, /action="\/oidc\/login\/totp\?authRequestID=[\w-]+"/)
  })
})

test('D-10: a browser that did not begin the login may not enroll in it', async (t) => {
  // Attack: somebody begins a login and sends a person the genuine page that sets up an app.
  const { service, id } = await newcomer(t)
  const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' }
  for (const [method, path] of [
    ['POST', '/oidc/login/totp/enroll'],
    ['POST', '/oidc/login/totp/enroll/verify'],
    ['POST', '/oidc/login/totp'],
    ['DELETE', '/oidc/login/totp/enroll'],
  ] as const) {
    const json = { authRequestId: id, code: NO_CODE }
    const reply = await service.call(path, { method, json, headers })
    assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
  }
  for (const path of ['auth-queries', 'totp', 'totp/enroll']) {
    const reply = await service.call(`/oidc/login/${path}?id=${id}`, { headers })
    assertRefused(reply, 400, 'INVALID_AUTH_REQUEST')
  }
  assert.equal((await startEnrollment(service, id)).status, 201, 'the program itself goes on')
})

test('D-10: a browser that began the login enrolls in it, and needs its cookie at every step', async (t) => {
  const { service, ada } = await newcomer(t)
  const browser = { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
  const keys = pkce()
  const parameters = authorizationParameters(keys.challenge)
  const begun = await authorize(service, parameters, { headers: browser })
  const id = String(begun.headers['auth-request-id'])
  const [cookie = ''] = String(begun.headers['set-cookie']).split(';')
  assert.match(cookie, /^__Host-/)
  const post = (path: string, fields: Record<string, string>, sent: Record<string, string>) =>
    service.call(`/oidc/login/${path}`, {
      form: Object.entries({ authRequestId: id, ...fields }),
      headers: { ...browser, 'sec-fetch-site': 'same-origin', ...sent },
    })
  /** Without the cookie first: that is refused, and changes nothing. */
  const step = async (path: string, fields: Record<string, string>) => {
    const stranger = await post(path, fields, {})
    assert.equal(stranger.status, 400, path)
    assert.equal(stranger.headers.location, undefined)
    return post(path, fields, { cookie })
  }
  const { username, password } = ada
  assert.equal((await step('username', { username, password })).status, 200)
  const page = await step('totp/enroll', {})
  assert.equal(page.status, 201, page.text)
  const link = /href="(otpauth:[^"]+)"/.exec(page.text)?.[1] ?? ''
  const app = authenticatorApp(link.replaceAll('&#38;', '&'), service.clock)
  const done = await step('totp/enroll/verify', { code: app.code() })
  assert.equal((await exchangeOf(service, keys, done)).status, 200)
  assert.match(String(done.headers['set-cookie']), /Max-Age=0/)
})
