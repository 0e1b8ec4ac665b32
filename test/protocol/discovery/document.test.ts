/**
 * SPEC Discovery, D-3: one document at four addresses, and it promises nothing that does not work.
 * OIDC Discovery §3, RFC 8414 §2.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAnswer } from '../../support/client/client-answer.ts'
import {
  authorizationParameters,
  authorize,
  bearer,
  exchange,
  logIn,
  pkce,
} from '../../support/login/login.ts'
import { serviceAt, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const ADDRESSES = [
  '/.well-known/openid-configuration',
  '/oidc/.well-known/openid-configuration',
  '/.well-known/openid-configuration/oidc',
  '/.well-known/oauth-authorization-server/oidc',
]

/** D-3: what clients of such controllers look for. */
const LOGIN_ENDPOINTS = [
  ['password', '/oidc/login/username'],
  ['cert', '/oidc/login/cert'],
  ['ext_jwt', '/oidc/login/ext-jwt'],
  ['totp', '/oidc/login/totp'],
  ['totp_enroll', '/oidc/login/totp/enroll'],
  ['totp_enroll_verify', '/oidc/login/totp/enroll/verify'],
  ['auth_queries', '/oidc/login/auth-queries'],
] as const

const partOf = (jwt: string, part: number) =>
  JSON.parse(Buffer.from(jwt.split('.')[part] ?? '', 'base64url').toString())

test('the discovery document', async (t) => {
  const service = await startService(t)
  const document = (await service.call('/.well-known/openid-configuration')).json()

  await t.test('is byte for byte the same at its four addresses', async () => {
    const replies = await Promise.all(ADDRESSES.map((path) => service.call(path)))
    for (const reply of replies) {
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['content-type'], 'application/json')
      assert.equal(reply.text, replies[0]?.text)
    }
  })

  await t.test('answers HEAD with the same headers and no body', async () => {
    const reply = await service.call(ADDRESSES[0] ?? '', { method: 'HEAD' })
    assert.equal(reply.status, 200)
    assert.equal(reply.text, '')
    assert.equal(Number(reply.headers['content-length']), JSON.stringify(document).length)
  })

  await t.test('says what SPEC and D-3 say', () => {
    const { baseUrl } = service
    assert.equal(document.issuer, `${baseUrl}/oidc`)
    assert.equal(document.authorization_endpoint, `${baseUrl}/oidc/authorization`)
    assert.equal(document.token_endpoint, `${baseUrl}/oidc/token`)
    assert.equal(document.jwks_uri, `${baseUrl}/oidc/keys`)
    assert.equal(document.userinfo_endpoint, `${baseUrl}/oidc/userinfo`)
    assert.equal(document.end_session_endpoint, `${baseUrl}/oidc/end_session`)
    assert.deepEqual(document.response_types_supported, ['code'])
    assert.deepEqual(document.response_modes_supported, ['query', 'form_post'])
    assert.deepEqual(document.grant_types_supported, [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ])
    assert.deepEqual(document.subject_types_supported, ['public'])
    assert.deepEqual(document.token_endpoint_auth_methods_supported, ['none'])
    assert.deepEqual(document.code_challenge_methods_supported, ['S256'])
    assert.equal(document.authorization_response_iss_parameter_supported, true)
    assert.equal(document.request_parameter_supported, false)
    assert.equal(document.request_uri_parameter_supported, false)
    assert.deepEqual(
      document.service_endpoints,
      Object.fromEntries(LOGIN_ENDPOINTS.map(([name, path]) => [name, `${baseUrl}${path}`])),
    )
  })

  await t.test('names no address that is not there', async () => {
    const urls = [...Object.values(document), ...Object.values(document.service_endpoints)].filter(
      (value): value is string => typeof value === 'string' && value !== document.issuer,
    )
    assert.ok(urls.length >= 3 + LOGIN_ENDPOINTS.length)
    for (const url of urls) {
      const { status, text } = await service.client.call(url, { method: 'POST', form: [] })
      assert.notEqual(status, 404, `${url}: ${text}`)
    }
  })

  await t.test(
    'lists the scopes that are granted, the algorithm that signs and the claims',
    async () => {
      const { scopes_supported: scopes } = document
      const tokens = await logIn(service, { scope: scopes.join(' '), nonce: 'a-nonce' })
      assert.equal((tokens as unknown as { scope: string }).scope, scopes.join(' '))
      const { alg } = partOf(tokens.id_token, 0)
      assert.deepEqual(document.id_token_signing_alg_values_supported, [alg])
      // Those of the ID token, and those that userinfo adds.
      await sql(service, "update identities set external_id = 'zoe@example.org'")
      const userinfo = await service.call('/oidc/userinfo', bearer(tokens.access_token))
      assert.equal(userinfo.status, 200, userinfo.text)
      const claims = new Set([
        ...Object.keys(partOf(tokens.id_token, 1)),
        ...Object.keys(userinfo.json()),
      ])
      assert.deepEqual([...document.claims_supported].sort(), [...claims].sort())
    },
  )

  await t.test('lists the grants that exist, and no others exist', async () => {
    for (const grant of document.grant_types_supported) {
      const reply = await exchange(service, { grant_type: grant })
      assert.notEqual(reply.json().error, 'unsupported_grant_type', grant)
    }
    const others = ['password', 'client_credentials', 'implicit', 'refresh_token'].filter(
      (grant) => !document.grant_types_supported.includes(grant),
    )
    for (const grant of others) {
      const reply = await exchange(service, { grant_type: grant })
      assert.equal(reply.status, 400)
      assert.equal(reply.json().error, 'unsupported_grant_type', grant)
    }
  })

  await t.test('lists the response modes that exist', async () => {
    const { challenge } = pkce()
    for (const responseMode of document.response_modes_supported) {
      const changes = { response_mode: responseMode, prompt: 'none' }
      const reply = await authorize(service, authorizationParameters(challenge, changes))
      assert.equal(clientAnswer(reply).mode, responseMode)
    }
  })

  await t.test('may be kept for a while, unlike answers with credentials', async () => {
    const { headers } = await service.call(ADDRESSES[0] ?? '')
    assert.match(headers['cache-control'] ?? '', /^public, max-age=\d+$/)
  })

  await t.test('differs from bind point to bind point in nothing but the address', async () => {
    const baseUrls = service.instance.listeners[0]?.baseUrls ?? []
    const { port } = new URL(service.baseUrl)
    assert.deepEqual(
      baseUrls,
      ['localhost', '127.0.0.1', '[::1]'].map((host) => `https://${host}:${port}`),
    )
    const here = JSON.stringify(document)
    for (const baseUrl of baseUrls) {
      for (const path of ADDRESSES) {
        const { text } = await serviceAt(service, baseUrl).call(path)
        assert.equal(JSON.parse(text).issuer, `${baseUrl}/oidc`)
        assert.equal(text, here.replaceAll(service.baseUrl, baseUrl))
      }
    }
  })
})

test('another brand renames the member with the login endpoints (D-1)', async (t) => {
  const service = await startService(t, { config: { edge: { brand: 'acme' } } })
  const document = (await service.call('/.well-known/openid-configuration')).json()
  assert.deepEqual(
    Object.keys(document.acme_endpoints),
    LOGIN_ENDPOINTS.map(([name]) => name),
  )
  assert.equal('service_endpoints' in document, false)
})
