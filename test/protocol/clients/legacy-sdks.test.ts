/**
 * The requests of SDKs that log in with `/authenticate`, replayed: the C SDK of tunnelers that know no OIDC, and the JVM
 * SDK. What they compare, dereference and decide by is in their sources: D-310, D-318, D-473, D-474.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { presenting, registerCa } from '../../support/certificates/certificate-login.ts'
import { makeCsr, runOpenssl } from '../../support/certificates/csr.ts'
import { enrolledCertificate, inviteNew } from '../../support/certificates/enrollment.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { authenticatorApp, PASSWORD, totpPolicy } from '../../support/login/authenticator-app.ts'
import { legacyToken, ztSession } from '../../support/login/legacy.ts'
import { bearer } from '../../support/login/login.ts'
import { authorizeAsC, codeForC, logInAsGo, OPENZITI } from '../../support/login/openziti.ts'
import { administrateOpenZiti } from '../../support/login/openziti-administrator.ts'
import { startService } from '../../support/service.ts'

const CLIENT = '/edge/client/v1'
/** It sends the type with every request, also with those that have no body. */
const EMPTY = { 'content-type': 'application/json', accept: 'application/json' }

test('a session names the TOTP query as SDKs without OIDC compare it, and a login as those with OIDC do', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const policy = await totpPolicy(admin)
  await admin.createIdentity({ name: 'zoe', password: PASSWORD, policy })
  const json = { username: 'zoe', password: PASSWORD }
  const words = ([query]: [{ typeId: string; provider: string }]) => [query.typeId, query.provider]

  for (const path of ['/authenticate', `${CLIENT}/authenticate`]) {
    const begun = await service.call(`${path}?method=password`, { json })
    assert.deepEqual(words(begun.json().data.authQueries), ['MFA', 'ziti'], path)
    const headers = { 'zt-session': begun.json().data.token }
    const read = await service.call(`${CLIENT}/current-api-session`, { headers })
    assert.deepEqual(words(read.json().data.authQueries), ['MFA', 'ziti'])
    const refused = await service.call(`${CLIENT}/current-identity`, { headers })
    assert.equal(refused.status, 401)
    assert.deepEqual(words(refused.json().authQueries), ['MFA', 'ziti'])
  }
  const sessions = (await admin.get('/api-sessions')).filter(
    ({ isMfaComplete }: { isMfaComplete: boolean }) => !isMfaComplete,
  )
  assert.deepEqual(words(sessions[0].authQueries), ['MFA', 'ziti'])

  const { id } = await authorizeAsC(service)
  const login = await service.call('/oidc/login/username', { json: { id, ...json } })
  assert.deepEqual(words(login.json().authQueries), ['TOTP', 'ziti'])
})

test('D-310: a legacy session reads its own token back, and a bearer token is not echoed', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const token = await legacyToken(service)
  const { access_token } = await logInAsGo(service)
  for (const api of [CLIENT, '/edge/management/v1']) {
    const legacy = await service.call(`${api}/current-api-session`, ztSession(token))
    assert.equal(legacy.json().data.token, token)
    const oidc = await service.call(`${api}/current-api-session`, bearer(access_token))
    assert.equal(oidc.status, 200, oidc.text)
    assert.equal('token' in oidc.json().data, false)
    const both = await service.call(`${api}/current-api-session`, {
      headers: { ...bearer(access_token).headers, 'zt-session': token },
    })
    assert.equal(both.json().data.token, token, 'never the bearer token')
  }
  const admin = await administrateOpenZiti(service)
  const sessions = JSON.stringify(await admin.get('/api-sessions'))
  assert.equal(sessions.includes(token), false, 'administrators see no token')
})

