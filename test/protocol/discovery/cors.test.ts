/**
 * Which other origins' scripts may read an answer: D-33, R112. Discovery and keys: all. Token and the APIs: those in
 * `edge.api.corsOrigins`. Everything else: none.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reply } from '../../support/http-client.ts'
import { bearer, beginLogin, logIn } from '../../support/login/login.ts'
import { startService } from '../../support/service.ts'

const LISTED = 'https://console.example.com'
const OPEN = [
  '/.well-known/openid-configuration',
  '/oidc/.well-known/openid-configuration',
  '/.well-known/openid-configuration/oidc',
  '/.well-known/oauth-authorization-server/oidc',
  '/oidc/keys',
]
const FOR_LISTED = [
  ['POST', '/oidc/token'],
  ['POST', '/edge/client/v1/authenticate'],
  ['GET', '/edge/client/v1/current-api-session'],
  ['GET', '/edge/client/v1/current-identity'],
  ['GET', '/edge/management/v1/current-api-session'],
  ['GET', '/edge/management/v1/current-identity'],
  ['GET', '/version'],
] as const
const FOR_NOBODY = [
  '/oidc/authorization',
  '/oidc/login/username',
  '/oidc/login/password',
  '/oidc/login/cert',
  '/oidc/login/ext-jwt',
  '/oidc/login/totp',
  '/oidc/login/totp/enroll',
]

/** What a script needs to read besides the body. */
const EXPOSED = [
  'auth-request-id',
  'expiration-seconds',
  'expires-at',
  'retry-after',
  'totp-required',
  'www-authenticate',
  'x-request-id',
  'zt-session',
]

/** Origins that are not the listed one, however much they look like it. */
const STRANGERS = [
  'https://evil.example',
  'http://console.example.com',
  'https://console.example.com:8443',
  'https://console.example.com:443',
  'https://console.example.com.evil.example',
  'https://evilconsole.example.com',
  'https://x.console.example.com',
  'https://console.example.com/',
  'https://CONSOLE.example.com',
  'https://console.example.com, https://evil.example',
  'null',
  '*',
]

const allowOrigin = (reply: Reply) => reply.headers['access-control-allow-origin']
const preflight = (origin: string, method: string, headers = 'authorization, content-type') => ({
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': headers,
  },
})

test('CORS with one configured origin', async (t) => {
  const service = await startService(t, { config: { edge: { api: { corsOrigins: [LISTED] } } } })
  const { access_token: token } = await logIn(service)

  for (const path of OPEN) {
    await t.test(`${path} may be read by everybody`, async () => {
      for (const origin of [LISTED, ...STRANGERS, undefined]) {
        const headers = origin === undefined ? {} : { origin }
        assert.equal(allowOrigin(await service.call(path, { headers })), '*')
      }
      const reply = await service.call(path, preflight('https://anybody.example', 'GET'))
      assert.equal(reply.status, 204)
      assert.equal(allowOrigin(reply), '*')
      assert.match(reply.headers['access-control-allow-methods'] ?? '', /\bGET\b/)
      // R112: no credential ever goes with *.
      assert.doesNotMatch(
        reply.headers['access-control-allow-headers'] ?? '',
        /authorization|zt-session|\*/i,
      )
    })
  }

  for (const [method, path] of FOR_LISTED) {
    await t.test(`${path} may be read by the configured origin alone`, async () => {
      const call = (origin: string) =>
        service.call(path, {
          method,
          headers: { origin, ...bearer(token).headers },
          ...(method === 'POST' ? { form: [] } : {}),
        })
      const reply = await call(LISTED)
      assert.equal(allowOrigin(reply), LISTED)
      assert.match(reply.headers.vary ?? '', /\bOrigin\b/i)
      const exposed = reply.headers['access-control-expose-headers'] ?? ''
      for (const name of EXPOSED) {
        assert.ok(exposed.split(', ').includes(name), name)
      }
      for (const stranger of STRANGERS) {
        const refused = await call(stranger)
        assert.equal(refused.status, reply.status)
        assert.equal(allowOrigin(refused), undefined, stranger)
        assert.match(refused.headers.vary ?? '', /\bOrigin\b/i)
      }
    })

    await t.test(`a preflight of ${path} says the same`, async () => {
      const reply = await service.call(path, preflight(LISTED, method))
      assert.equal(reply.status, 204)
      assert.equal(reply.text, '')
      assert.equal(allowOrigin(reply), LISTED)
      assert.match(reply.headers.vary ?? '', /\bOrigin\b/i)
      assert.ok(reply.headers['access-control-allow-methods']?.split(', ').includes(method))
      assert.equal(
        reply.headers['access-control-allow-headers'],
        'authorization, content-type, dpop, mfa-validation-code, zt-session',
      )
      assert.match(reply.headers['access-control-max-age'] ?? '', /^\d+$/)
      for (const stranger of STRANGERS) {
        const refused = await service.call(path, preflight(stranger, method))
        assert.equal(refused.status, 204)
        for (const name of Object.keys(refused.headers)) {
          assert.doesNotMatch(name, /^access-control-/, stranger)
        }
      }
    })
  }

  await t.test('a page of the configured origin can read why it was refused', async () => {
    const calls = FOR_LISTED.filter(([, path]) => path.startsWith('/edge'))
    for (const [method, path] of calls) {
      const headers = { origin: LISTED }
      const reply = await service.call(path, { method, headers })
      assert.equal(reply.status, 401)
      const code = path.endsWith('/authenticate') ? 'INVALID_AUTH' : 'UNAUTHORIZED'
      assert.equal(reply.json().error.code, code)
      assert.equal(allowOrigin(reply), LISTED)
    }
  })

  for (const path of FOR_NOBODY) {
    await t.test(`${path} may be read by nobody`, async () => {
      const { authRequestId } = await beginLogin(service)
      for (const origin of [LISTED, 'null', 'https://evil.example']) {
        const replies = [
          await service.call(`${path}?authRequestID=${authRequestId}`, { headers: { origin } }),
          await service.call(path, { headers: { origin }, form: [['authRequestId', 'x']] }),
        ]
        for (const reply of replies) assert.equal(allowOrigin(reply), undefined)
        const asked = await service.call(path, preflight(origin, 'POST', 'content-type'))
        assert.equal(asked.status, 405)
        assert.equal(allowOrigin(asked), undefined)
      }
    })
  }

  await t.test('nothing allows cookies from other origins', async () => {
    const paths = [...OPEN, ...FOR_LISTED.map(([, path]) => path), ...FOR_NOBODY]
    for (const path of paths) {
      for (const options of [{ headers: { origin: LISTED } }, preflight(LISTED, 'GET')]) {
        const { headers } = await service.call(path, options)
        assert.equal(headers['access-control-allow-credentials'], undefined)
      }
    }
  })
})

test('CORS without configured origins: only discovery and keys', async (t) => {
  const service = await startService(t)
  for (const origin of [LISTED, 'null', service.baseUrl]) {
    for (const [method, path] of FOR_LISTED) {
      const headers = { origin }
      const reply = await service.call(path, {
        method,
        headers,
        ...(method === 'POST' ? { form: [] } : {}),
      })
      assert.equal(allowOrigin(reply), undefined, path)
      assert.equal(allowOrigin(await service.call(path, preflight(origin, method))), undefined)
    }
    for (const path of OPEN) {
      assert.equal(allowOrigin(await service.call(path, { headers: { origin } })), '*')
    }
  }
})
