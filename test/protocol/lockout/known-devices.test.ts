/**
 * Guesses by an attacker do not lock the owner out: R080, D-22, D-216. Attack: an attacker who knows a username keeps
 * guessing, from one network or from many, so that its owner cannot sign in; and an attacker who has stolen what makes
 * a device known uses it to guess without limit. Networks come from X-Forwarded-For, behind a trusted proxy.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { days, hours, milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { presenting } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import type { MadeCertificate } from '../../support/certificates/openssl.ts'
import {
  issueCertificate,
  type LiveSession,
  legacySession,
  oidcSession,
} from '../../support/edge/live-session.ts'
import type { CallOptions, Reply } from '../../support/http-client.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { beginLogin, exchange } from '../../support/login/login.ts'
import { administrate, assertRefused, type CreatedIdentity } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'
const HOME = '192.0.2.1'
const ELSEWHERE = '192.0.2.2'

async function start(t: TestContext, limits: object = { failuresPerAddress: 0 }) {
  const config = { edge: { limits: { trustedProxies: ['127.0.0.0/8', '::1'], ...limits } } }
  const service = await startService(t, { config })
  service.clock.hold()
  const admin = await administrate(service)
  const ada = await admin.createIdentity({ password: PASSWORD })
  return { service, admin, ada }
}

interface Try {
  readonly from: string
  readonly password?: string
  readonly cookie?: string | undefined
  readonly refreshToken?: string
}

function fields(ada: CreatedIdentity, { from, password = PASSWORD, cookie, refreshToken }: Try) {
  const headers = {
    'x-forwarded-for': from,
    ...(cookie === undefined ? {} : { cookie: `other=1; ${cookie}; last=2` }),
  }
  const token = refreshToken === undefined ? {} : { refresh_token: refreshToken }
  return { headers, json: { username: ada.username, password, ...token } }
}

type Caller = Pick<Service, 'call' | 'baseUrl'>

function logIn(service: Caller, ada: CreatedIdentity, attempt: Try): Promise<Reply> {
  return service.call(`${CLIENT_API}/authenticate?method=password`, fields(ada, attempt))
}

async function logInByOidc(service: Caller, ada: CreatedIdentity, attempt: Try): Promise<Reply> {
  const { authRequestId } = await beginLogin(service)
  const { headers, json } = fields(ada, attempt)
  const call: CallOptions = { headers, json: { authRequestId, ...json } }
  return service.call('/oidc/login/username', call)
}

/** Both kinds of login must give the same answer. */
async function getsIn(service: Caller, ada: CreatedIdentity, attempt: Try): Promise<boolean> {
  const [legacy, oidc] = [
    await logIn(service, ada, attempt),
    await logInByOidc(service, ada, attempt),
  ]
  if (legacy.status === 200) {
    assert.equal(oidc.status, 302, oidc.text)
    return true
  }
  assertRefused(legacy, 401, 'INVALID_AUTH')
  assertRefused(oidc, 401, 'INVALID_AUTH')
  return false
}

async function guess(
  service: Caller,
  ada: CreatedIdentity,
  times: number,
  attempt: Try,
): Promise<void> {
  for (let i = 0; i < times; i++) {
    const wrong = { ...attempt, password: `guess ${i}` }
    const reply = await (i % 2 ? logIn : logInByOidc)(service, ada, wrong)
    assertRefused(reply, 401, 'INVALID_AUTH')
  }
}

/** Enough guesses to lock the password for all networks, from networks that no user has. */
async function guessFromEverywhere(service: Caller, ada: CreatedIdentity): Promise<void> {
  for (let i = 0; i < 20; i++) await guess(service, ada, 5, { from: `198.51.100.${i}` })
}

/** `name=value` of the device cookie that a response sets. */
function deviceCookie(reply: Reply): string {
  const [cookie = assert.fail('no device cookie')] = (reply.headers['set-cookie'] ?? []).filter(
    (one) => one.startsWith('__Host-latchkey-device='),
  )
  return cookie.split(';', 1)[0] ?? ''
}

async function signIn(service: Caller, ada: CreatedIdentity, attempt: Try): Promise<string> {
  const reply = await logIn(service, ada, attempt)
  assert.equal(reply.status, 200, reply.text)
  return deviceCookie(reply)
}

