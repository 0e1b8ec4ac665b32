/** Many at once: every login that is right succeeds, on both databases, and leaves one session each. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import { bearer, logIn } from '../../support/login/login.ts'
import { type ServiceOptions, startService } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'
import { sql } from '../../support/stores/sql.ts'

const DATABASES: Readonly<Record<string, () => Promise<ServiceOptions>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => ({ config: { db: await migratedDatabase() } }),
}

for (const [database, options] of Object.entries(DATABASES)) {
  test(`50 parallel logins on ${database} all succeed`, async (t) => {
    const service = await startService(t, await options())
    const tokens = await Promise.all(Array.from({ length: 50 }, () => logIn(service)))
    const calls = await Promise.all(
      tokens.map(({ access_token }) =>
        service.call('/edge/client/v1/current-api-session', bearer(access_token)),
      ),
    )
    for (const [i, call] of calls.entries()) {
      assert.equal(call.status, 200, call.text)
      const claimed = decodeJwt(tokens[i]?.access_token ?? '')['z_asid']
      assert.equal(call.json().data.id, claimed)
    }
    const ids = new Set(calls.map((call) => call.json().data.id))
    assert.equal(ids.size, 50)
    const count = async (statement: string) => Number((await sql(service, statement))[0]?.['n'])
    assert.equal(await count('select count(*) as n from api_sessions'), 50)
    for (const type of ['login.succeeded', 'token.issued']) {
      const counted = await count(`select count(*) as n from events where type = '${type}'`)
      assert.equal(counted, 50, type)
    }
  })
}

test('D-22: logins beyond the queue are turned away at once, and every other route stays quick', async (t) => {
  const config = { edge: { passwords: { hashing: 1, queue: 2 } } }
  const service = await startService(t, { config, hashing: 'as shipped' })
  const { access_token } = await logIn(service)
  const logins = Array.from({ length: 20 }, () =>
    logIn(service).then(
      () => 'done',
      (error: Error) => error.message,
    ),
  )
  const call = await service.call('/edge/client/v1/current-identity', bearer(access_token))
  assert.equal(call.status, 200)
  const outcomes = await Promise.all(logins)
  const refused = outcomes.filter((outcome) => outcome !== 'done')
  assert.ok(refused.length > 0 && refused.length < 20, `${refused.length} of 20 were refused`)
  for (const message of refused) assert.match(message, /"code":"SERVER_TOO_BUSY"/)
})
