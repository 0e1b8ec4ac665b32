/** Enrollments as administrators see them: made, read, refreshed, withdrawn. API 3.3, 4.3; D-125. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { days, hours, seconds } from '../../../src/base/time/duration.ts'
import { DoneReply } from '../../../src/contract/envelope.ts'
import {
  CreatedIdentityReply,
  EnrollmentListReply,
  EnrollmentReply,
  InvitationReply,
} from '../../../src/contract/management/enrollments.ts'
import { IdentityReply } from '../../../src/contract/management/identities.ts'
import { eventsOf } from '../../support/audit.ts'
import { registerCa } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import {
  enrollByCsr,
  enrollByPassword,
  enrolledCertificate,
  inviteNew,
  PASSWORD,
} from '../../support/certificates/enrollment.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const DAY = days(1)

test('enrollments', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const ca = await tool.makeCa()
  const caId = await registerCa(admin, tool, ca, { isOttCaEnrollmentEnabled: true })
  const invite = (fields: object) => admin.call('POST', '/enrollments', fields)
  const inMs = (later: number) => new Date(service.clock.now() + later).toISOString()

  await t.test('API 4.3: each method is made and read back, without its token', async () => {
    const { id: identityId, name } = await admin.createIdentity()
    const kinds = [
      { method: 'ott' },
      { method: 'updb', username: 'reader' },
      { method: 'ottca', caId },
    ]
    for (const kind of kinds) {
      const before = service.clock.now()
      const made = await invite({ ...kind, identityId, tags: { by: 'hand' } })
      assert.equal(made.status, 201, made.text)
      assert.equal(made.headers['cache-control'], 'no-store')
      const { data } = InvitationReply.parse(made.json())
      assert.deepEqual(made.json().data, data)
      assert.match(data.token, /^lke_[\w-]{43}$/)
      assert.equal(data._links.self.href, `./enrollments/${data.id}`)
      const left = Date.parse(data.expiresAt) - before
      assert.ok(left >= DAY && left < DAY + 60_000, 'a day by default')
      const [event] = await eventsOf(service, made)
      assert.deepEqual(
        [event?.type, event?.identityId, event?.details],
        ['enrollment.created', identityId, { id: data.id }],
      )

      const reply = await admin.call('GET', `/enrollments/${data.id}`)
      const body = reply.json()
      assert.deepEqual(EnrollmentReply.parse(body), body)
      const { expiresAt, id } = data
      const expected = { ...kind, id, identityId, expiresAt, usedAt: null, tags: { by: 'hand' } }
      assert.deepEqual({ ...body.data, ...expected }, body.data)
      assert.equal(body.data.identity.name, name)
      assert.ok(!reply.text.includes(data.token))
      assert.ok(!/token|jwt|hash/i.test(reply.text), reply.text)
    }

    for (const path of ['/enrollments?limit=500', `/identities/${identityId}/enrollments`]) {
      const reply = await admin.call('GET', path)
      const body = reply.json()
      assert.deepEqual(EnrollmentListReply.parse(body), body)
      const own = body.data.filter((one: { identityId: string }) => one.identityId === identityId)
      assert.deepEqual(own.map((one: { method: string }) => one.method).toSorted(), [
        'ott',
        'ottca',
        'updb',
      ])
      assert.ok(!/lke_|jwt|hash/i.test(reply.text))
    }
    const identity = (await admin.call('GET', `/identities/${identityId}`)).json()
    assert.deepEqual(IdentityReply.parse(identity), identity)
    const { enrollment } = identity.data
    assert.deepEqual(Object.keys(enrollment).toSorted(), ['ott', 'ottca', 'updb'])
    assert.equal(enrollment.updb.username, 'reader')
    assert.equal(enrollment.ottca.caId, caId)
    assert.deepEqual(Object.keys(enrollment.ott).toSorted(), ['expiresAt', 'id', 'method'])
  })

  await t.test('API 2: the list is filtered and sorted by its fields', async () => {
    const { id, identityId } = await inviteNew(admin, { updb: 'filtered' })
    const filter = encodeURIComponent('username = "filtered" and usedAt = null')
    const reply = await admin.call('GET', `/enrollments?filter=${filter}&sort=expiresAt desc`)
    assert.deepEqual(
      reply.json().data.map((one: { id: string }) => one.id),
      [id],
    )
    const own = await admin.get(`/identities/${identityId}/enrollments?filter=method="ott"`)
    assert.deepEqual(own, [])
    for (const secret of ['token', 'tokenHash', 'token_hash']) {
      const wrong = await admin.call('GET', `/enrollments?filter=${secret}="x"`)
      assertRefused(wrong, 400, 'INVALID_FILTER', 'filter')
    }
  })

  await t.test('API 3.3: an identity is made with its enrollment, both or neither', async () => {
    const identity = { name: 'with', type: 'Default', isAdmin: false }
    const reply = await admin.call('POST', '/identities', {
      ...identity,
      enrollment: { updb: 'with' },
    })
    assert.equal(reply.status, 201, reply.text)
    const body = reply.json()
    assert.deepEqual(CreatedIdentityReply.parse(body), body)
    assert.equal(body.data._links.self.href, `./identities/${body.data.id}`)
    const types = (await eventsOf(service, reply)).map(({ type }) => type).toSorted()
    assert.deepEqual(types, ['enrollment.created', 'identity.created'])
    const { id, token } = body.data.enrollment
    assert.equal((await admin.get(`/enrollments/${id}`)).identityId, body.data.id)
    const credentials = { username: 'with', password: PASSWORD }
    assert.equal((await enrollByPassword(service, token, credentials)).status, 200)

    const refused = await admin.call('POST', '/identities', {
      ...identity,
      name: 'without',
      enrollment: { updb: 'WITH' },
    })
    assertRefused(refused, 409, 'ENTITY_NAME_IN_USE', 'enrollment.updb')
    const found = await admin.get(`/identities?filter=${encodeURIComponent('name = "without"')}`)
    assert.deepEqual(found, [])

    const plain = await admin.call('POST', '/identities', { ...identity, name: 'plain' })
    assert.deepEqual(Object.keys(plain.json().data).toSorted(), ['_links', 'id'])
  })

  await t.test('an identity is invited in exactly one way', async () => {
    const faults: [unknown, string][] = [
      [{}, 'enrollment'],
      [{ ott: true, updb: 'both' }, 'enrollment'],
      [{ ott: false }, 'enrollment.ott'],
      [{ ott: 'true' }, 'enrollment.ott'],
      [{ updb: '' }, 'enrollment.updb'],
      [{ updb: ' blank' }, 'enrollment.updb'],
      [{ ottca: 1 }, 'enrollment.ottca'],
      [{ other: true }, 'enrollment.other'],
      ['ott', 'enrollment'],
      [{ ottca: 'nothing' }, 'enrollment.ottca'],
    ]
    for (const [enrollment, field] of faults) {
      const identity = { name: 'faulty', type: 'Default', isAdmin: false, enrollment }
      const reply = await admin.call('POST', '/identities', identity)
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', field)
    }
  })

  await t.test('what cannot be is refused with its field', async () => {
    const { id: identityId } = await admin.createIdentity()
    const disabled = await registerCa(admin, tool, await tool.makeCa())
    const unverified = await admin.createCa({
      certPem: (await tool.makeCa()).pem,
      isOttCaEnrollmentEnabled: true,
    })
    const faults: [object, string][] = [
      [{ identityId }, 'method'],
      [{ identityId, method: 'ca' }, 'method'],
      [{ method: 'ott' }, 'identityId'],
      [{ method: 'ott', identityId: 'nobody' }, 'identityId'],
      [{ method: 'ott', identityId, username: 'x' }, 'username'],
      [{ method: 'ott', identityId, token: 'mine' }, 'token'],
      [{ method: 'updb', identityId }, 'username'],
      [{ method: 'updb', identityId, username: 'a\nb' }, 'username'],
      [{ method: 'updb', identityId, username: '\ufdfa'.repeat(200) }, 'username'],
      [{ method: 'ottca', identityId }, 'caId'],
      [{ method: 'ottca', identityId, caId: 'nothing' }, 'caId'],
      [{ method: 'ottca', identityId, caId: disabled }, 'caId'],
      [{ method: 'ottca', identityId, caId: unverified }, 'caId'],
      [{ method: 'ott', identityId, expiresAt: 'tomorrow' }, 'expiresAt'],
      [{ method: 'ott', identityId, expiresAt: 1 }, 'expiresAt'],
      [{ method: 'ott', identityId, expiresAt: '2026-02-30T00:00:00Z' }, 'expiresAt'],
      [{ method: 'ott', identityId, expiresAt: inMs(-1_000) }, 'expiresAt'],
      [{ method: 'ott', identityId, expiresAt: inMs(366 * DAY) }, 'expiresAt'],
    ]
    for (const [fields, field] of faults) {
      assertRefused(await invite(fields), 400, 'COULD_NOT_VALIDATE', field)
    }
    const { enrollment } = await admin.get(`/identities/${identityId}`)
    assert.deepEqual(enrollment, {})
  })

  await t.test('the administrator may say until when, up to a year ahead', async () => {
    const { id: identityId } = await admin.createIdentity()
    const expiresAt = inMs(365 * DAY - 60_000)
    const reply = await invite({ method: 'ott', identityId, expiresAt })
    assert.equal(reply.json().data.expiresAt, expiresAt)
  })

  await t.test(
    'a second open one of the method is refused, as is one for what is there',
    async () => {
      const { id: identityId } = await admin.createIdentity({ password: PASSWORD })
      assert.equal((await invite({ method: 'ott', identityId })).status, 201)
      assertRefused(await invite({ method: 'ott', identityId }), 409, 'ENROLLMENT_EXISTS')
      const updb = await invite({ method: 'updb', identityId, username: 'another' })
      assertRefused(updb, 409, 'MAX_AUTHENTICATOR_METHODS_REACHED')

      const enrolled = await inviteNew(admin, { ott: true })
      await enrolledCertificate(service, enrolled.token)
      for (const kind of [{ method: 'ott' }, { method: 'ottca', caId }]) {
        const reply = await invite({ ...kind, identityId: enrolled.identityId })
        assertRefused(reply, 409, 'MAX_AUTHENTICATOR_METHODS_REACHED')
      }
    },
  )

  await t.test('a username that is in use or in another invitation is refused', async () => {
    const { id: identityId } = await admin.createIdentity()
    await inviteNew(admin, { updb: 'reserved' })
    for (const username of ['ADMIN', 'Reserved']) {
      const reply = await invite({ method: 'updb', identityId, username })
      assertRefused(reply, 409, 'ENTITY_NAME_IN_USE', 'username')
    }
  })

  await t.test(
    'D-125: one that has expired makes way, for its identity and for its name',
    async () => {
      const old = await inviteNew(admin, { updb: 'expiring' })
      service.clock.advance(hours(25))
      const late = await administrate(service)
      const again = await late.call('POST', '/enrollments', {
        method: 'updb',
        identityId: old.identityId,
        username: 'expiring',
      })
      assert.equal(again.status, 201, again.text)
      const types = (await eventsOf(service, again)).map(({ type }) => type).toSorted()
      assert.deepEqual(types, ['enrollment.created', 'enrollment.deleted'])
      assertRefused(await late.call('GET', `/enrollments/${old.id}`), 404, 'NOT_FOUND')
      service.clock.advance(hours(25))
      const later = await administrate(service)
      const other = await inviteNew(later, { updb: 'Expiring' })
      assert.ok(other.token)
    },
  )
})

test('an enrollment is refreshed and withdrawn', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const { pem: csr } = await makeCsr()
  const refresh = (id: string, json: object = {}) =>
    admin.call('POST', `/enrollments/${id}/refresh`, json)

  await t.test('API 3.3: another token and end; the former token opens nothing', async () => {
    const old = await inviteNew(admin, { ott: true })
    const expiresAt = new Date(service.clock.now() + 3_600_000).toISOString()
    const reply = await refresh(old.id, { expiresAt })
    assert.equal(reply.status, 200, reply.text)
    const { data } = InvitationReply.parse(reply.json())
    assert.deepEqual([data.id, data.expiresAt], [old.id, expiresAt])
    assert.notEqual(data.token, old.token)
    assert.equal((await eventsOf(service, reply))[0]?.type, 'enrollment.refreshed')
    const former = await enrollByCsr(service, old.token, csr)
    assertRefused(former, 400, 'INVALID_ENROLLMENT_TOKEN')
    assert.equal((await enrollByCsr(service, data.token, csr)).status, 200)
    assertRefused(await refresh(old.id), 400, 'ENROLLMENT_USED')
  })

  await t.test('one that has expired is good again', async () => {
    const old = await inviteNew(admin, { ott: true })
    service.clock.advance(hours(25))
    const late = await administrate(service)
    assert.deepEqual((await late.get(`/identities/${old.identityId}`)).enrollment, {})
    const reply = await late.call('POST', `/enrollments/${old.id}/refresh`)
    const { token } = reply.json().data
    assert.equal((await enrollByCsr(service, token, csr)).status, 200)
  })

  await t.test('what cannot be is refused', async () => {
    const late = await administrate(service)
    const { id } = await inviteNew(late, { ott: true })
    const path = `/enrollments/${id}/refresh`
    const past = new Date(service.clock.now() - 1).toISOString()
    for (const json of [{ expiresAt: past }, { expiresAt: 5 }]) {
      assertRefused(await late.call('POST', path, json), 400, 'COULD_NOT_VALIDATE', 'expiresAt')
    }
    const other = await late.call('POST', path, { token: 'x' })
    assertRefused(other, 400, 'COULD_NOT_VALIDATE', 'token')
    for (const [method, at] of [
      ['POST', '/enrollments/nothing/refresh'],
      ['GET', '/enrollments/nothing'],
      ['DELETE', '/enrollments/nothing'],
      ['GET', '/identities/nothing/enrollments'],
    ] as const) {
      assertRefused(await late.call(method, at), 404, 'NOT_FOUND')
    }
    // API 3.3: an enrollment is refreshed or deleted, never changed.
    for (const method of ['PUT', 'PATCH']) {
      const one = await late.call(method, `/enrollments/${id}`, {})
      assertRefused(one, 405, 'METHOD_NOT_ALLOWED')
      assert.deepEqual(one.headers.allow?.split(', ').toSorted(), ['DELETE', 'GET', 'HEAD'])
      const all = await late.call(method, '/enrollments', {})
      assertRefused(all, 405, 'METHOD_NOT_ALLOWED')
      assert.deepEqual(all.headers.allow?.split(', ').toSorted(), ['GET', 'HEAD', 'POST'])
    }
    const removed = await late.call('DELETE', `/enrollments/${id}`)
    assert.deepEqual(DoneReply.parse(removed.json()), removed.json())
    assert.equal((await eventsOf(service, removed))[0]?.type, 'enrollment.deleted')
    assertRefused(await late.call('DELETE', `/enrollments/${id}`), 404, 'NOT_FOUND')
  })
})

test('D-125: used and expired ones stay for thirty days, then go', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const { pem: csr } = await makeCsr()
  const used = await inviteNew(admin, { ott: true })
  assert.equal((await enrollByCsr(service, used.token, csr)).status, 200)
  const expired = await inviteNew(admin, { updb: 'never' })
  const store = await service.openStore()
  const { sweep } = await import('../../../src/app/janitor.ts')
  const states = async () => {
    const replies = [
      await enrollByCsr(service, used.token, csr),
      await enrollByPassword(service, expired.token, { username: 'never', password: PASSWORD }),
    ]
    return replies.map((reply) => reply.json().error.code)
  }
  service.clock.advance(days(31))
  service.clock.advance(seconds(-60))
  await sweep(store, service.clock.now(), days(90))
  assert.deepEqual(await states(), ['ENROLLMENT_USED', 'ENROLLMENT_EXPIRED'])
  service.clock.advance(seconds(120))
  await sweep(store, service.clock.now(), days(90))
  assert.deepEqual(await states(), ['INVALID_ENROLLMENT_TOKEN', 'INVALID_ENROLLMENT_TOKEN'])
})
