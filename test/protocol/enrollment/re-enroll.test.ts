/** An administrator has an authenticator replaced: it is gone at once, and an enrollment takes its place. D-128. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvitationReply } from '../../../src/contract/management/enrollments.ts'
import { eventsOf } from '../../support/audit.ts'
import {
  logInByCertificate,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import {
  CLIENT,
  enrollByPassword,
  enrolledCertificate,
  inviteNew,
  PASSWORD,
} from '../../support/certificates/enrollment.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { ADMIN, startService } from '../../support/service.ts'

test('D-128: an authenticator is replaced by an enrollment of its kind', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const tool = await openOpenssl()
  t.after(() => tool.close())
  const reEnroll = (id: string, json: object = {}) =>
    admin.call('POST', `/authenticators/${id}/re-enroll`, json)
  const authenticatorsOf = async (id: string) =>
    (await admin.get(`/identities/${id}`)).authenticators

  await t.test('a password: sessions end, the name stays, a new password logs in', async () => {
    const person = await admin.createIdentity({ username: 'Again', password: PASSWORD })
    const { access_token } = await logInAs(service, person)
    const { updb } = await authenticatorsOf(person.id)
    const reply = await reEnroll(updb.id)
    assert.equal(reply.status, 201, reply.text)
    const { data } = InvitationReply.parse(reply.json())
    const types = (await eventsOf(service, reply)).map(({ type }) => type).toSorted()
    assert.deepEqual(types, ['authenticator.deleted', 'enrollment.created', 'session.ended'])
    const call = { headers: { authorization: `Bearer ${access_token}` } }
    const ended = await service.call(`${CLIENT}/current-identity`, call)
    assertRefused(ended, 401, 'UNAUTHORIZED')
    assert.deepEqual(await authenticatorsOf(person.id), {})
    const enrollment = await admin.get(`/enrollments/${data.id}`)
    assert.deepEqual([enrollment.method, enrollment.username], ['updb', 'Again'])
    const next = { username: 'again', password: 'another one of my own' }
    assert.equal((await enrollByPassword(service, data.token, next)).status, 200)
    await logInAs(service, next)
  })

  await t.test('a certificate of ours: the next is one of ours', async () => {
    const invited = await inviteNew(admin, { ott: true })
    const held = await enrolledCertificate(service, invited.token)
    const { cert } = await authenticatorsOf(invited.identityId)
    const expiresAt = new Date(service.clock.now() + 60_000).toISOString()
    const { data } = (await reEnroll(cert.id, { expiresAt })).json()
    assert.equal(data.expiresAt, expiresAt)
    await assert.rejects(logInByCertificate(presenting(service, held)))
    const next = await enrolledCertificate(service, data.token)
    await logInByCertificate(presenting(service, next))
  })

  await t.test('one of a CA: by that CA where it enrolls by token, else not at all', async () => {
    for (const isOttCaEnrollmentEnabled of [true, false]) {
      const ca = await tool.makeCa()
      const caId = await registerCa(admin, tool, ca, { isOttCaEnrollmentEnabled })
      const { pem: certPem } = await tool.makeLeaf(ca)
      const { id } = await admin.createIdentity({ certPem })
      const { cert } = await authenticatorsOf(id)
      const reply = await reEnroll(cert.id)
      if (isOttCaEnrollmentEnabled) {
        const { method, caId: named } = await admin.get(`/enrollments/${reply.json().data.id}`)
        assert.deepEqual([method, named], ['ottca', caId])
      } else {
        assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'id')
        assert.deepEqual(await authenticatorsOf(id), { cert })
      }
    }
  })

  await t.test(
    'both or nothing: what is refused leaves the authenticator where it was',
    async () => {
      const invited = await inviteNew(admin, { updb: 'before' })
      const credentials = { username: 'by-hand', password: PASSWORD }
      const updb = { method: 'updb', identityId: invited.identityId, ...credentials }
      const id = await admin.create('/authenticators', updb)
      const { access_token } = await logInAs(service, credentials)
      const past = new Date(service.clock.now() - 1).toISOString()
      const wrong = await reEnroll(id, { expiresAt: past })
      assertRefused(wrong, 400, 'COULD_NOT_VALIDATE', 'expiresAt')
      const second = await reEnroll(id)
      assertRefused(second, 409, 'ENROLLMENT_EXISTS')
      assert.deepEqual(await eventsOf(service, second), [])
      const call = { headers: { authorization: `Bearer ${access_token}` } }
      assert.equal((await service.call(`${CLIENT}/current-identity`, call)).status, 200)
      await logInAs(service, credentials)
      assertRefused(await reEnroll('nothing'), 404, 'NOT_FOUND')
    },
  )

  await t.test('D-49: the last administrator cannot lock out all administrators', async () => {
    const me = await admin.get('/current-identity')
    const { updb } = await authenticatorsOf(me.id)
    assertRefused(await reEnroll(updb.id), 409, 'LAST_ADMINISTRATOR')
    assert.deepEqual((await admin.get(`/identities/${me.id}`)).enrollment, {})
    await logInAs(service, ADMIN)
  })
})
