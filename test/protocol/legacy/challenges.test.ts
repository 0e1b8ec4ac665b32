/**
 * The table of SPEC 401 challenges on both APIs, for passwords, `zt-session` and bearer tokens: each row by its
 * condition. D-35, D-36, D-37; R064 – R066, R071. The rows of external JWTs are with those.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { parseChallenges } from '../../../src/protocol/challenge.ts'
import type { CallOptions } from '../../support/http-client.ts'
import { EXPIRED, INVALID, MISSING, NO_SUCH_SESSION } from '../../support/login/challenges.ts'
import { APIS, CLIENT_API, callsOf, legacyToken, ztSession } from '../../support/login/legacy.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { assertRefused } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

for (const api of APIS) {
  test(`SPEC 401 challenges on ${api}`, async (t) => {
    const service = await startService(t)
    service.clock.hold()
    const { access_token, id_token } = await logIn(service)
    const zt = await legacyToken(service)
    const ended = await legacyToken(service)
    await callsOf(service, ended)(`${api}/current-api-session`, { method: 'DELETE' })
    const loggedOut = (await logIn(service)).access_token
    await service.call(`${api}/current-api-session`, { method: 'DELETE', ...bearer(loggedOut) })

    const rows: readonly (readonly [condition: string, CallOptions, expected: string])[] = [
      ['no supported token provided', {}, MISSING],
      ['no supported token provided: another scheme', basic(), MISSING],
      ['bearer token invalid: its signature', bearer(`${access_token.slice(0, -4)}AAAA`), INVALID],
      ['bearer token invalid: no JWT', bearer('x'), INVALID],
      ['bearer token invalid: an empty one', bearer(''), INVALID],
      ['bearer token invalid: an ID token', bearer(id_token), INVALID],
      ['bearer token invalid: a zt-session token', bearer(zt), INVALID],
      ['bearer token invalid: its session has ended', bearer(loggedOut), INVALID],
      ['zt-session unknown', ztSession('x'), NO_SUCH_SESSION],
      ['zt-session ended', ztSession(ended), NO_SUCH_SESSION],
      ['zt-session that is an access token', ztSession(access_token), NO_SUCH_SESSION],
    ]
    for (const [condition, options, expected] of rows) {
      await t.test(condition, async () => {
        for (const [method, path] of [
          ['GET', 'current-identity'],
          ['GET', 'current-api-session'],
          ['DELETE', 'current-api-session'],
          ['POST', 'authenticate/mfa'],
          ['POST', 'current-identity/mfa'],
          ['POST', 'current-identity/mfa/recovery-codes'],
        ] as const) {
          const reply = await service.call(`${api}/${path}`, { ...options, method })
          assertRefused(reply, 401, 'UNAUTHORIZED')
          assert.equal(reply.headers['www-authenticate'], expected, `${method} ${path}`)
          assert.ok(parseChallenges(expected), 'R066: it is in the grammar')
          assert.equal(reply.headers['expires-at'], undefined)
        }
      })
    }

    await t.test('D-37: a wrong password: no other row fits', async () => {
      const json = { ...ADMIN, password: 'wrong horse battery' }
      const reply = await service.call(`${api}/authenticate?method=password`, { json })
      assertRefused(reply, 401, 'INVALID_AUTH')
      assert.equal(reply.headers['www-authenticate'], MISSING)
    })

    await t.test('bearer token expired', async () => {
      const end = Number(decodeJwt(access_token).exp) * 1_000
      service.clock.advance(milliseconds(end - service.clock.now() - 1))
      const good = await service.call(`${api}/current-identity`, bearer(access_token))
      assert.equal(good.status, 200, 'not a millisecond too early')
      service.clock.advance(milliseconds(1))
      for (const path of ['current-identity', 'current-api-session']) {
        const reply = await service.call(`${api}/${path}`, bearer(access_token))
        assertRefused(reply, 401, 'UNAUTHORIZED')
        assert.equal(reply.headers['www-authenticate'], EXPIRED)
      }
    })

    await t.test('zt-session past its idle end: D-36 has one word for it', async () => {
      service.clock.advance(minutes(30))
      const reply = await service.call(`${api}/current-identity`, ztSession(zt))
      assertRefused(reply, 401, 'UNAUTHORIZED')
      assert.equal(reply.headers['www-authenticate'], NO_SUCH_SESSION)
    })
  })
}

test('D-1: the realms carry the brand, zt-session does not', async (t) => {
  const service = await startService(t, { config: { edge: { brand: 'acme' } } })
  for (const api of APIS) {
    const missing = await service.call(`${api}/current-identity`)
    const expected = MISSING.replace('service-oidc', 'acme-oidc')
    assert.equal(missing.headers['www-authenticate'], expected)
    const invalid = await service.call(`${api}/current-identity`, bearer('x'))
    assert.equal(invalid.headers['www-authenticate'], INVALID.replace('service', 'acme'))
    const unknown = await service.call(`${api}/current-identity`, ztSession('x'))
    assert.equal(unknown.headers['www-authenticate'], NO_SUCH_SESSION)
  }
})

test('D-36: a zt-session token never expires by the clock of an access token', async (t) => {
  const service = await startService(t, { config: { edge: { api: { sessionTimeout: '2h' } } } })
  service.clock.hold()
  const call = callsOf(service, await legacyToken(service))
  service.clock.advance(minutes(90))
  assert.equal((await call(`${CLIENT_API}/current-identity`)).status, 200)
})

function basic(): CallOptions {
  const credentials = Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64')
  return { headers: { authorization: `Basic ${credentials}` } }
}