test('a tunneler sets up TOTP: it reads the enrollment back, with a list of recovery codes', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const { access_token } = await logInAsGo(service)
  const headers = { ...EMPTY, authorization: `Bearer ${access_token}` }
  for (const api of [CLIENT, '/edge/management/v1']) {
    const mfa = `${api}/current-identity/mfa`
    assert.equal((await service.call(mfa, { headers })).status, 404)
    assert.equal((await service.call(mfa, { method: 'POST', headers })).status, 201)
    const { data } = (await service.call(mfa, { headers })).json()
    // It walks the list without looking whether there is one. The codes themselves are shown once (API 3.1).
    assert.deepEqual(data.recoveryCodes, [])
    const app = authenticatorApp(data.provisioningUrl, service.clock)
    const code = app.nextCode()
    const verified = await service.call(`${mfa}/verify`, { headers, json: { code } })
    assert.equal(verified.status, 200, verified.text)
    assert.deepEqual((await service.call(mfa, { headers })).json().data.recoveryCodes, [])

    const proof = { ...headers, 'mfa-validation-code': app.nextCode() }
    const codes = await service.call(`${mfa}/recovery-codes`, { headers: proof })
    assert.deepEqual(codes.json().data, { left: 20, recoveryCodes: [] })
    const fresh = await service.call(`${mfa}/recovery-codes`, {
      headers,
      json: { code: app.nextCode() },
    })
    assert.equal(fresh.json().data.recoveryCodes.length, 20)
    const last = { ...headers, 'mfa-validation-code': app.nextCode() }
    assert.equal((await service.call(mfa, { method: 'DELETE', headers: last })).status, 200)
  }
})

test('a session says whether its certificate can be renewed, without which the C SDK never renews it', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  await registerCa(admin, openssl, ca)
  const foreign = await openssl.makeLeaf(ca)
  await admin.createIdentity({ name: 'foreign', certPem: foreign.pem })
  const { token, identityId } = await inviteNew(admin, { ott: true })
  const enrolled = await enrolledCertificate(service, token)
  const begin = (at: typeof service, path: string) =>
    at.call(path, { headers: EMPTY, json: { configTypes: ['all'] } })

  for (const [certificate, isExtendable] of [
    [enrolled, true],
    [foreign, false],
  ] as const) {
    const tunneler = presenting(service, certificate)
    for (const path of ['/authenticate?method=cert', `${CLIENT}/authenticate?method=cert`]) {
      const begun = (await begin(tunneler, path)).json().data
      assert.equal(begun.isCertExtendable, isExtendable, path)
      const headers = { ...EMPTY, 'zt-session': begun.token }
      const read = await tunneler.call(`${CLIENT}/current-api-session`, { headers })
      assert.equal(read.json().data.isCertExtendable, isExtendable)
    }
  }
  const oidc = await service.call(`${CLIENT}/current-api-session`, {
    headers: { authorization: `Bearer ${admin.token}` },
  })
  assert.equal(oidc.json().data.isCertExtendable, false, 'it began with a password')

  await t.test('it renews with the key that it has', async () => {
    const tunneler = presenting(service, enrolled)
    const session = (await begin(tunneler, '/authenticate?method=cert')).json().data
    const subject = `/O=OpenZiti/DC=${'https:\\/\\/localhost:1280'}/CN=${identityId}`
    const request = ['req', '-new', '-key', 'key', '-subj', subject, '-out', 'out']
    const { out: clientCertCsr } = await runOpenssl(request, { key: enrolled.keyPem })
    const path = `${CLIENT}/current-identity/authenticators/${session.authenticatorId}`
    const headers = { ...EMPTY, 'zt-session': session.token }
    const extended = await tunneler.call(`${path}/extend`, { headers, json: { clientCertCsr } })
    assert.equal(extended.status, 200, extended.text)
    const { clientCert } = extended.json().data
    const verified = await tunneler.call(`${path}/extend-verify`, { headers, json: { clientCert } })
    assert.equal(verified.status, 200, verified.text)
    const renewed = presenting(service, { ...enrolled, pem: clientCert })
    assert.equal((await begin(renewed, '/authenticate?method=cert')).status, 200)
  })
})

