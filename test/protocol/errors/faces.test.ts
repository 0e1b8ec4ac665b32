/**
 * How failures look: the envelope of the APIs and login endpoints (D-45), the JSON of the OAuth endpoints (D-28), and
 * that neither shows anything of the inside. SPEC Errors.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CATALOGUE, type FailureCode } from '../../../src/errors/catalogue.ts'
import type { Reply } from '../../support/http-client.ts'
import { bearer, beginLogin, logIn } from '../../support/login/login.ts'
import { ADMIN, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const META = { apiVersion: '1.0.0', apiEnrollmentVersion: '1.0.0' }

/** Exactly the envelope, with this code and, where a field is at fault, this cause. */
function assertEnvelope(reply: Reply, status: number, code: FailureCode, cause?: object): void {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.headers['content-type'], 'application/json')
  assert.equal(reply.headers['cache-control'], 'no-store')
  const body = reply.json()
  const { message } = body.error
  assert.match(message, /^[a-z][^\n]{10,}$/)
  assert.deepEqual(body, {
    error: {
      code,
      message,
      requestId: reply.headers['x-request-id'],
      next: CATALOGUE[code].next[0],
      ...(cause === undefined ? {} : { cause }),
    },
    meta: META,
  })
}

function assertOauth(reply: Reply, status: number, error: string, about: RegExp): void {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.headers['content-type'], 'application/json')
  assert.equal(reply.headers['cache-control'], 'no-store')
  const body = reply.json()
  assert.deepEqual(Object.keys(body), ['error', 'error_description', 'code', 'next'])
  assert.equal(body.error, error)
  assert.match(body.error_description, about)
  assert.match(body.error_description, /^[ !#-[\]-~]+$/, 'RFC 6749 §5.2')
}

test('the APIs and login endpoints answer with the envelope', async (t) => {
  const service = await startService(t)
  const { authRequestId } = await beginLogin(service)
  const LOGIN = '/oidc/login/username'

  await t.test('an unknown address', async () => {
    for (const path of [
      '/nothing',
      '/edge',
      '/edge/client/v1',
      '/oidc',
      '/oidc/nothing',
      '/.env',
    ]) {
      assertEnvelope(await service.call(path), 404, 'NOT_FOUND')
      assertEnvelope(await service.call(path, { json: {} }), 404, 'NOT_FOUND')
    }
  })

  await t.test('an address is one text: nothing is repaired', async () => {
    for (const path of ['/version/', '//version', '/VERSION', '/version;a=b']) {
      assertEnvelope(await service.call(path), 404, 'NOT_FOUND')
    }
  })

  await t.test('a missing credential', async () => {
    const reply = await service.call('/edge/client/v1/current-identity')
    assertEnvelope(reply, 401, 'UNAUTHORIZED')
  })

  await t.test('wrong credentials', async () => {
    const json = { authRequestId, username: ADMIN.username, password: 'wrong' }
    assertEnvelope(await service.call(LOGIN, { json }), 401, 'INVALID_AUTH')
  })

  await t.test('an unknown auth request, whose client must start again', async () => {
    const json = { authRequestId: 'unknown', ...ADMIN }
    const reply = await service.call(LOGIN, { json })
    assertEnvelope(reply, 400, 'INVALID_AUTH_REQUEST')
    assert.match(reply.json().error.message, /start again/)
  })

  for (const [title, json, cause] of [
    ['no password', { username: 'admin' }, { field: 'password', reason: 'is missing' }],
    ['no username', { password: 'SECRET-1' }, { field: 'username', reason: 'is missing' }],
    [
      'a number',
      { username: 7, password: 'SECRET-1' },
      { field: 'username', reason: 'must be a text' },
    ],
    [
      'a list',
      { username: 'admin', password: ['SECRET-1', 'SECRET-2'] },
      { field: 'password', reason: 'must be a text' },
    ],
    [
      'too long a password',
      { username: 'admin', password: 'SECRET-1'.repeat(200) },
      { field: 'password', reason: 'must have at most 1024 characters' },
    ],
    [
      'an object',
      { username: { SECRET: 1 }, password: 'x' },
      { field: 'username', reason: 'must be a text' },
    ],
  ] as const) {
    await t.test(`a field fault (${title}) names the field and never the value`, async () => {
      const reply = await service.call(LOGIN, { json: { authRequestId, ...json } })
      assertEnvelope(reply, 400, 'COULD_NOT_VALIDATE', cause)
      assert.doesNotMatch(reply.text, /HUSH-HUSH/)
    })
  }

  await t.test('two different auth request ids', async () => {
    const reply = await service.call(`${LOGIN}?id=other`, { json: { authRequestId, ...ADMIN } })
    const reason = 'is given with two different values'
    assertEnvelope(reply, 400, 'COULD_NOT_VALIDATE', { field: 'authRequestId', reason })
  })

  await t.test('a wrong method, with Allow', async () => {
    for (const [path, allow] of [
      ['/version', 'GET, HEAD'],
      ['/edge/client/v1/current-identity', 'GET, HEAD'],
      [LOGIN, 'GET, HEAD, POST'],
    ] as const) {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE']) {
        const reply = await service.call(path, { method })
        assertEnvelope(reply, 405, 'METHOD_NOT_ALLOWED')
        assert.equal(reply.headers.allow, allow)
      }
    }
  })

  await t.test('browsers get a page for the same failures at the login', async () => {
    const headers = { accept: 'text/html' }
    for (const [reply, status] of [
      [await service.call(LOGIN, { headers }), 400],
      [await service.call(`${LOGIN}?authRequestID=unknown`, { headers }), 400],
      [await service.call(LOGIN, { headers, method: 'DELETE' }), 405],
      [await service.call(LOGIN, { headers, body: '{', method: 'POST' }), 415],
    ] as const) {
      assert.equal(reply.status, status)
      assert.match(reply.headers['content-type'] ?? '', /^text\/html/)
      assert.ok(reply.text.includes(String(reply.headers['x-request-id'])))
    }
  })

  await t.test('the APIs answer JSON, whatever is accepted', async () => {
    for (const accept of ['text/html', 'image/png']) {
      const headers = { accept }
      const refused = await service.call('/edge/client/v1/current-identity', { headers })
      assertEnvelope(refused, 401, 'UNAUTHORIZED')
    }
    // An address that is no API's: D-340.
    const unknown = await service.call('/nothing', { headers: { accept: 'image/png' } })
    assertEnvelope(unknown, 404, 'NOT_FOUND')
  })
})

