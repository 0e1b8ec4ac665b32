/** The requests of the current C SDK, replayed exactly: D-314, D-316. Its tokens, codes and refresh are its own words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import type { Reply } from '../../support/http-client.ts'
import { registerIdp } from '../../support/idp/jwt-login.ts'
import { PASSWORD, setUpApp, totpPolicy } from '../../support/login/authenticator-app.ts'
import { authorizeAsC, C_REDIRECT, codeForC, OPENZITI } from '../../support/login/openziti.ts'
import { administrateOpenZiti } from '../../support/login/openziti-administrator.ts'
import { type Service, startService } from '../../support/service.ts'

const INFO = {
  sdkInfo: { type: 'ziti-sdk-c', version: '1.9.9', revision: 'abc', branch: 'main', appId: 'test' },
  envInfo: {
    os: 'Linux',
    arch: 'x86_64',
    osRelease: '6',
    osVersion: '1',
    hostname: 'h',
    domain: '',
  },
}

test('the C SDK finds the provider, logs in with a certificate, calls and refreshes', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const leaf = await openssl.makeLeaf(ca)
  await admin.createIdentity({ name: 'tunneler', certPem: leaf.pem })
  const tunneler = presenting(service, leaf)

  const version = (await service.call('/version')).json().data
  assert.ok(version.capabilities.includes('OIDC_AUTH'))
  assert.equal(version.apiVersions.edge.v1.path, '/edge/client/v1')
  const [base = ''] = version.apiVersions['edge-oidc'].v1.apiBaseUrls
  const { pathname } = new URL(`${base}/.well-known/openid-configuration`)
  const discovery = (await service.call(pathname)).json()
  assert.equal(discovery.authorization_endpoint, `${service.baseUrl}/oidc/authorize`)
  assert.equal(discovery.token_endpoint, `${service.baseUrl}/oidc/oauth/token`)

  const begun = await authorizeAsC(tunneler)
  const login = await tunneler.call(`/oidc/login/cert?id=${begun.id}`, {
    headers: { accept: 'application/json' },
    json: INFO,
  })
  const { access_token, refresh_token, expires_in } = await tokensForC(tunneler, begun, login)
  assert.equal(expires_in, 1800)
  const own = await tunneler.call('/edge/client/v1/current-identity', {
    headers: { authorization: `Bearer ${access_token}` },
  })
  assert.equal(own.json().data.type.id, 'Default')

  const refreshed = await tunneler.call('/oidc/oauth/token', {
    headers: { authorization: `Basic ${Buffer.from('openziti:').toString('base64url')}` },
    form: [
      ['client_id', 'openziti'],
      ['grant_type', 'refresh_token'],
      ['refresh_token', refresh_token],
    ],
  })
  assert.equal(refreshed.status, 200, refreshed.text)
  assert.notEqual(refreshed.json().refresh_token, refresh_token)
})

test('the C SDK logs in with an external JWT, and answers the query for a TOTP code', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
  await admin.createIdentity({ name: 'carla', externalId: 'carla@example.org' })
  const authorization = `Bearer ${await idp.jwt('carla@example.org')}`
  const headers = { accept: 'application/json', authorization }

  await t.test('with the JWT alone', async () => {
    const begun = await authorizeAsC(service)
    const login = await service.call(`/oidc/login/ext-jwt?id=${begun.id}`, { headers, json: INFO })
    const { access_token } = await tokensForC(service, begun, login)
    assert.equal(await nameOf(service, { authorization: `Bearer ${access_token}` }), 'carla')
  })

  await t.test('with a TOTP code after it, of which the first is wrong', async () => {
    const policy = await totpPolicy(admin)
    const zoe = { name: 'zoe', password: PASSWORD, externalId: 'zoe@example.org', policy }
    const { app } = await setUpApp(service, await admin.createIdentity(zoe))
    const begun = await authorizeAsC(service)
    const json = { accept: 'application/json' }
    const login = await service.call(`/oidc/login/ext-jwt?id=${begun.id}`, {
      headers: { ...json, authorization: `Bearer ${await idp.jwt('zoe@example.org')}` },
      json: INFO,
    })
    assert.equal(login.status, 200, login.text)
    assert.equal(login.headers['totp-required'], 'true')
    const [query] = login.json().authQueries
    assert.deepEqual([query.typeId, query.provider], ['TOTP', 'ziti'])
    const answer = (code: string) => {
      const form = [
        ['id', begun.id],
        ['code', code],
      ] as const
      return service.call('/oidc/login/totp', { headers: json, form })
    }
    // Any 4xx makes it ask the user again.
    assert.equal((await answer(app.wrongCode())).status, 400)
    const { access_token } = await tokensForC(service, begun, await answer(app.nextCode()))
    assert.equal(await nameOf(service, { authorization: `Bearer ${access_token}` }), 'zoe')
  })
})

test('the C SDK answers the query for a second JWT', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const leaf = await openssl.makeLeaf(ca)
  const idp = await registerIdp(t, service, admin, { issuer: 'https://idp.example/' })
  const policy = await admin.createPolicy({ secondary: { requireExtJwt: idp.id } })
  const dora = { name: 'dora', certPem: leaf.pem, externalId: 'dora@example.org', policy }
  await admin.createIdentity(dora)
  const tunneler = presenting(service, leaf)
  const begun = await authorizeAsC(tunneler)
  const headers = { accept: 'application/json' }
  const login = await tunneler.call(`/oidc/login/cert?id=${begun.id}`, { headers, json: INFO })
  // It reads the queries whatever the status is.
  const [query] = login.json().authQueries
  assert.deepEqual([query.typeId, query.id], ['EXT-JWT', idp.id])
  const second = `Bearer ${await idp.jwt('dora@example.org')}`
  const answered = await tunneler.call('/oidc/login/ext-jwt', {
    headers: { ...headers, authorization: second },
    form: [['id', begun.id]],
  })
  const { access_token } = await tokensForC(tunneler, begun, answered)
  const own = { authorization: `Bearer ${access_token}, ${second}` }
  assert.equal(await nameOf(tunneler, own), 'dora')
})

async function nameOf(service: Pick<Service, 'call'>, headers: Readonly<Record<string, string>>) {
  const reply = await service.call('/edge/client/v1/current-identity', { headers })
  assert.equal(reply.status, 200, reply.text)
  return reply.json().data.name
}

/** From the redirect of the last step to the tokens. */
async function tokensForC(
  service: Pick<Service, 'baseUrl' | 'call'>,
  { verifier, state }: { readonly verifier: string; readonly state: string },
  login: Reply,
) {
  const code = await codeForC(service, login)
  const form = [
    ['state', state],
    ['code', code],
    ['grant_type', 'authorization_code'],
    ['code_verifier', verifier],
    ['client_id', 'openziti'],
    ['redirect_uri', C_REDIRECT],
  ] as const
  const tokens = await service.call('/oidc/oauth/token', { form })
  assert.equal(tokens.status, 200, tokens.text)
  return tokens.json()
}

test('the callback of a login works for a minute and for nothing else', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const { id } = await authorizeAsC(service)
  const json = { id, username: 'admin', password: 'correct horse battery' }
  const login = await service.call('/oidc/login/username', { json })
  const { pathname, search } = new URL(login.headers.location ?? '')
  assert.equal((await service.call(`${pathname}${search}`)).status, 302)
  for (const wrong of [`?id=${id}`, `${search}x`, '?id=', `${search}&id=x`, '']) {
    const reply = await service.call(`${pathname}${wrong}`)
    assert.equal(reply.status, 400, wrong)
    assert.equal(reply.headers.location, undefined)
  }
  service.clock.advance(61_000 as never)
  assert.equal((await service.call(`${pathname}${search}`)).status, 400)
})
