/** PUT and PATCH of identities, and what follows from them for sessions. API 1, 4.1; D-34, D-121, D-122. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { milliseconds } from '../../../src/base/time/duration.ts'
import { DoneReply } from '../../../src/contract/envelope.ts'
import { IdentityReply } from '../../../src/contract/management/identities.ts'
import { eventsOf } from '../../support/audit.ts'
import { answerTo, INVALID } from '../../support/login/challenges.ts'
import { callsOf, legacyToken } from '../../support/login/legacy.ts'
import {
  answerOf,
  beginLogin,
  exchange,
  REDIRECT_URI,
  submitPassword,
} from '../../support/login/login.ts'
import { logInOffline, refresh } from '../../support/login/refresh.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const PASSWORD = 'a password of somebody'

const WHOLE = {
  name: 'Ada',
  type: 'Router',
  isAdmin: true,
  externalId: 'ada@example.org',
  authPolicyId: 'production',
  roleAttributes: ['staff'],
  appData: { floor: 3 },
  tags: { by: 'hand', nothing: null },
} as const

test('identities are replaced and changed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const chosen = async (id: string) => {
    const body = (await admin.call('GET', `/identities/${id}`)).json()
    assert.deepEqual(IdentityReply.parse(body), body)
    const names = Object.keys(WHOLE)
    return Object.fromEntries(names.map((name) => [name, body.data[name]]))
  }
  const create = async (fields: object) => (await admin.createIdentity({ ...fields })).id

  await t.test('API 1: PUT replaces, and what it leaves out has its default', async () => {
    const id = await create({ ...WHOLE, policy: WHOLE.authPolicyId })
    const before = await admin.get(`/identities/${id}`)
    service.clock.advance(milliseconds(5))
    const next = { name: 'Ada L.', type: 'Default', isAdmin: false }
    const reply = await admin.call('PUT', `/identities/${id}`, next)
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(DoneReply.parse(reply.json()), reply.json())
    assert.deepEqual(await chosen(id), {
      ...next,
      externalId: null,
      authPolicyId: 'default',
      roleAttributes: [],
      appData: {},
      tags: {},
    })
    const after = await admin.get(`/identities/${id}`)
    assert.equal(after.createdAt, before.createdAt)
    assert.ok(after.updatedAt > before.updatedAt)
    await admin.act('PUT', `/identities/${id}`, { ...WHOLE, name: 'Ada' })
    assert.deepEqual(await chosen(id), WHOLE)
    await admin.act('DELETE', `/identities/${id}`)
  })

  await t.test('API 1: PATCH changes what is there, and null clears what is optional', async () => {
    const id = await create({ ...WHOLE, policy: WHOLE.authPolicyId })
    await admin.act('PATCH', `/identities/${id}`, { name: 'Ada B.' })
    assert.deepEqual(await chosen(id), { ...WHOLE, name: 'Ada B.' })
    // A map is replaced as a whole, and null in it is a value.
    await admin.act('PATCH', `/identities/${id}`, {
      tags: { new: null },
      roleAttributes: ['a', 'b'],
    })
    const changed = { ...WHOLE, name: 'Ada B.', tags: { new: null }, roleAttributes: ['a', 'b'] }
    assert.deepEqual(await chosen(id), changed)
    await admin.act('PATCH', `/identities/${id}`, {
      externalId: null,
      authPolicyId: null,
      roleAttributes: null,
      appData: null,
      tags: null,
    })
    assert.deepEqual(await chosen(id), {
      name: 'Ada B.',
      type: 'Router',
      isAdmin: true,
      externalId: null,
      authPolicyId: 'default',
      roleAttributes: [],
      appData: {},
      tags: {},
    })
    await admin.act('DELETE', `/identities/${id}`)
  })

  await t.test('an empty PATCH is 200, changes nothing and writes no event', async () => {
    const id = await create({})
    const before = await admin.get(`/identities/${id}`)
    service.clock.advance(milliseconds(5))
    for (const body of [{}, undefined, { name: before.name, tags: {} }]) {
      const reply = await admin.call('PATCH', `/identities/${id}`, body)
      assert.equal(reply.status, 200, reply.text)
      assert.deepEqual(await eventsOf(service, reply), [])
    }
    assert.deepEqual(await admin.get(`/identities/${id}`), before)
  })

  await t.test('API 1: a field that is not known, or not well, is 400 and named', async () => {
    const id = await create({})
    const base = { name: 'x', type: 'Default', isAdmin: false }
    const faults: readonly (readonly [object, string])[] = [
      [{ id: 'other' }, 'id'],
      [{ createdAt: '2026-01-01T00:00:00.000Z' }, 'createdAt'],
      [{ disabled: true }, 'disabled'],
      [{ enrollment: { ott: true } }, 'enrollment'],
      [{ constructor: 1 }, 'constructor'],
      [{ name: '' }, 'name'],
      [{ name: null }, 'name'],
      [{ name: 7 }, 'name'],
      [{ name: 'a\nb' }, 'name'],
      [{ type: 'Device' }, 'type'],
      [{ isAdmin: 'yes' }, 'isAdmin'],
      [{ isAdmin: null }, 'isAdmin'],
      [{ externalId: 'x'.repeat(257) }, 'externalId'],
      [{ authPolicyId: 'nothing' }, 'authPolicyId'],
      [{ roleAttributes: 'staff' }, 'roleAttributes'],
      [{ tags: { deep: {} } }, 'tags.deep'],
    ]
    for (const [fault, field] of faults) {
      const change = await admin.call('PATCH', `/identities/${id}`, fault)
      assertRefused(change, 400, 'COULD_NOT_VALIDATE', field)
      const replacement = await admin.call('PUT', `/identities/${id}`, { ...base, ...fault })
      assertRefused(replacement, 400, 'COULD_NOT_VALIDATE', field)
    }
    for (const missing of ['name', 'type', 'isAdmin'] as const) {
      const { [missing]: _, ...rest } = base
      const reply = await admin.call('PUT', `/identities/${id}`, rest)
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', missing)
    }
    for (const body of [[], 'text', 7]) {
      assertRefused(
        await admin.call('PATCH', `/identities/${id}`, body),
        400,
        'COULD_NOT_VALIDATE',
        'body',
      )
    }
  })

  await t.test('API 1: unique values stay unique, and an unknown id is 404', async () => {
    const one = await admin.createIdentity({ externalId: 'one' })
    const other = await admin.createIdentity({ externalId: 'another' })
    const patch = (body: object) => admin.call('PATCH', `/identities/${other.id}`, body)
    assertRefused(await patch({ name: one.name }), 409, 'ENTITY_NAME_IN_USE', 'name')
    assertRefused(await patch({ externalId: 'one' }), 409, 'ENTITY_NAME_IN_USE', 'externalId')
    assert.equal((await patch({ externalId: 'One' })).status, 200)
    assertRefused(await admin.call('PATCH', '/identities/nobody', {}), 404, 'NOT_FOUND')
    const whole = { name: 'y', type: 'Default', isAdmin: false }
    assertRefused(await admin.call('PUT', '/identities/nobody', whole), 404, 'NOT_FOUND')
  })

  await t.test(
    'R108, R109: the event names the fields, with old and new values, and nothing of free maps',
    async () => {
      const { id, name } = await admin.createIdentity()
      const policy = await admin.createPolicy({ name: 'strict' })
      const change = {
        name: 'Ada Renamed',
        authPolicyId: policy,
        tags: { note: 'MARKER-1' },
        appData: { note: 'MARKER-2' },
      }
      const [event, ...more] = await eventsOf(
        service,
        await admin.call('PATCH', `/identities/${id}`, change),
      )
      assert.deepEqual(more, [])
      assert.equal(event?.type, 'identity.updated')
      assert.equal(event?.identityId, id)
      assert.deepEqual(event?.details.changed.toSorted(), [
        'appData',
        'authPolicyId',
        'name',
        'tags',
      ])
      assert.deepEqual(event?.details.changes, {
        name: { from: name, to: 'Ada Renamed' },
        authPolicyId: { from: 'default', to: policy },
        authPolicy: { from: 'default', to: 'strict' },
      })
      assert.ok(!JSON.stringify(event).includes('MARKER'))
    },
  )

  // Attack: whoever has lost his rights goes on with a token that still says that he has them. D-34.
  const cuts: Readonly<Record<string, { from: object; to: object }>> = {
    'administrator no more': { from: { isAdmin: true }, to: { isAdmin: false } },
    'administrator from now on': { from: {}, to: { isAdmin: true } },
    'another policy': { from: {}, to: { authPolicyId: 'production' } },
    'another type': { from: {}, to: { type: 'Router' } },
    'another external id': { from: {}, to: { externalId: 'somebody else' } },
  }
  for (const [what, { from, to }] of Object.entries(cuts)) {
    await t.test(`D-122: ${what} ends every session of that identity alone`, async () => {
      const ada = await admin.createIdentity({ ...from, password: PASSWORD })
      const { access_token, refresh_token } = await logInOffline(service, {}, ada)
      const legacy = callsOf(service, await legacyToken(service, ada))
      assert.equal((await legacy('/edge/client/v1/current-identity')).status, 200)
      const reply = await admin.call('PATCH', `/identities/${ada.id}`, to)
      assert.equal(reply.status, 200, reply.text)
      assert.equal(await answerTo(service, access_token), INVALID)
      assert.equal((await refresh(service, refresh_token)).json().error, 'invalid_grant')
      const after = await legacy('/edge/client/v1/current-identity')
      assertRefused(after, 401, 'UNAUTHORIZED')
      const ended = (await eventsOf(service, reply)).filter(({ type }) => type === 'session.ended')
      assert.deepEqual(
        ended.map(({ reason }) => reason),
        ['identity-changed', 'identity-changed'],
      )
      assert.equal(await answerTo(service, admin.token), 'taken')
    })
  }

  await t.test('another name or other tags end nothing', async () => {
    const ada = await admin.createIdentity({ password: PASSWORD })
    const { access_token } = await logInAs(service, ada)
    const change = { name: 'renamed', tags: { a: 1 }, roleAttributes: ['b'], appData: { c: 2 } }
    await admin.act('PATCH', `/identities/${ada.id}`, change)
    assert.equal(await answerTo(service, access_token), 'taken')
  })

  await t.test(
    'a login under way when the policy changes hands is judged by the new one',
    async () => {
      const ada = await admin.createIdentity({ password: PASSWORD })
      const { authRequestId, verifier } = await beginLogin(service)
      const { username, password } = ada
      const answer = answerOf(await submitPassword(service, authRequestId, { username, password }))
      await admin.act('PATCH', `/identities/${ada.id}`, { authPolicyId: 'production' })
      const reply = await exchange(service, {
        code: answer.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: REDIRECT_URI,
      })
      assert.equal(reply.json().error, 'invalid_grant')
    },
  )

  await t.test('two PATCHes of different fields at once both stand', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id } = await admin.createIdentity()
      const changes = [{ tags: { round } }, { appData: { round } }, { roleAttributes: ['r'] }]
      const replies = await Promise.all(
        changes.map((change) => admin.call('PATCH', `/identities/${id}`, change)),
      )
      for (const reply of replies) assert.equal(reply.status, 200, reply.text)
      const { tags, appData, roleAttributes } = await admin.get(`/identities/${id}`)
      assert.deepEqual({ tags, appData, roleAttributes }, Object.assign({}, ...changes))
    }
  })
})

test('API 4.1: an identity shows what its last legacy login told of its client', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ada = await admin.createIdentity({ password: PASSWORD })
  const told = async () => {
    const { envInfo, sdkInfo } = await admin.get(`/identities/${ada.id}`)
    return { envInfo, sdkInfo }
  }
  const login = async (body: object) => {
    const { username, password } = ada
    const json = { username, password, ...body }
    const reply = await service.call('/edge/client/v1/authenticate?method=password', { json })
    assert.equal(reply.status, 200, reply.text)
  }
  assert.deepEqual(await told(), { envInfo: null, sdkInfo: null })
  await login({ envInfo: { os: 'linux', arch: 'x64' }, sdkInfo: { type: 'go', version: '1.2' } })
  const first = { envInfo: { os: 'linux', arch: 'x64' }, sdkInfo: { type: 'go', version: '1.2' } }
  assert.deepEqual(await told(), first)
  await login({})
  assert.deepEqual(await told(), first, 'a login that tells nothing leaves what is known')

  // Attack: a client fills the row with whatever it likes. Nothing of it is refused, and nothing of it is kept.
  await login({
    envInfo: {
      os: 'plan9',
      hostname: 'x'.repeat(257),
      arch: { deep: 1 },
      domain: 'a\u0000b',
      osRelease: 7,
      osVersion: '',
      other: 'unknown',
    },
    sdkInfo: ['not', 'a', 'map'],
  })
  assert.deepEqual(await told(), { ...first, envInfo: { os: 'plan9' } })
  await login({ envInfo: null, sdkInfo: 'text' })
  assert.deepEqual(await told(), { ...first, envInfo: { os: 'plan9' } })
})
