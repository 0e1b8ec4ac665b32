/** Identities: made, read, disabled, enabled, removed. API 3.3, 4.1; D-34. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { milliseconds, minutes } from '../../../src/base/time/duration.ts'
import { CreatedReply, DoneReply } from '../../../src/contract/envelope.ts'
import { IdentityReply } from '../../../src/contract/management/identities.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import {
  administrate,
  assertRefused,
  type CreatedIdentity,
  logInAs,
  MANAGEMENT,
} from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const PASSWORD = 'a password of somebody'

async function passwordIsTaken(service: Service, who: CreatedIdentity): Promise<boolean> {
  const { authRequestId } = await beginLogin(service)
  const { username, password } = who
  const reply = await submitPassword(service, authRequestId, { username, password })
  if (reply.status === 302) return true
  assert.equal(reply.json().error.code, 'INVALID_AUTH')
  return false
}

/** A legacy session of somebody, and what a call by it is answered. */
async function legacySession(service: Service, { username, password }: CreatedIdentity) {
  const url = `${MANAGEMENT}/authenticate?method=password`
  const login = await service.call(url, { json: { username, password } })
  assert.equal(login.status, 200, login.text)
  const headers = { 'zt-session': login.json().data.token }
  return async () => (await service.call('/edge/client/v1/current-identity', { headers })).status
}

