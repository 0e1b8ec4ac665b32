/**
 * R034, R108: what opens something is written nowhere. Markers are planted wherever a caller can put a text, and real
 * secrets go through whole logins; then the log, the audit events and every answer are searched for them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import {
  authorizationParameters,
  bearer,
  beginLogin,
  exchange,
  logIn,
  obtainCode,
  pkce,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { logLines } from '../../support/monitoring/log-lines.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

/** Everything that the service wrote about what happened. */
async function written(service: Service): Promise<string> {
  // When the line of a later request is there, those of the earlier ones are.
  const later = (await service.call('/version')).headers['x-request-id']
  await logLines(service, ({ requestId }) => requestId === later)
  const events = await sql(service, 'SELECT * FROM events')
  assert.ok(events.length > 0)
  return JSON.stringify([service.log, events])
}

async function assertUnwritten(service: Service, secrets: Readonly<Record<string, string>>) {
  const text = await written(service)
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 8, name)
    for (const form of [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
    ]) {
      assert.equal(text.includes(form), false, `${name} was written`)
    }
  }
}

test('R034, R108: the secrets of real logins are in no log line and no event', async (t) => {
  const service = await startService(t)

  await t.test('a login that succeeds', async () => {
    const state = 'state-marker-1'
    const nonce = 'nonce-marker-1'
    const { authRequestId, challenge, verifier } = await beginLogin(service, { state, nonce })
    const done = await submitPassword(service, authRequestId)
    const code = new URL(done.headers.location ?? '').searchParams.get('code') ?? ''
    const form = { code, code_verifier: verifier, redirect_uri: REDIRECT_URI }
    const tokens = (await exchange(service, form)).json()
    const call = await service.call('/edge/client/v1/current-identity', bearer(tokens.access_token))
    assert.equal(call.status, 200)
    await assertUnwritten(service, {
      authRequestId,
      challenge,
      verifier,
      code,
      state,
      nonce,
      password: ADMIN.password,
      accessToken: tokens.access_token,
      idToken: tokens.id_token,
      signature: tokens.access_token.split('.')[2],
    })
  })

  await t.test('a login of a browser, with its cookie', async () => {
    const { challenge } = pkce()
    const headers = { accept: 'text/html', 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }
    const begun = await service.call(`/oidc/authorization?${authorizationParameters(challenge)}`, {
      headers,
    })
    const [cookie = ''] = begun.headers['set-cookie'] ?? []
    const pair = cookie.split(';')[0] ?? ''
    const authRequestId = String(begun.headers['auth-request-id'])
    const done = await service.call('/oidc/login/username', {
      headers: { ...headers, 'sec-fetch-site': 'same-origin', cookie: pair },
      form: [['authRequestId', authRequestId], ...Object.entries(ADMIN)],
    })
    assert.equal(done.status, 302)
    await assertUnwritten(service, { authRequestId, cookie: pair.split('=')[1] ?? '' })
  })

  await t.test('logins that fail', async () => {
    const password = 'wrong-password-marker'
    const { authRequestId } = await beginLogin(service)
    for (const username of [ADMIN.username, 'nobody']) {
      const reply = await submitPassword(service, authRequestId, { username, password })
      assert.equal(reply.status, 401)
      assert.equal(reply.json().error.code, 'INVALID_AUTH')
      assert.doesNotMatch(reply.text, /marker/)
    }
    await assertUnwritten(service, { authRequestId, password })
  })

  await t.test('exchanges that fail, for each reason', async () => {
    const wrongVerifier = pkce().verifier
    const secrets: Record<string, string> = { wrongVerifier }
    for (const [reason, changes] of Object.entries({
      'a wrong verifier': { code_verifier: wrongVerifier },
      'a missing verifier': { code_verifier: undefined },
      'another redirect_uri': { redirect_uri: 'http://127.0.0.1:1/marker-uri' },
      'a secret': { client_secret: 'client-secret-marker' },
    })) {
      const { code, verifier, redirectUri } = await obtainCode(service)
      const form = { code, code_verifier: verifier, redirect_uri: redirectUri, ...changes }
      const reply = await exchange(service, form)
      assert.ok(['invalid_grant', 'invalid_client'].includes(reply.json().error), reason)
      assert.doesNotMatch(reply.text, /marker/)
      secrets[`code after ${reason}`] = code
      secrets[`verifier after ${reason}`] = verifier
    }
    secrets['client secret'] = 'client-secret-marker'
    await assertUnwritten(service, secrets)
  })

  await t.test('tokens that are refused', async () => {
    const { access_token: good, id_token: idToken } = await logIn(service)
    const tampered = `${good.slice(0, -8)}AAAAAAAA`
    for (const token of [tampered, idToken]) {
      const reply = await service.call('/edge/client/v1/current-identity', bearer(token))
      assert.equal(reply.status, 401)
      assert.equal(reply.json().error.code, 'UNAUTHORIZED')
    }
    await assertUnwritten(service, { good, tampered, idToken })
  })
})

