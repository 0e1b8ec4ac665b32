/**
 * Certificates of one installation on two instances: whichever issued one, it is good by the bundle of the other, is
 * found and deleted there, and counts there. D-41, D-48, R099, R103.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeCsr } from '../../support/certificates/csr.ts'
import { assertVerifies } from '../../support/certificates/session-certificates.ts'
import { clockOfStandingUptime } from '../../support/clocks/uptime-clock.ts'
import {
  CERTIFICATES,
  issueCertificate,
  oidcSession,
  requestCertificate,
} from '../../support/edge/live-session.ts'
import { onceReady } from '../../support/http-client.ts'
import { assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { installation } from '../../support/stores/instances.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

test('R103: certificates of two instances of one installation', async (t) => {
  const shared = await installation(await migratedDatabase())
  const clock = clockOfStandingUptime()
  const [a, b] = await Promise.all([shared.start(t, { clock }), shared.start(t, { clock })])
  const session = await oidcSession(a)
  const { pem } = await makeCsr()

  await t.test('verify with the bundle of the other', async () => {
    const [one, other] = [
      await issueCertificate(session, pem, a),
      await issueCertificate(session, pem, b),
    ]
    assert.equal(one.cas, other.cas)
    await assertVerifies(one.certificate, other.cas)
    await assertVerifies(other.certificate, one.cas)
    await assertVerifies(other.certificate, a.ca)
  })

  await t.test('are read and deleted at either', async () => {
    const { id, certificate } = await issueCertificate(session, pem, a)
    const read = await session.call(`${CERTIFICATES}/${id}`, {}, b)
    assert.equal(read.json().data.certificate, certificate)
    const deleted = await session.call(`${CERTIFICATES}/${id}`, { method: 'DELETE' }, b)
    assert.equal(deleted.status, 200, deleted.text)
    assertRefused(await session.call(`${CERTIFICATES}/${id}`, {}, a), 404, 'NOT_FOUND')
  })

  await t.test('R099: 150 requests at both at once leave 100', async () => {
    // Attack: each instance counts for itself.
    const fresh = await oidcSession(a)
    const replies = await Promise.all(
      Array.from({ length: 150 }, (_, i) =>
        onceReady(() => requestCertificate(fresh, pem, i % 2 ? a : b)),
      ),
    )
    const refused = replies.filter(({ status }) => status !== 201)
    assert.equal(refused.length, 50)
    for (const reply of refused) assertRefused(reply, 409, 'TOO_MANY_CERTIFICATES')
    const { totalCount } = (await fresh.call(CERTIFICATES)).json().meta.pagination
    assert.equal(totalCount, 100)
  })
})

test('another installation has other CAs, and believes none of these', async (t) => {
  const [here, elsewhere] = [await startService(t), await startService(t)]
  const { certificate } = await issueCertificate(await oidcSession(here), (await makeCsr()).pem)
  await assert.rejects(assertVerifies(certificate, elsewhere.ca), /unable to get/)
})