test('identities', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)

  await t.test('API 1: an identity is made and read back as the contract has it', async () => {
    const policy = await admin.createPolicy()
    const reply = await admin.call('POST', '/identities', {
      name: 'Zoë',
      type: 'Router',
      isAdmin: false,
      externalId: 'zoe@example.org',
      authPolicyId: policy,
      roleAttributes: ['one', 'two'],
      appData: { theme: 'dark', size: 2 },
      tags: { floor: 3, of: 'a house', empty: null, is: true },
    })
    assert.equal(reply.status, 201, reply.text)
    const body = reply.json()
    assert.deepEqual(CreatedReply.parse(body), body)
    const { id } = body.data
    assert.equal(body.data._links.self.href, `./identities/${id}`)

    const read = (await admin.call('GET', `/identities/${id}`)).json()
    assert.deepEqual(IdentityReply.parse(read), read)
    const { createdAt, updatedAt, authPolicy, ...rest } = read.data
    assert.equal(createdAt, updatedAt)
    assert.equal(authPolicy.id, policy)
    assert.equal(authPolicy.entity, 'auth-policies')
    assert.deepEqual(rest, {
      id,
      name: 'Zoë',
      type: 'Router',
      isAdmin: false,
      externalId: 'zoe@example.org',
      authPolicyId: policy,
      roleAttributes: ['one', 'two'],
      hosts: [],
      appData: { theme: 'dark', size: 2 },
      tags: { floor: 3, of: 'a house', empty: null, is: true },
      _links: { self: { href: `./identities/${id}` } },
      disabled: false,
      disabledAt: null,
      disabledUntil: null,
      lastLoginAt: null,
      isMfaEnabled: false,
      hasApiSession: false,
      envInfo: null,
      sdkInfo: null,
      enrollment: {},
      authenticators: {},
    })
  })

  await t.test('API 4.1: what is left out has its default', async () => {
    const { id } = await admin.createIdentity({ name: 'plain', externalId: null })
    const read = await admin.get(`/identities/${id}`)
    assert.equal(read.authPolicyId, 'default')
    assert.equal(read.externalId, null)
    assert.deepEqual([read.roleAttributes, read.appData, read.tags], [[], {}, {}])
  })

  await t.test('names and external ids are unique; their case counts', async () => {
    await admin.createIdentity({ name: 'unique', externalId: 'id-1' })
    const make = (name: string, externalId: string) =>
      admin.call('POST', '/identities', { name, type: 'Default', isAdmin: false, externalId })
    assertRefused(await make('unique', 'id-2'), 409, 'ENTITY_NAME_IN_USE', 'name')
    assertRefused(await make('another', 'id-1'), 409, 'ENTITY_NAME_IN_USE', 'externalId')
    assert.equal((await make('UNIQUE', 'ID-1')).status, 201)
  })

  await t.test('of several of one name at once one is made', async () => {
    const body = { name: 'at once', type: 'Default', isAdmin: false }
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => admin.call('POST', '/identities', body)),
    )
    assert.equal(replies.filter(({ status }) => status === 201).length, 1)
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      assertRefused(reply, 409, 'ENTITY_NAME_IN_USE', 'name')
    }
  })

  await t.test('shows what an identity has: sessions, password, no hash', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    await logInAs(service, ada)
    const reply = await admin.call('GET', `/identities/${ada.id}`)
    const { hasApiSession, authenticators } = reply.json().data
    assert.equal(hasApiSession, true)
    assert.equal(authenticators.updb.username, ada.username)
    assert.ok(!/argon2|password/i.test(reply.text), reply.text)
  })

  await t.test('D-34: deleting an identity ends all its sessions immediately', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, ada)
    const legacy = await legacySession(service, ada)
    assert.equal(await answerTo(service, access_token), 'taken')
    assert.equal(await legacy(), 200)

    const reply = await admin.call('DELETE', `/identities/${ada.id}`)
    assert.deepEqual(DoneReply.parse(reply.json()), reply.json())
    assert.equal(await answerTo(service, access_token), INVALID)
    assert.equal(await legacy(), 401)
    assert.equal(await passwordIsTaken(service, ada), false)
    assertRefused(await admin.call('GET', `/identities/${ada.id}`), 404, 'NOT_FOUND')
    assertRefused(await admin.call('DELETE', `/identities/${ada.id}`), 404, 'NOT_FOUND')
    const left = await sql(service, `select * from authenticators where identity_id = '${ada.id}'`)
    assert.deepEqual(left, [])
  })

  await t.test('a name is free again after its identity is gone', async () => {
    const first = await admin.createIdentity({ name: 'again', password: PASSWORD })
    await admin.act('DELETE', `/identities/${first.id}`)
    const second = await admin.createIdentity({ name: 'again', password: PASSWORD })
    assert.notEqual(second.id, first.id)
  })

  await t.test(
    'disabling an identity ends all its sessions immediately, until it is enabled',
    async () => {
      const ada = await admin.createIdentity({ password: PASSWORD })
      const { access_token } = await logInAs(service, ada)
      const legacy = await legacySession(service, ada)
      // No body, and durationMinutes 0, are the same.
      await admin.act('POST', `/identities/${ada.id}/disable`)
      assert.equal(await answerTo(service, access_token), INVALID)
      assert.equal(await legacy(), 401)
      assert.equal(await passwordIsTaken(service, ada), false)
      const { disabled, disabledAt, disabledUntil, hasApiSession } = await admin.get(
        `/identities/${ada.id}`,
      )
      assert.deepEqual([disabled, disabledUntil, hasApiSession], [true, null, false])
      assert.ok(disabledAt)

      await admin.act('POST', `/identities/${ada.id}/enable`, {})
      assert.equal(await passwordIsTaken(service, ada), true)
      assert.equal(await answerTo(service, access_token), INVALID, 'an ended session stays ended')
      const enabled = await admin.get(`/identities/${ada.id}`)
      assert.deepEqual([enabled.disabled, enabled.disabledAt], [false, null])
      await admin.act('POST', `/identities/${ada.id}/enable`)
    },
  )

  await t.test('a duration must be a whole number of minutes', async () => {
    const { id } = await admin.createIdentity()
    for (const durationMinutes of [-1, 0.5, '5', 5_256_001, 1e300]) {
      const reply = await admin.call('POST', `/identities/${id}/disable`, { durationMinutes })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'durationMinutes')
    }
    const unknown = await admin.call('POST', `/identities/${id}/disable`, { minutes: 5 })
    assertRefused(unknown, 400, 'COULD_NOT_VALIDATE', 'minutes')
    const given = await admin.call('POST', `/identities/${id}/enable`, { durationMinutes: 5 })
    assertRefused(given, 400, 'COULD_NOT_VALIDATE', 'durationMinutes')
    assert.equal((await admin.get(`/identities/${id}`)).disabled, false)
  })

  await t.test('removing TOTP where there is none is 409', async () => {
    const { id } = await admin.createIdentity()
    assertRefused(await admin.call('DELETE', `/identities/${id}/mfa`), 409, 'MFA_NOT_ENROLLED')
  })

  await t.test('removing TOTP takes the app and its recovery codes away', async () => {
    const { id } = await admin.createIdentity()
    await sql(
      service,
      `insert into totp_enrollments (identity_id, id, sealed_secret, verified_at, created_at)
       values ('${id}', 'e', 'sealed', 1, 1)`,
    )
    await sql(service, `insert into recovery_codes (identity_id, code_hash) values ('${id}', 'h')`)
    assert.equal((await admin.get(`/identities/${id}`)).isMfaEnabled, true)
    await admin.act('DELETE', `/identities/${id}/mfa`)
    assert.equal((await admin.get(`/identities/${id}`)).isMfaEnabled, false)
    assert.deepEqual(await sql(service, `select * from recovery_codes`), [])
    assertRefused(await admin.call('DELETE', `/identities/${id}/mfa`), 409, 'MFA_NOT_ENROLLED')
  })

  await t.test('a deleted administrator loses their rights immediately', async () => {
    const other = await admin.createIdentity({ isAdmin: true, password: PASSWORD })
    const second = await administrate(service, other)
    assert.equal(decodeJwt(second.token)['z_ia'], true)
    await admin.act('DELETE', `/identities/${other.id}`)
    assertRefused(await second.call('GET', '/identities'), 401, 'UNAUTHORIZED')
  })
})

test('an identity that is disabled for some minutes comes back by itself', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const admin = await administrate(service)
  const ada = await admin.createIdentity({ password: PASSWORD })
  await admin.act('POST', `/identities/${ada.id}/disable`, { durationMinutes: 10 })
  const { disabledAt, disabledUntil } = await admin.get(`/identities/${ada.id}`)
  assert.equal(Date.parse(disabledUntil) - Date.parse(disabledAt), minutes(10))

  service.clock.advance(milliseconds(minutes(10) - 1))
  assert.equal((await admin.get(`/identities/${ada.id}`)).disabled, true)
  assert.equal(await passwordIsTaken(service, ada), false)
  service.clock.advance(milliseconds(1))
  assert.equal((await admin.get(`/identities/${ada.id}`)).disabled, false)
  assert.equal(await passwordIsTaken(service, ada), true)
})
