/**
 * The life of a `zt-session` token: its idle time-out and absolute end, its precedence, its logout, and what everybody
 * is told about it. D-36, D-39, D-52, D-53; R064 – R070.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { milliseconds, minutes, seconds } from '../../../src/base/time/duration.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import type { Reply } from '../../support/http-client.ts'
import { MISSING, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import {
  APIS,
  authenticate,
  CLIENT_API,
  callsOf,
  legacyToken,
  ztSession,
} from '../../support/login/legacy.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { ADMIN, type Service, startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'
const IDENTITY = `${CLIENT_API}/current-identity`

async function start(t: TestContext, edge: object = {}) {
  const service = await startService(t, { config: { edge } })
  service.clock.hold()
  return service
}

function assertNoSession(reply: Reply): void {
  assertRefused(reply, 401, 'UNAUTHORIZED')
  assert.equal(reply.headers['www-authenticate'], NO_SUCH_SESSION)
  assert.equal(reply.headers['expires-at'], undefined)
}

function assertExpiry(service: Service, reply: Reply, end: number): void {
  assert.equal(reply.headers['expires-at'], new Date(end).toISOString())
  const left = Math.floor((end - service.clock.now()) / 1_000)
  assert.equal(reply.headers['expiration-seconds'], String(left))
}

test('D-36: without calls a session ends after the idle time-out, to the millisecond', async (t) => {
  const service = await start(t)
  const [early, late] = [await legacyToken(service), await legacyToken(service)]
  service.clock.advance(milliseconds(minutes(30) - 1))
  assert.equal((await callsOf(service, early)(IDENTITY)).status, 200)
  service.clock.advance(milliseconds(1))
  for (const api of APIS) {
    assertNoSession(await callsOf(service, late)(`${api}/current-identity`))
    assertNoSession(
      await callsOf(service, late)(`${api}/current-api-session`, { method: 'DELETE' }),
    )
  }
  assert.equal((await callsOf(service, early)(IDENTITY)).status, 200, 'its last call renewed it')
})

test('D-36: every call renews a session, up to the absolute end', async (t) => {
  const service = await start(t, { oidc: { maxSessionDuration: '25h' } })
  const call = callsOf(service, await legacyToken(service))
  const begun = service.clock.now()
  const end = begun + 25 * 60 * 60 * 1_000
  for (let passed = 0; passed < 25 * 60 - 20; passed += 20) {
    service.clock.advance(minutes(20))
    const reply = await call(IDENTITY)
    assert.equal(reply.status, 200, `after ${passed + 20} minutes`)
    assertExpiry(service, reply, Math.min(service.clock.now() + minutes(30), end))
  }
  service.clock.advance(milliseconds(end - service.clock.now() - 1))
  assert.equal((await call(IDENTITY)).status, 200)
  service.clock.advance(milliseconds(1))
  assertNoSession(await call(IDENTITY))
})

test('D-36: refused calls renew a session too', async (t) => {
  const service = await start(t)
  const token = await legacyToken(service)
  service.clock.advance(minutes(20))
  const reply = await callsOf(service, token)(`${IDENTITY}?x=%zz`)
  assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'query')
  assertExpiry(service, reply, service.clock.now() + minutes(30))
  service.clock.advance(minutes(20))
  assert.equal((await callsOf(service, token)(IDENTITY)).status, 200)
})

test('D-36: activity is written at most every tenth of the time-out', async (t) => {
  const service = await start(t, { api: { sessionTimeout: '10m' } })
  const call = callsOf(service, await legacyToken(service))
  const written = async () => {
    const [row] = await sql(service, "select expires_at from api_sessions where kind = 'legacy'")
    return Number(row?.['expires_at'])
  }
  const first = await written()
  assert.equal(first, service.clock.now() + minutes(10))
  service.clock.advance(milliseconds(minutes(1) - 1))
  const early = await call(IDENTITY)
  assert.equal(await written(), first, 'not yet')
  assertExpiry(service, early, first)
  service.clock.advance(milliseconds(1))
  const later = await call(IDENTITY)
  assert.equal(await written(), service.clock.now() + minutes(10))
  assertExpiry(service, later, service.clock.now() + minutes(10))
})

test('D-36: the time-out can be configured', async (t) => {
  const service = await start(t, { api: { sessionTimeout: '1m' } })
  const reply = await authenticate(service)
  assert.equal(reply.headers['expiration-seconds'], '60')
  service.clock.advance(seconds(60))
  assertNoSession(await callsOf(service, reply.json().data.token)(IDENTITY))
})

test('D-53: a legacy login is never longer than the absolute end', async (t) => {
  const service = await start(t, {
    api: { sessionTimeout: '48h' },
    oidc: { maxSessionDuration: '25h' },
  })
  const reply = await authenticate(service)
  assertExpiry(service, reply, service.clock.now() + 25 * 60 * 60 * 1_000)
})

test('API 4.7: the session says when it was last used and when it ends', async (t) => {
  const service = await start(t)
  const call = callsOf(service, await legacyToken(service))
  service.clock.advance(minutes(7))
  const { data } = (await call(`${CLIENT_API}/current-api-session`)).json()
  assert.equal(data.lastActivityAt, new Date(service.clock.now()).toISOString())
  assert.equal(data.expiresAt, new Date(service.clock.now() + minutes(30)).toISOString())
  assert.equal(data.expirationSeconds, 1800)
})

test('R065: a token that opens nothing is called invalid, never missing', async (t) => {
  const service = await start(t)
  const token = await legacyToken(service)
  const wrong = [
    'x',
    '',
    'null',
    `${token}A`,
    token.slice(1),
    token.toLowerCase(),
    'A'.repeat(4_000),
  ]
  for (const api of APIS) {
    for (const text of [
      ...wrong,
      ...['%00', `"${token}"`, `Bearer ${token}`, `${token}, ${token}`],
    ]) {
      for (const path of ['current-identity', 'current-api-session', 'current-identity/mfa']) {
        assertNoSession(await service.call(`${api}/${path}`, ztSession(text)))
      }
    }
  }
})

test('R064: without any token both challenges come in one field', async (t) => {
  const service = await start(t)
  for (const api of APIS) {
    const reply = await service.call(`${api}/current-api-session`)
    assertRefused(reply, 401, 'UNAUTHORIZED')
    assert.equal(reply.headers['www-authenticate'], MISSING)
    const names = reply.rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
    assert.equal(names.filter((name) => name === 'www-authenticate').length, 1)
  }
})

test('R067: a token in the query, a cookie or the Authorization field is not a zt-session', async (t) => {
  const service = await start(t)
  const token = await legacyToken(service)
  for (const [path, headers] of [
    [`${IDENTITY}?zt-session=${token}`, {}],
    [IDENTITY, { cookie: `zt-session=${token}` }],
    [IDENTITY, { authorization: `zt-session ${token}` }],
  ] as const) {
    const reply = await service.call(path, { headers })
    assertRefused(reply, 401, 'UNAUTHORIZED')
    assert.equal(reply.headers['www-authenticate'], MISSING)
  }
})

test('R068: with both kinds of token, zt-session decides', async (t) => {
  const service = await start(t)
  const admin = await administrate(service)
  const ada = await admin.createIdentity({ password: PASSWORD })
  const token = await legacyToken(service, ada)
  const { access_token } = await logIn(service)
  const both = (zt: string, jwt: string) => ({
    headers: { 'zt-session': zt, ...bearer(jwt).headers },
  })

  await t.test(
    'a valid session next to an access token of another identity is that session',
    async () => {
      const reply = await service.call(IDENTITY, both(token, access_token))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.json().data.id, ada.id)
    },
  )

  await t.test('a good session beside a broken access token is that session', async () => {
    for (const jwt of ['x', `${access_token}x`, '', 'a.b.c']) {
      assert.equal((await service.call(IDENTITY, both(token, jwt))).status, 200, jwt)
    }
  })

  // Attack: whoever may add a header field must not gain by it what the other token may.
  await t.test('a bad session beside a good access token opens nothing', async () => {
    for (const zt of ['x', '', `${token}A`]) {
      assertNoSession(await service.call(IDENTITY, both(zt, access_token)))
    }
  })

  await t.test('D-38: the access token of an administrator lends a session no rights', async () => {
    const reply = await service.call('/edge/management/v1/identities', both(token, access_token))
    assertRefused(reply, 403, 'FORBIDDEN')
  })
})

// Attack: a proxy in front reads the one field, and the service the other.
test('R068: a repeated zt-session field opens nothing', async (t) => {
  const service = await start(t)
  const token = await legacyToken(service)
  for (const values of [
    ['x', token],
    [token, 'x'],
    [token, token],
  ]) {
    assertNoSession(await service.call(IDENTITY, { headers: { 'zt-session': values } }))
  }
})

test('D-52: logout ends a session on both APIs at once, and only that session', async (t) => {
  const service = await start(t)
  for (const api of APIS) {
    const [token, other] = [await legacyToken(service), await legacyToken(service)]
    const call = callsOf(service, token)
    for (const path of APIS) assert.equal((await call(`${path}/current-identity`)).status, 200)
    const logout = await call(`${api}/current-api-session`, { method: 'DELETE' })
    assert.equal(logout.status, 200, logout.text)
    assert.deepEqual(logout.json(), { data: {}, meta: {} })
    assert.ok(logout.headers['expires-at'], 'D-39: an authenticated answer')
    for (const path of APIS) {
      assertNoSession(await call(`${path}/current-identity`))
      assertNoSession(await call(`${path}/current-api-session`))
      assertNoSession(await call(`${path}/current-api-session`, { method: 'DELETE' }))
    }
    assert.equal((await callsOf(service, other)(IDENTITY)).status, 200)
  }
})

test('D-34: what ends a legacy session ends it at the next call', async (t) => {
  const service = await start(t)
  const admin = await administrate(service)

  await t.test('disabling its identity, for good: enabling brings no session back', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const call = callsOf(service, await legacyToken(service, ada))
    assert.equal((await call(IDENTITY)).status, 200)
    await admin.act('POST', `/identities/${ada.id}/disable`)
    assertNoSession(await call(IDENTITY))
    await admin.act('POST', `/identities/${ada.id}/enable`)
    assertNoSession(await call(IDENTITY))
  })

  await t.test('deleting its identity', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const call = callsOf(service, await legacyToken(service, ada))
    assert.equal((await call(IDENTITY)).status, 200)
    await admin.act('DELETE', `/identities/${ada.id}`)
    assertNoSession(await call(IDENTITY))
  })
})

test('D-34: a logout on one instance reaches the other within a second', async (t) => {
  const shared = await installation(await migratedDatabase())
  const clock = new UptimeClock()
  const [a, b] = [await shared.start(t, { clock }), await shared.start(t, { clock })]
  const token = await legacyToken(a)
  for (const instance of [a, b]) {
    assert.equal((await callsOf(instance, token)(IDENTITY)).status, 200)
  }
  await callsOf(a, token)(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
  assertNoSession(await callsOf(a, token)(IDENTITY))
  // What the other one knows of a session it keeps for a second at the most.
  clock.pass(seconds(1))
  assertNoSession(await callsOf(b, token)(IDENTITY))
})

test('R070: every authenticated answer says when the session ends, errors included', async (t) => {
  const service = await start(t)
  const admin = await administrate(service)
  const ada = await admin.createIdentity({ password: PASSWORD })
  const call = callsOf(service, await legacyToken(service, ada))
  const end = service.clock.now() + minutes(30)
  for (const api of APIS) {
    for (const [method, path, status] of [
      ['GET', 'current-identity', 200],
      ['HEAD', 'current-identity', 200],
      ['GET', 'current-api-session', 200],
      ['GET', 'current-identity?x=%zz', 400],
      ['GET', 'current-identity/mfa', 404],
      ['GET', 'current-identity/mfa/recovery-codes', 409],
      ['POST', 'authenticate/mfa', 400],
    ] as const) {
      const reply = await call(`${api}/${path}`, { method })
      assert.equal(reply.status, status, `${method} ${path}`)
      assertExpiry(service, reply, end)
    }
  }
  const forbidden = await call('/edge/management/v1/identities')
  assertRefused(forbidden, 403, 'FORBIDDEN')
  assertExpiry(service, forbidden, end)
})

test('R071: public routes send no challenge, whatever token is attached', async (t) => {
  const service = await start(t)
  for (const path of [
    '/version',
    `${CLIENT_API}/version`,
    '/oidc/keys',
    '/.well-known/openid-configuration',
  ]) {
    const reply = await service.call(path, ztSession('x'))
    assert.equal(reply.status, 200, path)
    assert.equal(reply.headers['www-authenticate'], undefined)
    assert.equal(reply.headers['expires-at'], undefined)
  }
})

test('R026: a zt-session is not an access token of the OAuth endpoints', async (t) => {
  const service = await start(t)
  const token = await legacyToken(service, ADMIN)
  const reply = await service.call('/oidc/userinfo', bearer(token))
  assert.equal(reply.status, 401, reply.text)
})
