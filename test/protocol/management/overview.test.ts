/** What administrators read about the installation as a whole: D-367 to D-370. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { days } from '../../../src/base/time/duration.ts'
import { ExpiryReply, OverviewReply } from '../../../src/contract/management/overview.ts'
import { openOpenssl } from '../../support/certificates/openssl.ts'
import { eventually } from '../../support/eventually.ts'
import { beginLogin, submitPassword } from '../../support/login/login.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { freePort } from '../../support/ports.ts'
import { startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const PASSWORD = 'a password of somebody'

test('the overview counts what happened, and lists instances and what expires', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const bob = await admin.createIdentity({ name: 'Bob', password: PASSWORD })
  const { authRequestId } = await beginLogin(service)
  await submitPassword(service, authRequestId, { username: bob.username, password: 'wrong' })
  const leaf = await openssl.makeLeaf(await openssl.makeCa(), { notAfter: days(20) })
  const ca = await openssl.makeCa({ notAfter: days(200) })
  await admin.createIdentity({ name: '<b>Laptop</b>', certPem: leaf.pem })
  await admin.createCa({ name: 'factory', certPem: ca.pem })

  await t.test('sign-ins, failures, sessions and what they have proven', async () => {
    const reply = await admin.call('GET', '/overview')
    assert.deepEqual(OverviewReply.parse(reply.json()), reply.json())
    const { signIns, sessions, sessionsOverTime, proofs, lockedPasswords, lastBackup } =
      reply.json().data
    assert.ok(sessionsOverTime.quarters.length <= 1)
    assert.equal(signIns.hours.length, 24)
    assert.equal(signIns.days.length, 30)
    const { succeeded, failed } = signIns.days.at(-1)
    assert.deepEqual({ succeeded, failed }, { succeeded: 1, failed: 1 })
    assert.deepEqual(sessions, { oidc: 1, legacy: 0 })
    assert.deepEqual(proofs, [{ amr: ['pwd'], sessions: 1 }])
    assert.equal(lockedPasswords, 0)
    assert.equal(lastBackup, null)
  })

  await t.test('live sessions are counted over time', async () => {
    const { quarters, days: byDay } = await eventually(async () => {
      const { sessionsOverTime } = await admin.get('/overview')
      return sessionsOverTime.quarters.length > 0 ? sessionsOverTime : undefined
    }, 'the first count')
    assert.equal(quarters[0].oidc + quarters[0].legacy, byDay[0].highest)
  })

  await t.test('the instance reports itself with its version and health', async () => {
    const [instance, ...others] = await eventually(async () => {
      const { instances } = await admin.get('/overview')
      return instances.length > 0 ? instances : undefined
    }, 'the first report')
    assert.deepEqual(others, [])
    assert.match(instance.version, /^\d+\.\d+\.\d+/)
    assert.deepEqual([instance.state, instance.failing], ['healthy', []])
  })

  await t.test('everything that ends, the next first; lists filter it', async () => {
    const reply = await admin.call('GET', '/expiry')
    assert.deepEqual(ExpiryReply.parse(reply.json()), reply.json())
    const rows: { kind: string; endsAt: string; name: string }[] = reply.json().data
    assert.deepEqual([...new Set(rows.map(({ kind }) => kind))].toSorted(), [
      'enrolled-certificate',
      'own-ca',
      'server-certificate',
      'signing-key',
      'third-party-ca',
    ])
    const ends = rows.map(({ endsAt }) => endsAt)
    assert.deepEqual(ends, ends.toSorted())
    const filter = encodeURIComponent('kind = "enrolled-certificate"')
    const [enrolled] = await admin.get(`/expiry?filter=${filter}`)
    assert.equal(enrolled.name, '<b>Laptop</b>')
    assert.equal(enrolled.renewedBy, 'holder')
    const { expiring } = await admin.get('/overview')
    assert.deepEqual(
      expiring.rows.map(({ name }: { name: string }) => name),
      ['<b>Laptop</b>'],
    )
    assert.equal(expiring.enrolledCertificates, 1)
    const unknown = await admin.call('GET', '/expiry?filter=colour%20%3D%201')
    assertRefused(unknown, 400, 'INVALID_FILTER', 'filter')
  })
})

test('D-368: two instances in one home are both listed, and one that starts again replaces its own row', async (t) => {
  const first = await startService(t)
  const admin = await administrate(first)
  const inHome = {
    home: first.home,
    environment: { LATCHKEY_ADDRESS: `localhost:${await freePort()}` },
  }
  const instanceIds = async () => {
    const { instances } = await admin.get('/overview')
    return instances.map(({ id }: { id: string }) => id)
  }
  const [id] = await instanceIds()
  const second = await startService(t, inHome)
  const both = await instanceIds()
  assert.equal(both.length, 2)
  assert.ok(both.includes(id))

  // Put the row back, as a crash would leave it.
  const store = await first.openStore()
  const row = (await store.instances.list()).find((one) => one.id !== id)
  assert.ok(row)
  await second.stop()
  await store.instances.replace(row)
  await startService(t, inHome)
  const after = await instanceIds()
  assert.equal(after.length, 2)
  assert.ok(after.includes(id) && !after.includes(row.id))
})
