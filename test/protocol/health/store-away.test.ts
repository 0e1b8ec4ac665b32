/** The database goes away and comes back: health follows it without a restart. D-34, D-137. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { eventually } from '../../support/eventually.ts'
import { type Monitored, startMonitored } from '../../support/monitoring/monitoring.ts'
import { sampleOf } from '../../support/monitoring/prometheus-text.ts'
import { ADMIN } from '../../support/service.ts'
import { startCable } from '../../support/stores/cable.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

async function unhealthy({ ask }: Monitored): Promise<readonly string[]> {
  const reply = await ask('/health-checks')
  const { data } = reply.json()
  const ids = data.checks
    .filter((check: { healthy: boolean }) => !check.healthy)
    .map(({ id }: { id: string }) => id)
  assert.equal(reply.status, ids.length === 0 ? 200 : 503, reply.text)
  assert.equal(data.healthy, ids.length === 0)
  return ids
}

const until = (monitored: Monitored, fits: (ids: readonly string[]) => boolean, what: string) =>
  eventually(async () => {
    const ids = await unhealthy(monitored)
    return fits(ids) ? ids : undefined
  }, what)

test('PostgreSQL that is gone, silent or back is noticed', async (t) => {
  const cable = await startCable(t, await migratedDatabase())
  const monitored = await startMonitored(t, { config: { db: cable.url } })
  assert.deepEqual(await unhealthy(monitored), [])

  await t.test('a server that refuses connections makes the next check fail', async () => {
    cable.pull()
    const begun = performance.now()
    await until(monitored, (ids) => ids.includes('store'), 'the 503')
    assert.ok(performance.now() - begun < 30_000, 'it does not wait for ever')
    assert.equal((await monitored.ask('/health-checks/live')).status, 200)
  })

  await t.test('then the copies grow too old, and metrics say so without waiting', async () => {
    const ids = await until(
      monitored,
      (ids) => ids.includes('ended-sessions') && ids.includes('rules'),
      'the stale copies',
    )
    assert.deepEqual(ids, ['store', 'ended-sessions', 'rules'])
    const metrics = await monitored.scrape()
    assert.equal(sampleOf(metrics, 'latchkey_health_check', { check: 'store' }), 0)
    assert.ok(sampleOf(metrics, 'latchkey_ended_sessions_age_seconds') > 5)
  })

  await t.test('when it is back the service is well again', async () => {
    cable.repair()
    await until(monitored, (ids) => ids.length === 0, 'the recovery')
  })

  await t.test('gives up after two seconds on a server that stops responding', async () => {
    cable.silence()
    const begun = performance.now()
    await until(monitored, (ids) => ids.includes('store'), 'the 503')
    assert.ok(performance.now() - begun < 30_000)
    const scraping = performance.now()
    await monitored.scrape()
    assert.ok(performance.now() - scraping < 30_000, 'whoever reads metrics does not hang')
    cable.repair()
    await until(monitored, (ids) => ids.length === 0, 'the recovery')
  })
})

test('D-297: a locked table in PostgreSQL is 503 for the calls that need it, and the service stays healthy', async (t) => {
  const url = await migratedDatabase()
  const monitored = await startMonitored(t, { config: { db: url } })
  const { service } = monitored
  const other = new Client({ connectionString: url })
  await other.connect()
  try {
    await other.query('begin')
    await other.query('lock table authenticators in access exclusive mode')
    const path = '/edge/client/v1/authenticate?method=password'
    // More than the pool has connections.
    const calls = Array.from({ length: 15 }, () => service.call(path, { json: ADMIN }))
    for (const reply of await Promise.all(calls)) {
      assert.equal(reply.status, 503, reply.text)
      assert.equal(reply.json().error.code, 'NOT_READY')
    }
    assert.deepEqual(await unhealthy(monitored), [])
    await other.query('rollback')
  } finally {
    await other.end()
  }
  const answered = await eventually(async () => {
    const reply = await service.call('/edge/client/v1/authenticate?method=password', {
      json: ADMIN,
    })
    return reply.status === 503 ? undefined : reply
  }, 'an answer')
  assert.equal(answered.status, 200, answered.text)
})

test('SQLite that another process has locked cannot commit, and recovers when the lock is released', async (t) => {
  const monitored = await startMonitored(t)
  const { db } = monitored.service.config
  assert.ok(db.kind === 'sqlite')
  const other = new DatabaseSync(db.path)
  t.after(() => other.close())
  assert.deepEqual(await unhealthy(monitored), [])
  other.exec('begin immediate')
  await until(monitored, (ids) => ids.includes('store'), 'the 503')
  other.exec('rollback')
  await until(monitored, (ids) => ids.length === 0, 'the recovery')
})
