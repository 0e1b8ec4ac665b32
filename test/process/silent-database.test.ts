/**
 * A database that stops responding: nothing is closed, refused or answered, as after a failover or behind a NAT that
 * has forgotten the connection. D-250, D-251.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { eventually } from '../support/eventually.ts'
import type { Reply } from '../support/http-client.ts'
import { changeConfig, readConfig } from '../support/process/child-home.ts'
import {
  type ChildService,
  spawnLatchkey,
  startChild,
  waitFor,
} from '../support/process/child-service.ts'
import { preparedHomeOn } from '../support/process/prepared-home.ts'
import { ADMIN } from '../support/service.ts'
import { startCable } from '../support/stores/cable.ts'
import { startPostgres } from '../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

/** Without the fix the service waits forever; the test must end anyway. */
const limit = { timeout: 120_000 }

const logIn = (service: ChildService) =>
  service.call('/edge/client/v1/authenticate?method=password', { json: ADMIN })

const refresh = (service: ChildService) =>
  service.call('/oidc/token', {
    form: [
      ['grant_type', 'refresh_token'],
      ['client_id', 'service'],
      ['refresh_token', 'unknown'],
    ],
  })

function assertUnavailable(reply: Reply): void {
  assert.equal(reply.status, 503, reply.text)
  assert.match(String(reply.headers['retry-after']), /^[1-9]\d*$/)
}

async function untilHealth(service: ChildService, status: 200 | 503): Promise<void> {
  await eventually(async () => {
    const reply = await service.call('/health-checks')
    return reply.status === status ? true : undefined
  }, `health checks that answer ${status}`)
}

test('drops silent connections, answers calls, recovers, and can be stopped', limit, async (t) => {
  const home = await preparedHomeOn(t, 'PostgreSQL')
  const cable = await startCable(t, (await readConfig(home)).db)
  await changeConfig(home, (config) => {
    config.db = cable.url
  })
  const service = await startChild(t, { home })
  assert.equal((await logIn(service)).status, 200)
  // Make the pool open more than one connection.
  await Promise.all([logIn(service), logIn(service), logIn(service)])

  await t.test('answers every call and health check with 503', async () => {
    cable.silence()
    const [login, token] = await Promise.all([logIn(service), refresh(service)])
    assertUnavailable(login)
    assert.equal(login.json().error.code, 'NOT_READY')
    assertUnavailable(token)
    assert.equal(token.json().error, 'temporarily_unavailable')
    await untilHealth(service, 503)
    assert.equal((await service.call('/health-checks/live')).status, 200)
  })

  await t.test('recovers by itself once new connections work', async () => {
    cable.renew()
    await untilHealth(service, 200)
    const reply = await eventually(async () => {
      const reply = await logIn(service)
      return reply.status === 200 ? reply : undefined
    }, 'a login')
    assert.equal(reply.status, 200)
  })

  await t.test('logs once when it began and once when it was over', async () => {
    const lines = service.logLines().filter(({ work }) => work === 'ended sessions')
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['background work failed; retrying', 'background work succeeds again'],
    )
    assert.match(lines[0].err.message, /does not answer|waiting for a connection/)
  })

  await t.test('SIGTERM stops the service while the database does not respond', async () => {
    cable.silence()
    const calls = Promise.allSettled([logIn(service), refresh(service)])
    const { code, signal } = await service.stop()
    assert.deepEqual({ code, signal }, { code: 0, signal: null })
    await calls
  })
})

test('SIGTERM stops a start that waits for a database that does not respond', limit, async (t) => {
  const home = await preparedHomeOn(t, 'PostgreSQL')
  // Another session holds the lock of the migrations, as a migrating instance does: a start waits for it.
  const holder = await lockMigrations((await readConfig(home)).db)
  t.after(() => holder.end())
  const child = spawnLatchkey(t, ['run', '--home', home])
  await waitFor(
    () => holder.isWaitedFor(),
    () => 'a start that waits',
    child,
  )
  child.process.kill('SIGTERM')
  const { code, stderr } = await child.finished
  assert.equal(code, 1)
  assert.match(stderr, /stopped before the start was complete/)
})

async function lockMigrations(url: string) {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('begin')
  await client.query('select pg_advisory_xact_lock(7311640018)')
  return {
    async isWaitedFor() {
      const { rows } = await client.query(
        // Other tests share the server.
        `select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
         where not granted and locktype = 'advisory' and datname = current_database()`,
      )
      return rows.length > 0
    },
    end: () => client.end(),
  }
}