test('R080: guesses from one network lock that network out, and the owner can sign in from any other', async (t) => {
  const { service, ada } = await start(t)
  await guess(service, ada, 30, { from: ELSEWHERE })
  assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), false)
  assert.equal(await getsIn(service, ada, { from: HOME }), true)
  assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), false, 'and it stays shut out')
})

test('R080: the owner can sign in on a known device behind the same address as the attacker', async (t) => {
  const { service, ada } = await start(t)
  const cookie = await signIn(service, ada, { from: HOME })
  await guess(service, ada, 10, { from: HOME })
  assert.equal(await getsIn(service, ada, { from: HOME }), false)
  assert.equal(await getsIn(service, ada, { from: HOME, cookie }), true)
  assert.equal(await getsIn(service, ada, { from: HOME }), false, 'and the guesser is shut out')
})

test('D-216: the device cookie is limited to this host, and hidden from scripts', async (t) => {
  const { service, ada } = await start(t)
  for (const log of [logIn, logInByOidc]) {
    const reply = await log(service, ada, { from: HOME })
    const [cookie = ''] = (reply.headers['set-cookie'] ?? []).filter((one) => /device/.test(one))
    const [pair = '', ...attributes] = cookie.split('; ')
    assert.match(pair, /^__Host-latchkey-device=[\w-]{40,400}$/)
    assert.deepEqual(
      new Set(attributes),
      new Set(['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax', `Max-Age=${90 * 86_400}`]),
    )
    assert.ok(!cookie.includes(ada.id) && !cookie.includes(ada.username))
  }
  const refused = await logIn(service, ada, { from: HOME, password: 'wrong' })
  assert.equal(refused.headers['set-cookie'], undefined, 'a refusal sets none')
})

function shown(pem: string, keyPem: string): MadeCertificate {
  const { raw, fingerprint256 } = new X509Certificate(pem)
  const fingerprint = fingerprint256.replaceAll(':', '').toLowerCase()
  return { subject: '/CN=laptop', pem, keyPem, der: raw, fingerprint }
}

test('R080: the holder of a session certificate is known', async (t) => {
  const { service, ada, admin } = await start(t)
  const sessions = [await oidcSession(service, ada), await legacySession(service, ada)]
  const others = await oidcSession(service)
  const callers = []
  for (const session of [...sessions, others]) {
    const { pem: csr, keyPem } = await makeCsr()
    const { certificate } = await issueCertificate(session, csr)
    callers.push(presenting(service, shown(certificate, keyPem)))
  }
  const [oidc, legacy, stranger] = callers as [Service, Service, Service]
  await guess(service, ada, 10, { from: HOME })
  assert.equal(await getsIn(oidc, ada, { from: HOME }), true)
  assert.equal(await getsIn(legacy, ada, { from: HOME }), true)
  assert.equal(await getsIn(stranger, ada, { from: HOME }), false, 'of another identity')
  await admin.act('DELETE', `/api-sessions/${(sessions[0] as LiveSession).id}`)
  assert.equal(await getsIn(oidc, ada, { from: HOME }), false, 'of a session that has ended')
})

test('R080: the holder of a refresh token is known, and the token is not spent', async (t) => {
  const { service, ada } = await start(t)
  const { refreshToken = '' } = await oidcSession(service, ada)
  const { refreshToken: others = '' } = await oidcSession(service)
  await guess(service, ada, 10, { from: HOME })
  assert.equal(await getsIn(service, ada, { from: HOME, refreshToken }), true)
  for (const useless of [others, 'lkr_made-up', `${refreshToken}x`]) {
    assert.equal(await getsIn(service, ada, { from: HOME, refreshToken: useless }), false)
  }
  const refresh = { grant_type: 'refresh_token', refresh_token: refreshToken }
  const refreshed = await exchange(service, refresh)
  assert.equal(refreshed.status, 200, refreshed.text)
  const { refresh_token: next } = refreshed.json()
  assert.equal(await getsIn(service, ada, { from: HOME, refreshToken }), false, 'it is spent')
  assert.equal(await getsIn(service, ada, { from: HOME, refreshToken: next }), true)
  const malformed = { ...fields(ada, { from: HOME }), json: { ...ada, refresh_token: 7 } }
  const reply = await service.call(`${CLIENT_API}/authenticate?method=password`, malformed)
  assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'refresh_token')
})

