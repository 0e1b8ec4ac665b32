/**
 * What a router asks about a `zt-session` that came to it: good or not, and whose. For routers alone. D-36, D-42.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { minutes } from '../../../src/base/time/duration.ts'
import { RouterCheckReply } from '../../../src/contract/router-checks.ts'
import { failureOf } from '../../support/audit.ts'
import { presenting } from '../../support/certificates/certificate-login.ts'
import { enrollRouter } from '../../support/edge/feed-client.ts'
import { legacySession, oidcSession } from '../../support/edge/live-session.ts'
import { totpPolicy } from '../../support/login/authenticator-app.ts'
import { CLIENT_API } from '../../support/login/legacy.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { demand } from '../../support/policies.ts'
import { ADMIN, startService } from '../../support/service.ts'

const CHECKS = `${CLIENT_API}/router-checks`
const PASSWORD = 'a password of somebody'
const INACTIVE = { data: { isActive: false }, meta: {} }

async function world(t: TestContext) {
  const service = await startService(t)
  const admin = await administrate(service)
  const { certificate } = await enrollRouter(t, admin)
  const router = presenting(service, certificate)
  const check = async (ztSession: string) => {
    const reply = await router.call(CHECKS, { json: { ztSession } })
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(RouterCheckReply.parse(reply.json()), reply.json())
    return reply.json()
  }
  return { service, admin, router, check }
}

test('D-42: a good session is active, with what a router needs to know about it', async (t) => {
  const { service, admin, check } = await world(t)
  service.clock.hold()
  const person = await admin.createIdentity({
    password: PASSWORD,
    externalId: 'zoe@example.org',
    roleAttributes: ['ops'],
  })
  const session = await legacySession(service, person)
  const expiresAt = new Date(service.clock.now() + minutes(30)).toISOString()
  assert.deepEqual(await check(session.token), {
    data: {
      isActive: true,
      sessionId: session.id,
      identityId: person.id,
      externalId: 'zoe@example.org',
      isAdmin: false,
      expiresAt,
      authPolicyId: 'default',
      amr: ['pwd'],
      externalJwtSignerId: null,
      caId: null,
      authenticatedAt: new Date(service.clock.now()).toISOString(),
      roleAttributes: ['ops'],
      roleVersion: 0,
    },
    meta: {},
  })
  const { data } = await check((await legacySession(service)).token)
  assert.deepEqual([data.isActive, data.isAdmin, data.externalId], [true, true, null])
})

test('D-42: unknown, ended, expired and malformed sessions are all the same: not active', async (t) => {
  const { service, admin, check } = await world(t)
  const ended = await legacySession(service)
  await admin.act('DELETE', `/api-sessions/${ended.id}`)
  const access = await oidcSession(service)
  for (const token of [
    ended.token,
    'x',
    'x'.repeat(256),
    ended.token.slice(1),
    `${ended.token} `,
    ended.id,
    '\u0000',
    'é🔑',
    access.refreshToken ?? '',
  ]) {
    assert.deepEqual(await check(token), INACTIVE, token)
  }
  const expired = await legacySession(service)
  assert.equal((await check(expired.token)).data.isActive, true)
  service.clock.advance(minutes(31))
  assert.deepEqual(await check(expired.token), INACTIVE)
})

test('D-42: a session whose factors are outstanding is not active', async (t) => {
  const { service, admin, check } = await world(t)
  const required = await totpPolicy(admin)
  const partial = await admin.createIdentity({ password: PASSWORD, policy: required })
  assert.deepEqual(await check((await legacySession(service, partial)).token), INACTIVE)

  // D-52: and one whose policy has begun to demand more turns partial.
  const policy = await admin.createPolicy()
  const person = await admin.createIdentity({ password: PASSWORD, policy })
  const session = await legacySession(service, person)
  assert.equal((await check(session.token)).data.isActive, true)
  await demand(admin, policy, { requireTotp: true })
  assert.deepEqual(await check(session.token), INACTIVE)
})

test('D-34: a session of a disabled identity is not active', async (t) => {
  const { service, admin, check } = await world(t)
  const person = await admin.createIdentity({ password: PASSWORD })
  const session = await legacySession(service, person)
  assert.equal((await check(session.token)).data.isActive, true)
  await admin.act('POST', `/identities/${person.id}/disable`, { durationMinutes: 0 })
  assert.deepEqual(await check(session.token), INACTIVE)
})

test('D-36: a session that is used at a router does not go idle', async (t) => {
  const { service, check } = await world(t)
  service.clock.hold()
  const session = await legacySession(service)
  for (let i = 0; i < 3; i++) {
    service.clock.advance(minutes(20))
    assert.equal((await check(session.token)).data.isActive, true)
  }
})

test('D-42: callers that are not routers are refused: 401 without a certificate, 403 with one of another identity', async (t) => {
  // Attack: whoever could ask would have an oracle for stolen tokens.
  const { service, admin } = await world(t)
  const session = await legacySession(service)
  const json = { ztSession: session.token }
  const nobody = await service.call(CHECKS, { json })
  assertRefused(nobody, 401, 'INVALID_AUTH')
  assert.equal((await failureOf(service, nobody)).reason, 'no-certificate')
  for (const one of [session, await oidcSession(service, ADMIN)]) {
    assertRefused(await one.call(CHECKS, { json }), 401, 'INVALID_AUTH')
  }
  for (const fields of [{ type: 'Default' }, { type: 'Default', isAdmin: true }]) {
    const { certificate } = await enrollRouter(t, admin, fields)
    const reply = await presenting(service, certificate).call(CHECKS, { json })
    assertRefused(reply, 403, 'FORBIDDEN')
    assert.doesNotMatch(reply.text, /isActive/)
  }
})

test('D-45: a body that is not a check is refused by its field', async (t) => {
  const { router } = await world(t)
  for (const [json, field] of [
    [{}, 'ztSession'],
    [{ ztSession: '' }, 'ztSession'],
    [{ ztSession: 7 }, 'ztSession'],
    [{ ztSession: 'x'.repeat(257) }, 'ztSession'],
    [{ ztSession: 'x', more: 1 }, 'more'],
    [[], 'body'],
  ] as const) {
    assertRefused(await router.call(CHECKS, { json }), 400, 'COULD_NOT_VALIDATE', field)
  }
  const form = await router.call(CHECKS, { form: [['ztSession', 'x']] })
  assertRefused(form, 415, 'UNSUPPORTED_MEDIA_TYPE')
})

test('D-42: a disabled router may no longer ask', async (t) => {
  const { service, admin } = await world(t)
  const { certificate, identityId } = await enrollRouter(t, admin)
  const router = presenting(service, certificate)
  const json = { ztSession: 'x' }
  assert.equal((await router.call(CHECKS, { json })).status, 200)
  await admin.act('POST', `/identities/${identityId}/disable`, { durationMinutes: 0 })
  assertRefused(await router.call(CHECKS, { json }), 401, 'INVALID_AUTH')
})
