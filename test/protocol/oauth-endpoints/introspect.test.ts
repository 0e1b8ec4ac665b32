/** /oidc/introspect: for administrators and routers; what is not active says nothing else. RFC 7662, D-31, D-38. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { hours, minutes } from '../../../src/base/time/duration.ts'
import type { Reply } from '../../support/http-client.ts'
import { INVALID, MISSING } from '../../support/login/challenges.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import {
  assertOauthError,
  logInOffline,
  post,
  refreshed,
  revoke,
} from '../../support/login/refresh.ts'
import { administrate, logInAs } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { thiefOf } from '../../support/signing.ts'

const PASSWORD = 'a perfectly fine password'
const INACTIVE = { active: false }

const ask = (service: Service, asker: string, token: string, more = {}) =>
  post(service, '/oidc/introspect', { token, ...more }, bearer(asker))

function told(reply: Reply): Record<string, unknown> {
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.headers['cache-control'], 'no-store')
  return reply.json()
}

test('introspection', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const [router, person] = await Promise.all([
    admin.createIdentity({ password: PASSWORD, type: 'Router' }),
    admin.createIdentity({ password: PASSWORD }),
  ])
  const routerToken = (await logInAs(service, router)).access_token
  const personToken = (await logInAs(service, person)).access_token
  const asker = admin.token

  await t.test('tells an administrator and a router what an access token carries', async () => {
    const { access_token } = await logInOffline(service, {}, person)
    const claims = decodeJwt(access_token)
    for (const token of [asker, routerToken]) {
      assert.deepEqual(told(await ask(service, token, access_token)), {
        active: true,
        token_type: 'Bearer',
        sub: person.id,
        sid: claims['z_asid'],
        client_id: 'service',
        iss: `${service.baseUrl}/oidc`,
        scope: 'openid offline_access',
        iat: claims.iat,
        exp: claims.exp,
        amr: ['pwd'],
        acr: 'urn:latchkey:acr:1fa',
        auth_time: claims['auth_time'],
      })
    }
  })

  await t.test('tells what a refresh token is good for, and until when', async () => {
    const { access_token, refresh_token } = await logInOffline(service, {}, person)
    const { z_asid, iat } = decodeJwt(access_token)
    const { iat: issued, exp, ...rest } = told(await ask(service, routerToken, refresh_token))
    assert.deepEqual(rest, {
      active: true,
      token_type: 'refresh_token',
      sub: person.id,
      sid: z_asid,
      client_id: 'service',
      iss: `${service.baseUrl}/oidc`,
      scope: 'openid offline_access',
    })
    assert.ok(Math.abs(Number(issued) - Number(iat)) <= 1)
    assert.equal(Number(exp) - Number(issued), 24 * 60 * 60)
  })

  await t.test('shows a narrowed access token with its own scope', async () => {
    const { refresh_token } = await logInOffline(service)
    const narrow = await refreshed(service, refresh_token, { scope: 'openid' })
    const access = told(await ask(service, asker, narrow.access_token))
    assert.equal(access['scope'], 'openid')
    const refresh = told(await ask(service, asker, narrow.refresh_token))
    assert.equal(refresh['scope'], 'openid offline_access')
  })

  await t.test('asking spends nothing', async () => {
    const { refresh_token } = await logInOffline(service)
    for (let i = 0; i < 3; i++) {
      assert.equal(told(await ask(service, asker, refresh_token))['active'], true)
    }
    await refreshed(service, refresh_token)
  })

  await t.test(
    'D-38: every other identity is authenticated but not allowed, whatever the token',
    async () => {
      const { access_token, refresh_token } = await logInOffline(service)
      for (const token of [access_token, refresh_token, personToken, 'anything']) {
        const reply = await ask(service, personToken, token)
        assertOauthError(reply, 403, 'insufficient_scope')
        assert.equal(reply.headers['www-authenticate'], undefined)
      }
    },
  )

  await t.test('R064: without a valid bearer token a caller learns nothing', async () => {
    const { access_token, refresh_token, id_token } = await logInOffline(service)
    const anonymous = await post(service, '/oidc/introspect', { token: access_token })
    assertOauthError(anonymous, 401, 'invalid_token')
    assert.equal(anonymous.headers['www-authenticate'], MISSING)
    for (const token of [id_token, refresh_token, 'x']) {
      const reply = await ask(service, token, access_token)
      assertOauthError(reply, 401, 'invalid_token')
      assert.equal(reply.headers['www-authenticate'], INVALID)
    }
    // RFC 7662 §2.1: the public client has nothing to authenticate with.
    const client = { token: access_token, client_id: 'service' }
    assertOauthError(await post(service, '/oidc/introspect', client), 401, 'invalid_token')
  })

  await t.test('RFC 7662 §2.2: what is over is inactive, and nothing more is said', async () => {
    const revoked = await logIn(service)
    await revoke(service, revoked.access_token)
    const ended = await logInOffline(service)
    await service.call(`/oidc/end_session?id_token_hint=${ended.id_token}`)
    const spent = await logInOffline(service)
    await refreshed(service, spent.refresh_token)
    for (const token of [
      revoked.access_token,
      ended.access_token,
      ended.refresh_token,
      spent.refresh_token,
    ]) {
      assert.deepEqual(told(await ask(service, asker, token)), INACTIVE)
    }
  })

  await t.test('RFC 7662 §2.2: what is not ours, or no token, is inactive', async () => {
    const { access_token, id_token } = await logIn(service)
    const thief = await thiefOf(service, access_token)
    const strange = [
      id_token,
      await thief.sign({ iss: 'https://idp.example/' }),
      await thief.sign({ aud: 'another' }),
      await thief.sign({ z_asid: undefined }),
      await thief.sign({}, { typ: 'JWT' }),
      access_token.slice(0, -4),
      'lkr_never-issued',
      'x',
      '\u0000',
      'x'.repeat(20_000),
    ]
    for (const token of strange) {
      assert.deepEqual(told(await ask(service, asker, token)), INACTIVE)
    }
  })

  await t.test(
    'missing and repeated parameters, and anything but a form, are refused',
    async () => {
      const { headers } = bearer(asker)
      const form: [string, string][] = [
        ['token', 'x'],
        ['token_type_hint', 'access_token'],
      ]
      for (const [call, status] of [
        [{ form: form.slice(1) }, 400],
        [{ form: [...form, ['token', 'y']] as const }, 400],
        [{ json: { token: 'x' } }, 415],
        [{ method: 'GET' }, 405],
      ] as const) {
        const reply = await service.call('/oidc/introspect', { ...call, headers })
        assertOauthError(reply, status, 'invalid_request')
      }
      assert.deepEqual(told(await service.call('/oidc/introspect', { form, headers })), INACTIVE)
    },
  )

  await t.test('what has expired is inactive', async () => {
    const { access_token, refresh_token } = await logInOffline(service)
    service.clock.advance(minutes(31))
    const later = await administrate(service)
    assert.deepEqual(told(await ask(service, later.token, access_token)), INACTIVE)
    assert.equal(told(await ask(service, later.token, refresh_token))['active'], true)
    service.clock.advance(hours(24))
    const last = await administrate(service)
    assert.deepEqual(told(await ask(service, last.token, refresh_token)), INACTIVE)
  })
})

test('introspection is in discovery, with the credential that it wants', async (t) => {
  const service = await startService(t)
  const document = (await service.call('/.well-known/openid-configuration')).json()
  assert.equal(document.introspection_endpoint, `${service.baseUrl}/oidc/introspect`)
  // RFC 8414 §2: a value of the registry of access token types, in its spelling.
  assert.deepEqual(document.introspection_endpoint_auth_methods_supported, ['Bearer'])
})

test('R112: no page of another origin can introspect', async (t) => {
  const origin = 'https://app.example.com'
  const service = await startService(t, { config: { edge: { api: { corsOrigins: [origin] } } } })
  const reply = await service.call('/oidc/introspect', { method: 'POST', headers: { origin } })
  assert.equal(reply.headers['access-control-allow-origin'], undefined)
})