test('R078: a hundred guesses from many networks lock the password, and known devices can still sign in', async (t) => {
  const { service, admin, ada } = await start(t)
  const cookie = await signIn(service, ada, { from: HOME })
  await guessFromEverywhere(service, ada)
  assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), false, 'a network without a guess')
  const [{ id, lockedUntil }] = await admin.get(`/identities/${ada.id}/authenticators`)
  assert.equal(lockedUntil, new Date(service.clock.now() + minutes(15)).toISOString())
  assert.equal(await getsIn(service, ada, { from: HOME, cookie }), true)
  assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), false, 'for that device alone')

  await t.test('the lock expires', async () => {
    service.clock.advance(milliseconds(minutes(15) - 1))
    assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), false)
    service.clock.advance(milliseconds(1))
    assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), true)
  })

  await t.test('an administrator can unlock it', async () => {
    await guessFromEverywhere(service, ada)
    assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), false)
    await admin.act('POST', `/authenticators/${id}/unlock`)
    assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), true)
  })
})

test('R080: a stolen device cookie allows no more guesses than a network has', async (t) => {
  const { service, ada } = await start(t)
  const cookie = await signIn(service, ada, { from: HOME })
  await guessFromEverywhere(service, ada)
  // From ever new networks, and past the end of each of their locks.
  for (let i = 0; i < 10; i++) await guess(service, ada, 1, { from: `203.0.113.${i}`, cookie })
  assert.equal(await getsIn(service, ada, { from: '203.0.113.99', cookie }), false)
  service.clock.advance(minutes(15))
  await guessFromEverywhere(service, ada)
  assert.equal(await getsIn(service, ada, { from: '203.0.113.99', cookie }), false, 'nor later')
})

test('R078: guesses on a known device lock its network out too', async (t) => {
  const { service, ada } = await start(t)
  const cookie = await signIn(service, ada, { from: HOME })
  await guess(service, ada, 10, { from: HOME, cookie })
  assert.equal(await getsIn(service, ada, { from: HOME, cookie }), false)
  assert.equal(await getsIn(service, ada, { from: HOME }), false)
  service.clock.advance(minutes(15))
  assert.equal(await getsIn(service, ada, { from: HOME, cookie }), true)
})

test('D-216: ignores a cookie that is forged, changed, or for another identity', async (t) => {
  const { service, admin, ada } = await start(t)
  const zoe = await admin.createIdentity({ password: PASSWORD })
  const own = await signIn(service, ada, { from: HOME })
  const others = await signIn(service, zoe, { from: HOME })
  const name = '__Host-latchkey-device='
  await guess(service, ada, 10, { from: HOME })
  const useless = [
    others,
    name,
    `${name}x`,
    `${name}${'x'.repeat(5_000)}`,
    `${name}${'.'.repeat(2_000)}`,
    `${own.slice(0, -3)}AAA`,
    own.replace('__Host-', ''),
  ]
  for (const cookie of useless) {
    assert.equal(await getsIn(service, ada, { from: HOME, cookie }), false, cookie.slice(0, 40))
  }
  assert.equal(await getsIn(service, ada, { from: HOME, cookie: own }), true)
})

test('D-216: a browser is known for the identities that signed in last', async (t) => {
  const { service, admin } = await start(t)
  const people = []
  for (let i = 0; i < 6; i++) people.push(await admin.createIdentity({ password: PASSWORD }))
  let cookie: string | undefined
  for (const person of people) cookie = await signIn(service, person, { from: HOME, cookie })
  assert.ok((cookie ?? '').length < 2_000)
  for (const [i, person] of people.entries()) {
    await guess(service, person, 10, { from: HOME })
    assert.equal(await getsIn(service, person, { from: HOME, cookie }), i > 0, `number ${i}`)
  }
})

