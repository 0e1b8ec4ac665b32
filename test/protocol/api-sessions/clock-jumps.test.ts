/**
 * R115: the time of day jumps by ten minutes, forth and back, as when somebody sets it or a machine wakes up. Sessions
 * that live go on, and what is over – ended, spent, used – stays over. Attack: whoever can move the clock of a machine a
 * little has an old token taken again.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Duration, hours, milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { UptimeClock } from '../../support/clocks/uptime-clock.ts'
import { eventually } from '../../support/eventually.ts'
import type { CallOptions } from '../../support/http-client.ts'
import { enrolledPerson, partialLogin, submitCode } from '../../support/login/authenticator-app.ts'
import { INVALID } from '../../support/login/challenges.ts'
import { CLIENT_API, legacyToken, ztSession } from '../../support/login/legacy.ts'
import { bearer, exchange, obtainCode } from '../../support/login/login.ts'
import {
  assertRefreshRefused,
  logInOffline,
  refresh,
  refreshed,
} from '../../support/login/refresh.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'

/** Sessions that are expired according to a clock that is an hour ahead. */
const SHORT = { accessTokenDuration: '10m', refreshTokenDuration: '20m' }

const back = (time: Duration) => milliseconds(-time)
/** One after the other: later, earlier than the beginning, and where it should be. */
const JUMPS = [minutes(10), back(minutes(20)), minutes(10)]

async function statusOf(service: Service, session: Pick<CallOptions, 'headers'>): Promise<number> {
  return (await service.call(`${CLIENT_API}/current-api-session`, session)).status
}

test('R115: sessions of both kinds live through jumps of ten minutes, and are refreshed', async (t) => {
  const service = await startService(t)
  const legacy = ztSession(await legacyToken(service))
  let tokens = await logInOffline(service)
  const { access_token: first } = tokens
  for (const jump of JUMPS) {
    service.clock.advance(jump)
    assert.equal(await statusOf(service, bearer(first)), 200)
    assert.equal(await statusOf(service, bearer(tokens.access_token)), 200)
    assert.equal(await statusOf(service, legacy), 200)
    tokens = await refreshed(service, tokens.refresh_token)
  }
})

test('R115: sessions that were ended stay ended through jumps of ten minutes', async (t) => {
  const service = await startService(t)
  const legacy = ztSession(await legacyToken(service))
  const tokens = await logInOffline(service)
  const sessions = [bearer(tokens.access_token), legacy]
  for (const session of sessions) {
    const url = `${CLIENT_API}/current-api-session`
    const ended = await service.call(url, { ...session, method: 'DELETE' })
    assert.equal(ended.status, 200, ended.text)
  }
  for (const jump of [milliseconds(0), ...JUMPS]) {
    service.clock.advance(jump)
    for (const session of sessions) assert.equal(await statusOf(service, session), 401)
    assertRefreshRefused(await refresh(service, tokens.refresh_token))
  }
})

test('R115: a session that was ended shortly before it would have expired stays ended', async (t) => {
  const service = await startService(t)
  const { access_token } = await logInOffline(service)
  const url = `${CLIENT_API}/current-api-session`
  const session = bearer(access_token)
  assert.equal((await service.call(url, { ...session, method: 'DELETE' })).status, 200)
  // Past the end of the token, for long enough that everything which forgets has had its turn, and back again.
  service.clock.advance(minutes(25))
  for (const jump of [minutes(10), back(minutes(10))]) {
    service.clock.advance(jump)
    await pause(1_000)
    assert.equal(await statusOf(service, session), 401)
  }
})

/** Sets the clock forward by more than the lifetime of any token here, for a short time, and back again. */
const FAR_JUMPS = [hours(1), back(hours(1))]

async function jumpFar(service: Service): Promise<void> {
  for (const jump of FAR_JUMPS) {
    service.clock.advance(jump)
    // Meanwhile, run everything that forgets or ends something by the time of day.
    await pause(1_500)
  }
}

