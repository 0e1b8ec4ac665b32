/**
 * A table that another session of the database keeps locked, for example a migration or a manual `alter table`. Calls
 * that need the table fail; all others must go on: D-297.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Client } from 'pg'
import { eventually } from '../../support/eventually.ts'
import { bearer, logIn } from '../../support/login/login.ts'
import { ADMIN, startService } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { startPostgres } from '../../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

/** More than the connections of an instance. */
const LOGINS = 40

test('bearer calls and health checks go on while every other connection waits for a locked table', async (t) => {
  const db = await migratedDatabase()
  const apis = ['edge-client', 'edge-management', 'health-checks']
  const service = await startService(t, {
    config: {
      db,
      web: [
        {
          name: 'all',
          bindPoints: [{ interface: '127.0.0.1:0', address: 'localhost:0' }],
          apis: apis.map((binding) => ({ binding })),
        },
      ],
    },
  })
  const { access_token } = await logIn(service)
  const other = new Client({ connectionString: db })
  await other.connect()
  t.after(() => other.end())
  await other.query('begin')
  await other.query('lock table authenticators in access exclusive mode')

  const logins = Promise.all(
    Array.from({ length: LOGINS }, () =>
      service.call('/edge/client/v1/authenticate?method=password', { json: ADMIN }),
    ),
  )
  let areWaiting = true
  const answered = logins.finally(() => {
    areWaiting = false
  })
  const statuses = new Set<string>()
  while (areWaiting) {
    const [call, health] = await Promise.all([
      service.call('/edge/client/v1/current-identity', bearer(access_token)),
      service.call('/health-checks'),
    ])
    statuses.add(`${call.status} ${health.status}`)
  }
  assert.deepEqual([...statuses], ['200 200'])
  for (const { status, text } of await answered) assert.equal(status, 503, text)

  await other.query('rollback')
  await eventually(async () => {
    const path = '/edge/client/v1/authenticate?method=password'
    const { status } = await service.call(path, { json: ADMIN })
    return status === 200 ? true : undefined
  }, 'a login')
})
