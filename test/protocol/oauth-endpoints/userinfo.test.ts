/** /oidc/userinfo: who the holder of an access token is. D-29, D-33; OIDC Core §5.3. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { minutes } from '../../../src/base/time/duration.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { EXPIRED, INVALID, MISSING } from '../../support/login/challenges.ts'
import { bearer } from '../../support/login/login.ts'
import { assertOauthError, logInOffline } from '../../support/login/refresh.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

const URL = '/oidc/userinfo'
const APP = 'https://app.example.com'

function assertRefused(reply: Reply, challenge: string): void {
  assert.equal(reply.status, 401, reply.text)
  assert.deepEqual(Object.keys(reply.json()), ['error', 'error_description', 'code', 'next'])
  assert.equal(reply.headers['www-authenticate'], challenge)
}

test('userinfo', async (t) => {
  const service = await startService(t, { config: { edge: { api: { corsOrigins: [APP] } } } })
  const admin = await administrate(service)
  const { access_token, id_token, refresh_token } = await logInOffline(service)

  await t.test('says by GET and by POST who somebody is', async () => {
    const { headers } = bearer(access_token)
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const ways: readonly CallOptions[] = [
      { headers },
      { headers, method: 'POST' },
      { headers: { ...headers, ...form }, method: 'POST', body: '' },
      { headers, method: 'POST', form: [['anything', 'x']] },
    ]
    for (const way of ways) {
      const reply = await service.call(URL, way)
      assert.equal(reply.status, 200, reply.text)
      assert.match(reply.headers['content-type'] ?? '', /^application\/json/)
      assert.equal(reply.headers['cache-control'], 'no-store')
      assert.deepEqual(reply.json(), {
        sub: decodeJwt(id_token).sub,
        name: 'admin',
        preferred_username: ADMIN.username,
        is_admin: true,
      })
    }
  })

  await t.test('D-29: has the external id where there is one', async () => {
    const password = 'a perfectly fine password'
    const identity = await admin.createIdentity({ password, username: 'Zoe', externalId: 'zoe@x' })
    const tokens = await logInAs(service, identity)
    const reply = await service.call(URL, bearer(tokens.access_token))
    assert.deepEqual(reply.json(), {
      sub: identity.id,
      name: identity.name,
      preferred_username: 'Zoe',
      external_id: 'zoe@x',
      is_admin: false,
    })
  })

  await t.test('D-39: tells when the session of the call ends', async () => {
    const reply = await service.call(URL, bearer(access_token))
    const { exp } = decodeJwt(access_token)
    const end = new Date(Number(exp) * 1_000).toISOString()
    assert.equal(reply.headers['expires-at'], end)
    assert.match(String(reply.headers['expiration-seconds']), /^1[78]\d\d$/)
  })

  await t.test('R064, R065: without a good access token says which challenge fits', async () => {
    for (const method of ['GET', 'POST']) {
      assertRefused(await service.call(URL, { method }), MISSING)
      for (const token of [id_token, refresh_token, 'x', '', `${access_token}x`]) {
        assertRefused(await service.call(URL, { method, ...bearer(token) }), INVALID)
      }
    }
  })

  await t.test('R067: reads no token in the query or in the form', async () => {
    assertRefused(await service.call(`${URL}?access_token=${access_token}`), MISSING)
    const inForm = await service.call(URL, { form: [['access_token', access_token]] })
    assertRefused(inForm, MISSING)
  })

  await t.test('D-29: a zt-session is not an access token', async () => {
    const login = await service.call('/edge/client/v1/authenticate?method=password', {
      json: ADMIN,
    })
    assert.equal(login.status, 200, login.text)
    const headers = { 'zt-session': String(login.headers['zt-session']) }
    assertRefused(await service.call(URL, { headers }), MISSING)
  })

  await t.test('R112: a page of a listed origin can read it, and no other', async () => {
    for (const [origin, allowed] of [
      [APP, APP],
      ['https://evil.example', undefined],
    ] as const) {
      for (const method of ['GET', 'POST']) {
        const preflight = await service.call(URL, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': method },
        })
        assert.equal(preflight.headers['access-control-allow-origin'], allowed)
        const { headers } = bearer(access_token)
        const reply = await service.call(URL, { method, headers: { ...headers, origin } })
        assert.equal(reply.headers['access-control-allow-origin'], allowed)
        const refused = await service.call(URL, { method, headers: { origin } })
        assert.equal(refused.status, 401)
        assert.equal(refused.headers['access-control-allow-origin'], allowed)
      }
    }
  })

  await t.test('D-28: any other method is 405', async () => {
    for (const method of ['PUT', 'DELETE', 'PATCH']) {
      const reply = await service.call(URL, { method, ...bearer(access_token) })
      assertOauthError(reply, 405, 'invalid_request')
      assert.equal(reply.headers.allow, 'GET, HEAD, POST')
    }
  })

  await t.test('an identity that is gone gets the answer of an ended session', async () => {
    const identity = await admin.createIdentity({ password: 'a perfectly fine password' })
    const tokens = await logInAs(service, identity)
    await admin.act('DELETE', `/identities/${identity.id}`)
    assertRefused(await service.call(URL, bearer(tokens.access_token)), INVALID)
  })

  await t.test('an expired token is called expired', async () => {
    service.clock.advance(minutes(31))
    assertRefused(await service.call(URL, bearer(access_token)), EXPIRED)
  })
})
