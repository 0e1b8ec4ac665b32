/**
 * Listing, reading and deleting certificates, confined to the session that has them. D-41, R100.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionCertificateListReply } from '../../../src/contract/session-certificates.ts'
import { eventsOf } from '../../support/audit.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import {
  CERTIFICATES,
  issueCertificate,
  type LiveSession,
  legacySession,
  oidcSession,
  SESSIONS,
} from '../../support/edge/live-session.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const { pem: CSR } = await makeCsr()

async function idsOf(session: LiveSession, query = '?limit=500'): Promise<readonly string[]> {
  const reply = await session.call(`${CERTIFICATES}${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.json().data.map(({ id }: { id: string }) => id)
}

for (const [kind, begin] of Object.entries(SESSIONS)) {
  test(`D-41: an ${kind} session lists its certificates a page at a time`, async (t) => {
    const service = await startService(t)
    const session = await begin(service)
    const empty = await session.call(CERTIFICATES)
    assert.equal(empty.status, 200, empty.text)
    assert.deepEqual(empty.json(), {
      data: [],
      meta: { filterableFields: [], pagination: { limit: 10, offset: 0, totalCount: 0 } },
    })
    const made: string[] = []
    for (let i = 0; i < 12; i++) made.push((await issueCertificate(session, CSR)).id)

    const first = await session.call(CERTIFICATES)
    assert.deepEqual(SessionCertificateListReply.parse(first.json()), first.json())
    assert.deepEqual(first.json().meta.pagination, { limit: 10, offset: 0, totalCount: 12 })
    const seen = [
      ...(await idsOf(session, '')),
      ...(await idsOf(session, '?offset=10')),
      ...(await idsOf(session, '?offset=12')),
    ]
    assert.deepEqual(seen.toSorted(), made.toSorted())
    assert.deepEqual((await idsOf(session, '?limit=3&offset=2')).length, 3)
    for (const query of ['?limit=0', '?limit=-1', '?offset=x', '?limit=1&limit=2']) {
      const field = query.slice(1).split('=')[0]
      const reply = await session.call(`${CERTIFICATES}${query}`)
      assertRefused(reply, 400, 'INVALID_PAGINATION', field)
    }

    const [one] = first.json().data
    const detail = await session.call(`${CERTIFICATES}/${one.id}`)
    assert.deepEqual(detail.json().data, one, 'the same object in the list and alone')
  })

  test(`D-41: an ${kind} session deletes a certificate once`, async (t) => {
    const service = await startService(t)
    const session = await begin(service)
    const [kept, gone] = [
      await issueCertificate(session, CSR),
      await issueCertificate(session, CSR),
    ]
    const address = `${CERTIFICATES}/${gone.id}`
    const { fingerprint } = (await session.call(address)).json().data
    const deleted = await session.call(address, { method: 'DELETE' })
    assert.equal(deleted.status, 200, deleted.text)
    assert.deepEqual(deleted.json(), { data: {}, meta: {} })
    assertRefused(await session.call(address), 404, 'NOT_FOUND')
    assertRefused(await session.call(address, { method: 'DELETE' }), 404, 'NOT_FOUND')
    assert.deepEqual(await idsOf(session), [kept.id])
    assert.deepEqual(await eventsOf(service, deleted), [
      {
        type: 'certificate.removed',
        reason: null,
        identityId: session.identityId,
        sessionId: session.id,
        details: { id: gone.id, fingerprint },
      },
    ])
  })
}

test('R100: what belongs to another session is 404, to read and to delete, for every caller', async (t) => {
  // Attack: an administrator, another session of the same identity, and a stranger each know the id.
  const service = await startService(t)
  const admin = await administrate(service)
  const [ada, bob] = [
    await admin.createIdentity({ password: 'the password of ada' }),
    await admin.createIdentity({ password: 'the password of bob' }),
  ]
  const owner = await oidcSession(service, ada)
  const { id } = await issueCertificate(owner, CSR)
  const strangers = [
    await oidcSession(service, ada),
    await legacySession(service, ada),
    await oidcSession(service, bob),
    await legacySession(service, bob),
    await oidcSession(service),
  ]
  const unknown = await owner.call(`${CERTIFICATES}/nothing`)
  for (const stranger of strangers) {
    await issueCertificate(stranger, CSR)
    const read = await stranger.call(`${CERTIFICATES}/${id}`)
    assertRefused(read, 404, 'NOT_FOUND')
    assert.equal(
      read.json().error.message,
      unknown.json().error.message,
      'it says no more than about what is not there',
    )
    assertRefused(
      await stranger.call(`${CERTIFICATES}/${id}`, { method: 'DELETE' }),
      404,
      'NOT_FOUND',
    )
    assert.equal((await idsOf(stranger)).includes(id), false)
  }
  assert.deepEqual(await idsOf(owner), [id], 'nothing was harmed')
})

test('ids that no database could hold are 404 too', async (t) => {
  const service = await startService(t)
  const session = await oidcSession(service)
  await issueCertificate(session, CSR)
  for (const id of ['%00', 'a%00b', 'x'.repeat(90), "'%20or%201=1", '%25', '%F0%9F%94%91']) {
    for (const method of ['GET', 'DELETE']) {
      assertRefused(await session.call(`${CERTIFICATES}/${id}`, { method }), 404, 'NOT_FOUND')
    }
  }
  assert.equal((await idsOf(session)).length, 1)
})

test('D-41: of many deletes of one certificate at once, one succeeds', async (t) => {
  const service = await startService(t)
  const session = await oidcSession(service)
  const { id } = await issueCertificate(session, CSR)
  const replies = await Promise.all(
    Array.from({ length: 10 }, () => session.call(`${CERTIFICATES}/${id}`, { method: 'DELETE' })),
  )
  assert.deepEqual(replies.map(({ status }) => status).toSorted(), [200, ...Array(9).fill(404)])
})
