/** Several hosts in the URL: each new connection finds the one that can be used. D-295. */
import assert from 'node:assert/strict'
import { after as afterAll, type TestContext, test } from 'node:test'
import { Client } from 'pg'
import { Secret } from '../../src/base/secrets/secret.ts'
import { openStore, StoreUnavailable } from '../../src/store/open.ts'
import { type Cable, startCable } from '../support/stores/cable.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { anEnding } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

/** Two ways to one server, as two hosts. */
async function twoHosts(t: TestContext) {
  const database = await (await startPostgres()).freshDatabase()
  const cables = [await startCable(t, database), await startCable(t, database)] as const
  const hosts = cables.map(({ url }) => new URL(url).host)
  const { username, password, pathname } = new URL(database)
  const name = `${hosts.join(',')}${pathname}`
  const url = `postgres://${username}:${password}@${name}?target_session_attrs=read-write`
  const open = async () => {
    const store = await openStore({ kind: 'postgres', url: new Secret(url) })
    t.after(() => store.close())
    return store
  }
  return { cables, hosts, name, open }
}

const isUsed = (cable: Cable) => cable.takeRoundTrips() > 0

test('the first host that answers is used, and stays in use', async (t) => {
  const { cables, open } = await twoHosts(t)
  const [first, second] = cables
  first.pull()
  const store = await open()
  assert.deepEqual([isUsed(first), isUsed(second)], [false, true])

  first.repair()
  await Promise.all([1, 2, 3, 4].map((i) => store.sessionEndings.insert(anEnding(`${i}`))))
  assert.deepEqual([isUsed(first), isUsed(second)], [false, true])

  // The second fails: the connections move to the first by themselves.
  second.pull()
  await store.sessionEndings.listAfter(0).catch(() => undefined)
  assert.equal((await store.sessionEndings.listAfter(0)).length, 4)
  assert.deepEqual([isUsed(first), isUsed(second)], [true, false])
})

test('a host that accepts connections and never answers does not block the next', async (t) => {
  const { cables, open } = await twoHosts(t)
  cables[0].silence()
  const store = await open()
  assert.deepEqual(await store.sessionEndings.listAfter(0), [])
})

test('if no host can be used, the reason of each is named, and the password is not', async (t) => {
  const { cables, hosts, name, open } = await twoHosts(t)
  for (const cable of cables) cable.pull()
  await assert.rejects(open(), (error) => {
    assert.ok(error instanceof StoreUnavailable)
    const [one, two] = hosts.map((host) => `${host}: [^;]+`)
    assert.match(
      error.message,
      RegExp(`^cannot use the database ${name}: no host can be used \\(${one}; ${two}\\)$`),
    )
    return true
  })
})

test('a read-only server is not used', async () => {
  const { url, freshDatabase } = await startPostgres()
  const readOnly = new URL(await freshDatabase())
  const client = new Client({ connectionString: url })
  await client.connect()
  const name = readOnly.pathname.slice(1)
  await client.query(`alter database "${name}" set default_transaction_read_only = on`)
  await client.end()
  readOnly.searchParams.set('target_session_attrs', 'read-write')
  await assert.rejects(
    openStore({ kind: 'postgres', url: new Secret(readOnly.href) }),
    /the server is read-only/,
  )
})