test('R108: what a caller plants is neither written nor sent back', async (t) => {
  const service = await startService(t)
  const MARK = 'MARKER-7f3a'
  const json = { 'content-type': 'application/json' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const basic = Buffer.from(`service:${MARK}`).toString('base64')
  const LOGIN = '/oidc/login/username'
  const API = '/edge/client/v1/current-identity'

  const planted: Readonly<Record<string, readonly [path: string, CallOptions]>> = {
    'in an unknown path': [`/${MARK}`, {}],
    'below a known path': [`/oidc/login/${MARK}`, {}],
    'in an undecodable path': [`/%zz${MARK}`, {}],
    'as an auth request id in the query': [`${LOGIN}?authRequestID=${MARK}`, {}],
    'as an auth request id in the body': [LOGIN, { json: { authRequestId: MARK, ...ADMIN } }],
    'as an access token in the query (R067)': [`${API}?access_token=${MARK}`, {}],
    'as a bearer token': [API, { headers: { authorization: `Bearer ${MARK}` } }],
    'as a zt-session': [API, { headers: { 'zt-session': MARK } }],
    'as a cookie': [API, { headers: { cookie: `session=${MARK}` } }],
    'in a broken JSON body': [LOGIN, { body: `{"password":"${MARK}"`, headers: json }],
    'as the name of a field': [LOGIN, { json: { [MARK]: 1 } }],
    'in a broken form': ['/oidc/token', { body: `${MARK}=%zz`, headers: form }],
    'as a code': ['/oidc/token', { form: codeForm(MARK) }],
    'as a client secret in Basic': [
      '/oidc/token',
      { form: codeForm('c'), headers: { authorization: `Basic ${basic}` } },
    ],
    'as a grant type': ['/oidc/token', { form: [['grant_type', MARK]] }],
    'as a client id': [`/oidc/authorization?client_id=${MARK}`, {}],
    'as a redirect URI': [
      `/oidc/authorization?client_id=service&redirect_uri=https://${MARK}.example/`,
      {},
    ],
    'in an undecodable query': [`/oidc/authorization?state=${MARK}%zz`, {}],
    'as a method': ['/version', { method: 'PUT', headers: { 'x-http-method-override': MARK } }],
    'as an Accept': [LOGIN, { headers: { accept: `image/${MARK}` } }],
    'as a content type': [LOGIN, { body: 'x', headers: { 'content-type': `text/${MARK}` } }],
    'as an Origin': ['/oidc/keys', { headers: { origin: `https://${MARK}.example` } }],
  }
  const ids = new Set<unknown>()
  for (const [where, [path, options]] of Object.entries(planted)) {
    await t.test(where, async () => {
      const replies = [
        await service.call(path, options),
        await service.call(path, {
          ...options,
          headers: { accept: 'text/html', ...options.headers },
        }),
      ]
      for (const reply of replies) {
        ids.add(reply.headers['x-request-id'])
        const sent = JSON.stringify([reply.text, reply.rawHeaders])
        assert.equal(mentions(sent, MARK), false, sent)
        assert.notEqual(reply.status, 500)
      }
      assert.equal(mentions(await written(service), MARK), false)
    })
  }

  await t.test('the log has one line for each of these all the same', async () => {
    assert.equal(ids.size, 2 * Object.keys(planted).length)
    const lines = await logLines(service, ({ requestId }) => ids.has(requestId), ids.size)
    assert.equal(lines.length, ids.size)
    for (const line of lines) assert.equal(line.msg, 'request')
  })
})

test('the log names route, status, time and identity of a request', async (t) => {
  const service = await startService(t)
  const { access_token: token } = await logIn(service)
  const reply: Reply = await service.call('/edge/client/v1/current-identity?x=y', bearer(token))
  const id = reply.headers['x-request-id']
  const [line, ...others] = await logLines(service, ({ requestId }) => requestId === id)
  assert.deepEqual(others, [])
  assert.equal(line.method, 'GET')
  assert.equal(line.route, '/edge/client/v1/current-identity')
  assert.equal(line.status, 200)
  assert.equal(typeof line.milliseconds, 'number')
  assert.equal(line.identity, reply.json().data.id)
  assert.equal(line.address, '127.0.0.1')
})

function codeForm(code: string): readonly [string, string][] {
  return [
    ['grant_type', 'authorization_code'],
    ['client_id', 'service'],
    ['code', code],
    ['redirect_uri', REDIRECT_URI],
    ['code_verifier', pkce().verifier],
  ]
}

function mentions(text: string, marker: string): boolean {
  return text.toLowerCase().includes(marker.toLowerCase())
}
