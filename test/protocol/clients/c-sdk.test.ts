/** The requests of the current C SDK, replayed exactly: D-314, D-316. Its tokens, codes and refresh are its own words. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { authorizeAsC, C_REDIRECT, codeForC, OPENZITI } from '../../support/login/openziti.ts'
import { administrateOpenZiti } from '../../support/login/openziti-administrator.ts'
import { startService } from '../../support/service.ts'

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

  const { id, verifier, state } = await authorizeAsC(tunneler)
  const login = await tunneler.call(`/oidc/login/cert?id=${id}`, {
    headers: { accept: 'application/json' },
    json: INFO,
  })
  const code = await codeForC(tunneler, login)
  const form = [
    ['state', state],
    ['code', code],
    ['grant_type', 'authorization_code'],
    ['code_verifier', verifier],
    ['client_id', 'openziti'],
    ['redirect_uri', C_REDIRECT],
  ] as const
  const tokens = await tunneler.call('/oidc/oauth/token', { form })
  assert.equal(tokens.status, 200, tokens.text)
  const { access_token, refresh_token, expires_in } = tokens.json()
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
