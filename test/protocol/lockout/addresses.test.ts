/**
 * The limit of failed logins for each address: D-22, R080, R111. Attack: one machine tries the usual passwords on every
 * name it knows. And the defence must not become one: whoever shares nothing with that machine notices nothing.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { milliseconds, seconds } from '../../../src/base/time/duration.ts'
import { passUptime } from '../../support/clocks/pass-uptime.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import type { Reply } from '../../support/http-client.ts'
import { APIS, CLIENT_API } from '../../support/login/legacy.ts'
import { beginLogin } from '../../support/login/login.ts'
import { assertRefused } from '../../support/management.ts'
import { ADMIN, type Service, type ServiceOptions, startService } from '../../support/service.ts'

const LIMIT = 3

async function start(t: TestContext, limits: object = {}, options: ServiceOptions = {}) {
  const config = { edge: { limits: { failuresPerAddress: LIMIT, ...limits } } }
  return startService(t, { config, ...options })
}

const from = (address: string) => ({ 'x-forwarded-for': address })

function logIn(
  service: Service,
  password: string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const json = { username: ADMIN.username, password }
  return service.call(`${CLIENT_API}/authenticate?method=password`, { json, headers })
}

async function fail(
  service: Service,
  times: number,
  headers: Record<string, string> = {},
): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    assertRefused(await logIn(service, 'not the right one', headers), 401, 'INVALID_AUTH')
  }
}

function assertLimited(reply: Reply): number {
  assertRefused(reply, 429, 'RATE_LIMITED')
  assert.match(String(reply.headers['retry-after']), /^[1-9]\d*$/)
  assert.equal(reply.headers['www-authenticate'], undefined)
  const after = Number(reply.headers['retry-after'])
  assert.ok(after <= 60, `${after} s`)
  return after
}

test('D-22: after as many failures as the limit an address is answered 429, at every login', async (t) => {
  const service = await start(t)
  const { authRequestId } = await beginLogin(service)
  await fail(service, LIMIT)
  for (const api of APIS) {
    for (const credentials of [
      ADMIN,
      { ...ADMIN, password: 'x' },
      { username: 'n', password: 'x' },
    ]) {
      const json = credentials
      assertLimited(await service.call(`${api}/authenticate?method=password`, { json }))
    }
  }
  const json = { authRequestId, ...ADMIN }
  assertLimited(await service.call('/oidc/login/username', { json }))
  const page = { json, headers: { accept: 'text/html' } }
  const shown = await service.call('/oidc/login/username', page)
  assert.equal(shown.status, 429)
  assert.match(String(shown.headers['retry-after']), /^[1-9]\d*$/)
  assert.match(shown.text, /role="alert"/)
})

test('D-22: the OIDC login counts for the same limit', async (t) => {
  const service = await start(t)
  const { authRequestId } = await beginLogin(service)
  for (let i = 0; i < LIMIT; i += 1) {
    const json = { authRequestId, ...ADMIN, password: 'not the right one' }
    assertRefused(await service.call('/oidc/login/username', { json }), 401, 'INVALID_AUTH')
  }
  assertLimited(await logIn(service, ADMIN.password))
})

test('D-22: other calls of that address go on', async (t) => {
  const service = await start(t)
  const { token } = (await logIn(service, ADMIN.password)).json().data
  await fail(service, LIMIT)
  assertLimited(await logIn(service, ADMIN.password))
  for (const path of ['/version', '/oidc/keys', '/.well-known/openid-configuration']) {
    assert.equal((await service.call(path)).status, 200)
  }
  const headers = { 'zt-session': token }
  assert.equal((await service.call(`${CLIENT_API}/current-identity`, { headers })).status, 200)
  await beginLogin(service)
})

test('D-22: successes and malformed requests never count', async (t) => {
  const service = await start(t)
  for (let i = 0; i < LIMIT * 3; i += 1) {
    assert.equal((await logIn(service, ADMIN.password)).status, 200)
    const malformed = await service.call(`${CLIENT_API}/authenticate?method=password`, { json: {} })
    assertRefused(malformed, 400, 'COULD_NOT_VALIDATE', 'username')
  }
  await fail(service, LIMIT - 1)
  assert.equal((await logIn(service, ADMIN.password)).status, 200)
  await fail(service, 1)
  assertLimited(await logIn(service, ADMIN.password))
})

test('D-22: the limit ends after the minute that Retry-After tells, to the millisecond', async (t) => {
  const clock = new UptimeClock()
  const service = await start(t, {}, { clock })
  clock.holdUptime()
  await fail(service, LIMIT)
  assert.equal(assertLimited(await logIn(service, ADMIN.password)), 60)
  await passUptime(service, clock, milliseconds(seconds(60) - 1))
  assert.equal(assertLimited(await logIn(service, ADMIN.password)), 1)
  clock.pass(milliseconds(1))
  await fail(service, LIMIT)
  assertLimited(await logIn(service, ADMIN.password))
})

test('D-22: 0 means no limit', async (t) => {
  const service = await start(t, { failuresPerAddress: 0 })
  for (let i = 0; i < 12; i += 1) {
    const reply = await logIn(service, `guess ${i}`, {})
    assertRefused(reply, 401, 'INVALID_AUTH')
  }
})

test('R111: behind a trusted proxy the address is what the proxy says', async (t) => {
  const service = await start(t, { trustedProxies: ['127.0.0.0/8', '::1'] })

  await t.test('one address is limited and no other', async () => {
    await fail(service, LIMIT, from('192.0.2.1'))
    assertLimited(await logIn(service, ADMIN.password, from('192.0.2.1')))
    assert.equal((await logIn(service, ADMIN.password, from('192.0.2.2'))).status, 200)
    assert.equal((await logIn(service, ADMIN.password)).status, 200, 'nor the proxy itself')
  })

  await t.test('the IPv6 network of one customer is one address', async () => {
    for (let i = 1; i <= LIMIT; i += 1) await fail(service, 1, from(`2001:db8:1:2::${i}`))
    assertLimited(await logIn(service, ADMIN.password, from('2001:db8:1:2:ffff::9')))
    const neighbour = await logIn(service, ADMIN.password, from('2001:db8:1:3::1'))
    assert.equal(neighbour.status, 200, neighbour.text)
  })

  // Attack: the client writes the field himself, and the proxy adds the true address behind it.
  await t.test('what stands in front of the last untrusted address is not believed', async () => {
    for (let i = 0; i < LIMIT; i += 1) {
      await fail(service, 1, from(`198.51.100.${i}, 203.0.113.7`))
    }
    assertLimited(await logIn(service, ADMIN.password, from('198.51.100.77, 203.0.113.7')))
    assert.equal((await logIn(service, ADMIN.password, from('198.51.100.1'))).status, 200)
  })

  await t.test('the session and the event know that address', async () => {
    const reply = await logIn(service, ADMIN.password, from('192.0.2.9'))
    assert.equal(reply.json().data.ipAddress, '192.0.2.9')
  })
})

// Attack: a field that anybody can send, to get around the limit or to have somebody else limited.
test('R111: without a trusted proxy X-Forwarded-For is ignored', async (t) => {
  const service = await start(t)
  for (let i = 0; i < LIMIT; i += 1) await fail(service, 1, from(`192.0.2.${i}`))
  assertLimited(await logIn(service, ADMIN.password, from('192.0.2.77')))
  assertLimited(await logIn(service, ADMIN.password))
})

test('R111: a field that is not an address does not stop a login', async (t) => {
  const service = await start(t, { trustedProxies: ['127.0.0.1', '::1'] })
  for (const text of ['unknown', '', ',', '_hidden', '999.1.1.1', 'x'.repeat(5_000), '[::1]:80']) {
    const reply = await logIn(service, ADMIN.password, from(text))
    assert.equal(reply.status, 200, `${text.slice(0, 20)}: ${reply.text}`)
  }
})
