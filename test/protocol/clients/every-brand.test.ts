/**
 * What existing clients rely on and what is right for all clients, whatever the brand: D-307 to D-309, D-311, D-312.
 */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runOpenssl } from '../../support/certificates/csr.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { blocksOf } from '../../support/certificates/session-certificates.ts'
import { legacyToken, ztSession } from '../../support/login/legacy.ts'
import {
  authorizationParameters,
  authorize,
  beginLogin,
  pkce,
  submitPassword,
} from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { ADMIN, startService, temporaryFolder } from '../../support/service.ts'

const CLIENT = '/edge/client/v1'

test('D-307: every JSON answer has the content type application/json and nothing else', async (t) => {
  const service = await startService(t)
  const paths = [
    '/version',
    `${CLIENT}/current-identity`,
    '/oidc/keys',
    '/.well-known/openid-configuration',
    '/no-such-path',
  ]
  for (const path of paths) {
    const { headers } = await service.call(path)
    assert.equal(headers['content-type'], 'application/json', path)
  }
})

test('D-308: the code is the last parameter of the redirect', async (t) => {
  const service = await startService(t)
  // Attack on a client that takes everything after the first `code=`: a state that contains it.
  const { authRequestId } = await beginLogin(service, { state: 'a&code=b' })
  const { headers } = await submitPassword(service, authRequestId)
  const [, afterCode = ''] = (headers.location ?? '').split('code=')
  assert.match(afterCode, /^[\w-]{43}$/)
})

test('API 4.7: the token of a legacy session is in the answer of the login, and in no other', async (t) => {
  const service = await startService(t)
  const token = await legacyToken(service)
  for (const api of [CLIENT, '/edge/management/v1']) {
    const { status, text } = await service.call(`${api}/current-api-session`, ztSession(token))
    assert.equal(status, 200, text)
    assert.equal('token' in JSON.parse(text).data, false)
  }
  const sessions = await (await administrate(service)).call('GET', '/api-sessions')
  assert.equal(sessions.text.includes(token), false, 'administrators see no token')
})

test('D-309: null for an optional field means that the field is absent', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const signer = {
    name: 'a signer',
    issuer: 'https://idp.example',
    audience: 'latchkey',
    jwksEndpoint: 'https://127.0.0.1:1/keys',
  }
  const nulls = { scopes: null, certPem: null, kid: null, tags: null, targetToken: null }
  const id = await admin.create('/external-jwt-signers', { ...signer, ...nulls })
  assert.deepEqual((await admin.get(`/external-jwt-signers/${id}`)).scopes, [])
  await admin.act('PUT', `/external-jwt-signers/${id}`, { ...signer, ...nulls })

  const identity = { name: 'n', type: 'Default', isAdmin: false }
  const created = await admin.create('/identities', {
    ...identity,
    appData: null,
    roleAttributes: null,
    authPolicyId: null,
    enrollment: { ott: true, updb: null, ottca: null },
    tags: { kept: null },
  })
  const { authPolicyId, tags } = await admin.get(`/identities/${created}`)
  assert.deepEqual([authPolicyId, tags], ['default', { kept: null }], 'null in a map is a value')

  const required = await admin.call('POST', '/identities', { ...identity, name: null })
  assertRefused(required, 400, 'COULD_NOT_VALIDATE', 'name')
  const unknown = await admin.call('POST', '/identities', {
    ...identity,
    name: 'm',
    whatever: null,
  })
  assertRefused(unknown, 400, 'COULD_NOT_VALIDATE', 'whatever')
  const inList = await admin.call('POST', '/identities', {
    ...identity,
    name: 'o',
    roleAttributes: [null],
  })
  assertRefused(inList, 400, 'COULD_NOT_VALIDATE', 'roleAttributes.0')
})

test('D-309: the same in the bodies of logins', async (t) => {
  const service = await startService(t)
  const legacy = await service.call(`${CLIENT}/authenticate?method=password`, {
    json: { ...ADMIN, configTypes: null, envInfo: null, sdkInfo: null, refresh_token: null },
  })
  assert.equal(legacy.status, 200, legacy.text)
  const { authRequestId } = await beginLogin(service)
  const json = { id: null, authRequestId, ...ADMIN, configTypes: null }
  assert.equal((await service.call('/oidc/login/username', { json })).status, 302)
  const again = await beginLogin(service)
  const missing = await service.call('/oidc/login/username', {
    json: { authRequestId: again.authRequestId, username: ADMIN.username, password: null },
  })
  assertRefused(missing, 400, 'COULD_NOT_VALIDATE', 'password')
})

test('D-311: a POST may carry the authorization parameters in the query, but none of them twice', async (t) => {
  const service = await startService(t)
  const parameters = authorizationParameters(pkce().challenge)
  const begun = await authorize(service, parameters, { method: 'POST' })
  assert.equal(begun.status, 302, begun.text)
  assert.match(begun.headers.location ?? '', /^\/oidc\/login\/username\?authRequestID=/)

  const inBoth = [...parameters].filter(([name]) => name !== 'state')
  const mixed = await service.call('/oidc/authorization?state=s', { form: inBoth })
  assert.equal(mixed.status, 302, mixed.text)
  for (const name of ['client_id', 'redirect_uri', 'state', 'configTypes', 'whatever']) {
    // Attack: a filter in front reads one of the two, and the service the other one.
    const reply = await service.call(`/oidc/authorization?${name}=x`, {
      form: [...parameters, ...(parameters.has(name) ? [] : [[name, 'x'] as const])],
    })
    assert.equal(reply.status, 400, reply.text)
    assert.equal(reply.json().error, 'invalid_request')
    assert.equal(reply.headers.location, undefined)
  }
})

test('D-312: the CA bundle contains the CA of a configured server certificate', async (t) => {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  const extensions = ['subjectAltName=DNS:localhost', 'extendedKeyUsage=serverAuth']
  const server = await openssl.make({ issuer: ca, extensions })
  const home = await temporaryFolder(t)
  await mkdir(join(home, 'given'))
  await writeFile(join(home, 'given/server.pem'), server.pem)
  await writeFile(join(home, 'given/server.key'), server.keyPem, { mode: 0o600 })
  await writeFile(join(home, 'given/ca.pem'), ca.pem)
  const identity = { cert: 'given/server.pem', key: 'given/server.key', ca: 'given/ca.pem' }
  const service = await startService(t, { home, config: { identity } })

  const { text } = await service.call('/.well-known/est/cacerts')
  const message = `-----BEGIN PKCS7-----\n${text.replaceAll('\r', '')}-----END PKCS7-----\n`
  const printed = await runOpenssl(['pkcs7', '-print_certs', '-in', 'message'], { message })
  const blocks = blocksOf(printed.text)
  assert.equal(blocks.filter((block) => block === blocksOf(ca.pem)[0]).length, 1)
  assert.ok(blocks.length > 1, 'and those of our own PKI')
})