test('a session says when it was last used, by which the C SDK corrects its clock', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  await admin.createIdentity({ name: 'zoe', password: PASSWORD })
  const json = { username: 'zoe', password: PASSWORD }
  const begun = (await service.call('/authenticate?method=password', { json })).json().data
  // At ten seconds it reports that the clock is wrong.
  const offBy = (at: string) => Math.abs(Date.parse(at) - service.clock.now())
  assert.ok(offBy(begun.cachedLastActivityAt) < 10_000)
  service.clock.advance(100_000 as never)
  const headers = { 'zt-session': begun.token }
  const read = (await service.call(`${CLIENT}/current-api-session`, { headers })).json().data
  assert.ok(offBy(read.cachedLastActivityAt) < 10_000)
})

test('the JVM SDK posts to the address that the login begins at, with its certificate and without a body', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const { token } = await inviteNew(admin, { ott: true })
  const csr = await makeCsr()
  // Unprefixed, as text, with the Accept of its platform.
  const enrolled = await service.call(`/enroll?method=ott&token=${token}`, {
    headers: { 'content-type': 'text/plain', accept: 'application/json' },
    body: csr.pem,
  })
  assert.equal(enrolled.headers['content-type'], 'application/json')
  const certificate = { ...csr, pem: enrolled.json().data.cert }
  const jvm = presenting(service, certificate as never)
  const headers = { accept: 'application/json' }
  const verifier = randomBytes(40).toString('base64url')
  const state = randomBytes(30).toString('base64url')
  const redirect = 'http://localhost:8080/auth/callback'
  const begun = await jvm.call('/oidc/authorize', {
    headers,
    form: Object.entries({
      response_type: 'code',
      client_id: 'openziti',
      redirect_uri: redirect,
      scope: 'openid offline_access',
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
  })
  const login = await jvm.call(begun.headers.location ?? '', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(login.status, 302, login.text)
  const { pathname, search } = new URL(login.headers.location ?? '')
  const sent = await jvm.call(`${pathname}${search}`, { headers })
  const answer = new URL(sent.headers.location ?? '').searchParams
  assert.equal(answer.get('state'), state)
  const tokens = await jvm.call('/oidc/oauth/token', {
    headers,
    form: Object.entries({
      grant_type: 'authorization_code',
      code: answer.get('code') ?? '',
      client_id: 'openziti',
      redirect_uri: redirect,
      code_verifier: verifier,
    }),
  })
  assert.equal(tokens.status, 200, tokens.text)
})

test('a C SDK that reads token exchange in the discovery document refreshes by it', async (t) => {
  const service = await startService(t, { config: OPENZITI })
  const admin = await administrateOpenZiti(service)
  const { token } = await inviteNew(admin, { ott: true })
  const tunneler = presenting(service, await enrolledCertificate(service, token))
  const begun = await authorizeAsC(tunneler)
  const login = await tunneler.call('/oidc/login/cert', { form: [['id', begun.id]] })
  const form = {
    state: begun.state,
    code: await codeForC(tunneler, login),
    grant_type: 'authorization_code',
    code_verifier: begun.verifier,
    client_id: 'openziti',
    redirect_uri: 'http://localhost:20314/auth/callback',
  }
  const tokens = await tunneler.call('/oidc/oauth/token', { form: Object.entries(form) })
  const grant = 'urn:ietf:params:oauth:grant-type:token-exchange'
  const { grant_types_supported: grants } = (
    await tunneler.call('/oidc/.well-known/openid-configuration')
  ).json()
  assert.ok(grants.includes(grant))
  const type = 'urn:ietf:params:oauth:token-type:refresh_token'
  const refreshed = await tunneler.call('/oidc/oauth/token', {
    headers: { authorization: `Basic ${Buffer.from('openziti:').toString('base64')}` },
    form: Object.entries({
      grant_type: grant,
      requested_token_type: type,
      subject_token_type: type,
      subject_token: tokens.json().refresh_token,
    }),
  })
  assert.equal(refreshed.status, 200, refreshed.text)
  assert.ok(refreshed.json().access_token && refreshed.json().refresh_token)
})
