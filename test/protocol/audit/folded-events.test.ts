/**
 * What callers without credentials write into the database is bounded: repeats share a row that counts them, and a
 * flood from many networks is dropped beyond a rate and counted in the metrics. D-207.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Reply } from '../../support/http-client.ts'
import { administrate } from '../../support/management.ts'
import { startMonitored } from '../../support/monitoring/monitoring.ts'
import { sampleOf } from '../../support/monitoring/prometheus-text.ts'
import type { Service } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'
import { sql } from '../../support/stores/sql.ts'

const postgres = await startPostgres()
after(() => postgres.stop())

const DATABASES = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ db: await migratedDatabase() }),
}

const EDGE = { limits: { failuresPerAddress: 0, trustedProxies: ['127.0.0.1', '::1'] } }

/** A login without a certificate: nothing is hashed, and the failure is recorded. */
function fail(service: Service, address: string): Promise<Reply> {
  return service.call('/edge/client/v1/authenticate?method=cert', {
    json: {},
    headers: { 'x-forwarded-for': address },
  })
}

const failures = (service: Service) =>
  sql(service, "select * from events where type = 'login.failed' order by at, count")

for (const [name, prepare] of Object.entries(DATABASES)) {
  test(`on ${name} repeated failures share a row, which is found by the request id of the first`, async (t) => {
    // Attack: a caller without credentials fails a login as often as it can, and each failure writes a row to disk.
    const { service, scrape } = await startMonitored(t, {
      config: { edge: EDGE, ...(await prepare()) },
    })
    service.clock.hold()
    const ids: unknown[] = []
    for (let i = 0; i < 100; i += 1) {
      const reply = await fail(service, '192.0.2.7')
      assert.equal(reply.status, 401)
      assert.equal(reply.json().error.code, 'INVALID_AUTH')
      ids.push(reply.headers['x-request-id'])
    }
    const rows = await failures(service)
    assert.deepEqual(
      rows.map(({ count }) => Number(count)),
      [...Array(10).fill(1), 90],
    )
    assert.deepEqual(new Set(rows.map((row) => row['request_id'])), new Set(ids.slice(0, 11)))

    const admin = await administrate(service)
    const read = async (token: string, path: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await service.call(`/edge/management/v1/events${path}`, { headers })).json()
    }
    const filter = encodeURIComponent(`requestId = "${ids[10]}"`)
    const [event] = (await read(admin.token, `?filter=${filter}`)).data
    assert.equal(event.count, 90)
    assert.equal(event.reason, 'no-certificate')
    assert.equal((await read(admin.token, `/${event.id}`)).data.count, 90)

    const families = await scrape()
    const reason = { reason: 'no-certificate' }
    assert.equal(sampleOf(families, 'latchkey_login_failures_total', reason), 100)
    const type = { type: 'login.failed' }
    assert.equal(sampleOf(families, 'latchkey_audit_events_total', type), 100)
    assert.equal(sampleOf(families, 'latchkey_audit_events_dropped_total', type), 0)

    // The flood does not hide another caller.
    await fail(service, '192.0.2.8')
    assert.equal((await failures(service)).length, 12)
  })
}

test('drops and counts a flood from many networks beyond a rate, but no event of a known identity', async (t) => {
  const { service, scrape } = await startMonitored(t, { config: { edge: EDGE } })
  const admin = await administrate(service)
  const { id, username } = await admin.createIdentity({ password: 'the right one' })
  for (let i = 0; i < 1_200; i += 1) {
    const reply = await fail(service, `2001:db8:0:${i.toString(16)}::1`)
    assert.equal(reply.status, 401)
  }
  const type = { type: 'login.failed' }
  const families = await scrape()
  const dropped = sampleOf(families, 'latchkey_audit_events_dropped_total', type)
  assert.ok(dropped > 0)
  assert.equal(dropped + (await failures(service)).length, 1_200)
  const reason = { reason: 'no-certificate' }
  assert.equal(sampleOf(families, 'latchkey_login_failures_total', reason), 1_200)

  const guess = await service.call('/edge/client/v1/authenticate?method=password', {
    json: { username, password: 'a wrong one' },
    headers: { 'x-forwarded-for': '2001:db8:1::1' },
  })
  assert.equal(guess.json().error.code, 'INVALID_AUTH')
  const rows = await failures(service)
  assert.equal(rows.filter((row) => row['identity_id'] === id).length, 1)
})