// Attack: the clock is an hour ahead for two seconds, and a token that was logged out works again on routes that look
// up no row; it could be used to create an administrator. Failed before D-230.
test('R115: a token that was logged out stays invalid during a large clock jump, on every route', async (t) => {
  const clock = new UptimeClock()
  const service = await startService(t, { clock, config: { edge: { oidc: SHORT } } })
  const { access_token } = await logInOffline(service)
  const session = bearer(access_token)
  const url = `${CLIENT_API}/current-api-session`
  assert.equal((await service.call(url, { ...session, method: 'DELETE' })).status, 200)
  // Longer than the copies are reread: from then on only the copy in memory decides.
  for (let i = 0; i < 3; i++) {
    clock.pass(minutes(1))
    await eventually(async () => {
      const { status } = await service.call(url, session)
      return status === 503 ? undefined : status
    }, 'a copy that is fresh')
  }
  await jumpFar(service)
  for (const path of [
    url,
    `${CLIENT_API}/current-identity`,
    '/edge/management/v1/identities',
    '/oidc/userinfo',
  ]) {
    const reply = await service.call(path, session)
    assert.equal(reply.status, 401, `${path}: ${reply.text}`)
    assert.equal(reply.headers['www-authenticate'], INVALID, path)
  }
})

// Failed before D-230: the sweep ended every session that had expired by the wrong time.
test('R115: sessions of both kinds survive a large clock jump, and can be refreshed', async (t) => {
  const service = await startService(t, { config: { edge: { oidc: SHORT } } })
  const legacy = ztSession(await legacyToken(service))
  const tokens = await logInOffline(service)
  await jumpFar(service)
  assert.equal(await statusOf(service, bearer(tokens.access_token)), 200)
  assert.equal(await statusOf(service, legacy), 200)
  await refreshed(service, tokens.refresh_token)
})

test('logs every jump of the clock', async (t) => {
  const service = await startService(t)
  await jumpFar(service)
  const jumps = await eventually(() => {
    const lines = service.log.filter(({ msg }) => msg.startsWith('the clock was set'))
    return lines.length < 2 ? undefined : lines.map(({ bySeconds }) => bySeconds)
  }, 'two lines about the clock')
  assert.deepEqual(jumps, [3_600, -3_600])
})

test('R115: what works once works once, whatever the clock says', async (t) => {
  const service = await startService(t)

  await t.test('a code that was exchanged', async () => {
    const { code, verifier, redirectUri } = await obtainCode(service)
    const form = { code, code_verifier: verifier, redirect_uri: redirectUri }
    assert.equal((await exchange(service, form)).status, 200)
    for (const jump of JUMPS) {
      service.clock.advance(jump)
      const again = await exchange(service, form)
      assert.equal(again.status, 400)
      assert.equal(again.json().error, 'invalid_grant')
    }
  })

  await t.test('a refresh token that was spent', async () => {
    const { refresh_token: spent } = await logInOffline(service)
    await refreshed(service, spent)
    for (const jump of JUMPS) {
      service.clock.advance(jump)
      assertRefreshRefused(await refresh(service, spent))
    }
  })

  await t.test('R085: a code of an authenticator app, when its moment comes again', async () => {
    const person = await enrolledPerson(service, await administrate(service))
    const code = person.app.nextCode()
    const first = await partialLogin(service, person)
    assert.equal((await submitCode(service, first.authRequestId, code)).status, 302)
    service.clock.advance(minutes(10))
    service.clock.advance(back(minutes(10)))
    assert.equal(person.app.code(), code)
    const { authRequestId } = await partialLogin(service, person)
    assertRefused(await submitCode(service, authRequestId, code), 400, 'MFA_INVALID_TOKEN')
  })
})

test('R115: nothing asks for local time, so that no clock change in spring or autumn is felt', () => {
  const source = new URL('../../../src/', import.meta.url)
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  const ours = files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  assert.ok(ours.length > 100)
  const localTime =
    /\.[gs]et(Hours|Minutes|Date|Day|Month|FullYear)\(|TimezoneOffset|toLocale\w*Time/
  const asking = ours.filter((file) => localTime.test(readFileSync(new URL(file, source), 'utf8')))
  assert.deepEqual(asking, [])
})