test('D-216: a new password voids earlier cookies, and they expire', async (t) => {
  const { service, admin, ada } = await start(t)
  const cookie = await signIn(service, ada, { from: HOME })
  const [{ id }] = await admin.get(`/identities/${ada.id}/authenticators`)
  const password = 'another password of hers'
  await admin.act('PATCH', `/authenticators/${id}`, { password })
  await guess(service, ada, 10, { from: HOME })
  assert.equal(await getsIn(service, ada, { from: HOME, cookie, password }), false)

  const later = await signIn(service, ada, { from: ELSEWHERE, password })
  service.clock.advance(milliseconds(days(90) - 1))
  await guess(service, ada, 10, { from: HOME })
  assert.equal(await getsIn(service, ada, { from: HOME, cookie: later, password }), true)
  service.clock.advance(milliseconds(1))
  assert.equal(await getsIn(service, ada, { from: HOME, cookie: later, password }), false)
})

test('D-22: a network that keeps guessing is locked out for twice as long each time, up to a day', async (t) => {
  const { service, ada } = await start(t)
  const expected = [15, 30, 60, 120, 240, 480, 960, 1_440, 1_440].map(minutes)
  for (const duration of expected) {
    await guess(service, ada, 10, { from: ELSEWHERE })
    service.clock.advance(milliseconds(duration - 1))
    assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), false, `${duration}`)
    service.clock.advance(milliseconds(1))
  }
  assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), true)
  await guess(service, ada, 10, { from: ELSEWHERE })
  service.clock.advance(minutes(15))
  assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), true, 'right in between: anew')
})

test('guesses from very many networks create a bounded number of rows, which are deleted later', async (t) => {
  // Attack: one guess from each of very many networks, to create a row for each.
  const { service, ada } = await start(t)
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 60; i++) await guess(service, ada, 1, { from: `10.${round}.0.${i}` })
    service.clock.advance(minutes(15))
  }
  const count = async () => (await sql(service, 'select origin from password_failures')).length
  assert.ok((await count()) <= 100, `${await count()} rows`)
  const { sweep } = await import('../../../src/app/janitor.ts')
  service.clock.advance(hours(25))
  await sweep(await service.openStore(), service.clock.now(), service.config.audit.retention)
  assert.equal(await count(), 0)
})

test('R077: with or without a cookie, known and unknown names get the same answer', async (t) => {
  const { service, ada } = await start(t)
  const cookie = await signIn(service, ada, { from: HOME })
  const nobody = { ...ada, username: 'nobody' }
  const answers = new Set<string>()
  for (const who of [ada, nobody]) {
    for (const shown of [undefined, cookie]) {
      const reply = await logIn(service, who, { from: HOME, cookie: shown, password: 'wrong' })
      assertRefused(reply, 401, 'INVALID_AUTH')
      const { date, 'x-request-id': _, ...headers } = reply.headers
      const { error } = reply.json()
      answers.add(JSON.stringify({ headers, error: { ...error, requestId: '' } }))
    }
  }
  assert.equal(answers.size, 1, [...answers].join('\n'))
})

test('R080: a user with a session can change the password, whatever attackers guess', async (t) => {
  const { service, ada } = await start(t)
  const session = await oidcSession(service, ada)
  await guessFromEverywhere(service, ada)
  const own = `${CLIENT_API}/current-identity/authenticators`
  const [{ id }] = (await session.call(own)).json().data
  const json = { password: 'another password of hers', currentPassword: PASSWORD }
  const reply = await session.call(`${own}/${id}`, { method: 'PATCH', json })
  assert.equal(reply.status, 200, reply.text)
})

test('D-216: where a policy never locks, a known device is limited like an address, and by itself', async (t) => {
  // Attack: a stolen cookie, and a policy without locks: as many guesses as the machine can hash.
  const { service, admin, ada } = await start(t, { failuresPerAddress: 5 })
  const primary = { updb: { allowed: true, maxAttempts: 0 } }
  await admin.act('PATCH', '/auth-policies/default', { primary })
  const cookie = await signIn(service, ada, { from: HOME })
  await guess(service, ada, 5, { from: ELSEWHERE, cookie })
  for (const from of [ELSEWHERE, '192.0.2.3']) {
    assertRefused(await logIn(service, ada, { from, cookie }), 429, 'RATE_LIMITED')
  }
  assert.equal(await getsIn(service, ada, { from: ELSEWHERE }), true, 'the address has not failed')
})
