/** Two holders of one token, two administrators, an end and a beginning at the same moment. D-48, D-125, D-127. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { logInByCertificate, presenting } from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import {
  enrollByCsr,
  enrollByPassword,
  inviteNew,
  PASSWORD,
} from '../../support/certificates/enrollment.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import {
  enrolledPerson,
  extend,
  extendVerify,
  whoLogsIn,
} from '../../support/certificates/renewal.ts'
import { onceReady, type Reply } from '../../support/http-client.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService, temporaryFolder } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'
import { sql } from '../../support/stores/sql.ts'

after(async () => (await startPostgres()).stop())

const DATABASES: Record<string, (t: TestContext) => Promise<string>> = {
  SQLite: async (t) => join(await temporaryFolder(t), 'shared.db'),
  PostgreSQL: migratedDatabase,
}

const TWENTY = Array.from({ length: 20 }, (_, i) => i)

const codeOf = (reply: Reply) => (reply.status < 300 ? reply.status : reply.json().error.code)

for (const [name, database] of Object.entries(DATABASES)) {
  test(`at the same moment, on two instances with ${name}`, async (t) => {
    const shared = await installation(await database(t))
    const config = { edge: { limits: { failuresPerAddress: 0 } } }
    const one = await shared.start(t, { config })
    const other = await shared.start(t, { config })
    const admin = await administrate(one)
    const { pem: csr } = await makeCsr()
    const either = (i: number) => (i % 2 === 0 ? one : other)

    await t.test('of twenty that enroll with one token, one gets a certificate', async () => {
      const { token, identityId } = await inviteNew(admin, { ott: true })
      const replies = await Promise.all(TWENTY.map((i) => enrollByCsr(either(i), token, csr)))
      assert.deepEqual(replies.map(codeOf).map(String).toSorted(), [
        '200',
        ...Array(19).fill('ENROLLMENT_USED'),
      ])
      const own = await admin.get(`/identities/${identityId}/authenticators`)
      assert.equal(own.length, 1)
    })

    await t.test('of several passwords for one token, one logs in', async () => {
      const { token } = await inviteNew(admin, { updb: 'racer' })
      const passwords = TWENTY.slice(0, 6).map((i) => `${PASSWORD} ${i}`)
      const replies = await Promise.all(
        passwords.map((password, i) =>
          enrollByPassword(either(i), token, { username: 'racer', password }),
        ),
      )
      const winner = replies.findIndex(({ status }) => status === 200)
      assert.deepEqual(replies.map(codeOf).map(String).toSorted(), [
        '200',
        ...Array(5).fill('ENROLLMENT_USED'),
      ])
      await logInAs(other, { username: 'racer', password: passwords[winner] ?? '' })
    })

    await t.test('of twenty invitations of one identity, one is made', async () => {
      const { id: identityId } = await admin.createIdentity()
      const there = await administrate(other)
      const replies = await Promise.all(
        TWENTY.map((i) => {
          const at = i % 2 ? admin : there
          return onceReady(() => at.call('POST', '/enrollments', { method: 'ott', identityId }))
        }),
      )
      assert.deepEqual(replies.map(codeOf).map(String).toSorted(), [
        '201',
        ...Array(19).fill('ENROLLMENT_EXISTS'),
      ])
    })

    await t.test('an identity that is deleted while it enrolls is gone, whole', async () => {
      for (let round = 0; round < 5; round++) {
        const { token, identityId } = await inviteNew(admin, { ott: true })
        const [enrolled, deleted] = await Promise.all([
          enrollByCsr(other, token, csr),
          admin.call('DELETE', `/identities/${identityId}`),
        ])
        assert.equal(deleted.status, 200, deleted.text)
        assert.ok([200, 'INVALID_ENROLLMENT_TOKEN'].includes(codeOf(enrolled)), enrolled.text)
        assertRefused(await enrollByCsr(one, token, csr), 400, 'INVALID_ENROLLMENT_TOKEN')
      }
    })

    await t.test('a token that is refreshed while it is used is used or refreshed', async () => {
      for (let round = 0; round < 5; round++) {
        const { id, token } = await inviteNew(admin, { ott: true })
        const [enrolled, refreshed] = await Promise.all([
          enrollByCsr(other, token, csr),
          admin.call('POST', `/enrollments/${id}/refresh`),
        ])
        const outcome = [codeOf(enrolled), codeOf(refreshed)].join()
        assert.ok(
          ['200,ENROLLMENT_USED', 'INVALID_ENROLLMENT_TOKEN,200'].includes(outcome),
          outcome,
        )
        if (refreshed.status !== 200) continue
        const next = await enrollByCsr(one, refreshed.json().data.token, csr)
        assert.equal(next.status, 200, next.text)
      }
    })
  })
}

test('a session that ended a moment ago at another instance renews nothing', async (t) => {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const service = await startService(t)
  const admin = await administrate(service)
  const { identityId, authenticatorId, certificate } = await enrolledPerson(service, admin, openssl)
  const shown = presenting(service, certificate)
  // Without an ending: this instance does not know yet.
  const end = () => sql(service, `delete from api_sessions where identity_id = '${identityId}'`)
  const { pem: clientCertCsr } = await makeCsr()
  const { access_token } = await logInByCertificate(shown)
  await end()
  const extended = await extend(shown, access_token, authenticatorId, { clientCertCsr })
  assertRefused(extended, 401, 'UNAUTHORIZED')

  const other = await logInByCertificate(shown)
  const reply = await extend(shown, other.access_token, authenticatorId, { clientCertCsr })
  assert.equal(reply.status, 200, reply.text)
  await end()
  const { clientCert } = reply.json().data
  const confirmed = await extendVerify(shown, other.access_token, authenticatorId, { clientCert })
  assertRefused(confirmed, 401, 'UNAUTHORIZED')
  assert.equal(await whoLogsIn(service, certificate), identityId, 'the old one is still in use')
})