test('the OAuth endpoints answer with error and error_description (D-28)', async (t) => {
  const service = await startService(t)

  for (const [title, form, status, error, about] of [
    ['no grant_type', [], 400, 'invalid_request', /grant_type is missing/],
    ['an unknown grant', [['grant_type', 'password']], 400, 'unsupported_grant_type', /grant_type/],
    ['no client', [['grant_type', 'authorization_code']], 400, 'invalid_client', /client_id/],
    [
      'no code',
      [
        ['grant_type', 'authorization_code'],
        ['client_id', 'service'],
      ],
      400,
      'invalid_request',
      /code is missing/,
    ],
    [
      'a client secret',
      [
        ['grant_type', 'authorization_code'],
        ['client_id', 'service'],
        ['client_secret', 'HUSH-HUSH'],
      ],
      401,
      'invalid_client',
      /public/,
    ],
    [
      'a parameter twice',
      [
        ['grant_type', 'authorization_code'],
        ['grant_type', 'authorization_code'],
      ],
      400,
      'invalid_request',
      /grant_type is repeated/,
    ],
  ] as const) {
    await t.test(`the token endpoint: ${title}`, async () => {
      const reply = await service.call('/oidc/token', { form })
      assertOauth(reply, status, error, about)
      assert.doesNotMatch(reply.text, /HUSH-HUSH/)
      assert.equal(
        reply.headers['www-authenticate']?.startsWith('Basic '),
        status === 401 || undefined,
      )
    })
  }

  await t.test('a wrong method, with Allow', async () => {
    for (const [path, method, allow] of [
      ['/oidc/token', 'GET', 'POST'],
      ['/oidc/token', 'PUT', 'POST'],
      ['/oidc/keys', 'POST', 'GET, HEAD'],
      ['/oidc/authorization', 'DELETE', 'GET, HEAD, POST'],
      ['/.well-known/openid-configuration', 'POST', 'GET, HEAD'],
    ] as const) {
      const reply = await service.call(path, { method, body: '' })
      assertOauth(reply, 405, 'invalid_request', /method/)
      assert.equal(reply.headers.allow, allow)
    }
  })

  await t.test('a body that is too large or not a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const large = await service.call('/oidc/token', { headers, body: 'x'.repeat(1024 * 1024) })
    assertOauth(large, 413, 'invalid_request', /larger/)
    assertOauth(await service.call('/oidc/token', { json: {} }), 415, 'invalid_request', /type/)
    const broken = await service.call('/oidc/token', { headers, body: 'code=%zz' })
    assertOauth(broken, 400, 'invalid_request', /parsed/)
  })
})

test('a failure of our own shows nothing of the inside', async (t) => {
  const service = await startService(t)
  const { access_token: token } = await logIn(service)
  const { authRequestId } = await beginLogin(service)
  // As if the disk had lost it.
  await sql(service, 'ALTER TABLE identities RENAME TO planted_table')
  await sql(service, 'ALTER TABLE authenticators RENAME TO planted_table_2')

  const atApi = await service.call('/edge/client/v1/current-identity', bearer(token))
  const atLogin = await service.call('/oidc/login/username', { json: { authRequestId, ...ADMIN } })
  const onPage = await service.call('/oidc/login/username', {
    headers: { accept: 'text/html' },
    json: { authRequestId, ...ADMIN },
  })

  await t.test('the caller gets UNHANDLED and a request id', () => {
    assertEnvelope(atApi, 500, 'UNHANDLED')
    assertEnvelope(atLogin, 500, 'UNHANDLED')
    assert.equal(onPage.status, 500)
    assert.match(onPage.headers['content-type'] ?? '', /^text\/html/)
    assert.ok(onPage.text.includes(String(onPage.headers['x-request-id'])))
    for (const { text } of [atApi, atLogin, onPage]) {
      assert.doesNotMatch(
        text,
        /identities|authenticators|select \*|sqlite|planted|\.ts\b|node_modules/i,
      )
      assert.doesNotMatch(text, /\bat \w+ \(|no such table/)
    }
    // D-39: errors included.
    assert.match(String(atApi.headers['expiration-seconds']), /^\d+$/)
  })

  await t.test('the operator finds the reason by that id', () => {
    for (const { headers } of [atApi, atLogin, onPage]) {
      const id = headers['x-request-id']
      const line = service.log.find((one) => one.requestId === id && one.level === 50)
      assert.match(line?.err?.message ?? '', /no such table/)
    }
  })

  await t.test('and not the password', () => {
    assert.equal(JSON.stringify(service.log).includes(ADMIN.password), false)
  })

  await t.test('what does not need the lost data still answers', async () => {
    assert.equal((await service.call('/oidc/keys')).status, 200)
  })
})
