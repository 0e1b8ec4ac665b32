/**
 * A failover between two real servers: the standby is promoted, and the former primary comes back with an older state.
 * D-295, D-296.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after as afterAll, type TestContext, test } from 'node:test'
import { Secret } from '../../src/base/secrets/secret.ts'
import type { Store } from '../../src/domain/stores.ts'
import { openStore, StoreUnavailable } from '../../src/store/open.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/service.ts'
import { execute, startReplicated } from '../support/stores/postgres.ts'
import { anEnding, sessionId } from './samples.ts'

const servers = await startReplicated()
afterAll(() => servers.stop())

function bothHosts(): string {
  const { username, password, pathname, host } = new URL(servers.primary.url)
  const hosts = `${host},${new URL(servers.standby.url).host}`
  return `postgres://${username}:${password}@${hosts}${pathname}?target_session_attrs=read-write`
}

async function open(t: TestContext, url: string, timelineFile: string): Promise<Store> {
  const store = await openStore({ kind: 'postgres', url: new Secret(url), timelineFile })
  t.after(() => store.close())
  return store
}

const subjects = async (store: Store) =>
  (await store.sessionEndings.listAfter(0)).map(({ subject }) => subject)

async function refused(work: Promise<unknown>, reason: RegExp): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof StoreUnavailable, String(error))
    assert.match(error.message, reason)
    return true
  })
}

const FORMER = /the server is on timeline 1, but timeline 2 is in use: it is a former primary/

test('a failover to a standby, and the return of the former primary', async (t) => {
  const { primary, standby } = servers
  const file = join(await temporaryFolder(t), 'database-timeline')
  const store = await open(t, bothHosts(), file)

  await t.test('the standby is passed over while it is one', async () => {
    await store.sessionEndings.insert(anEnding('before'))
    const [{ count }] = (await execute(
      primary.url,
      "select count(*)::int as count from pg_stat_activity where application_name = 'latchkey'",
    )) as [{ count: number }]
    assert.ok(count > 0)
    await refused(
      open(t, `${standby.url}?target_session_attrs=read-write`, file),
      /the server is a standby/,
    )
  })

  await t.test(
    'an open store finds the promoted standby by itself, with what was committed',
    async () => {
      const replicated = `select 1 from session_endings where subject = '${sessionId('before')}'`
      await eventually(async () => {
        const rows = await execute(standby.url, replicated).catch(() => [])
        return rows[0]
      }, 'the row on the standby')
      await primary.crash()
      await execute(standby.url, 'select pg_promote()')
      const insert = () => store.sessionEndings.insert(anEnding('after')).catch(() => undefined)
      await eventually(insert, 'a write')
      assert.deepEqual(await subjects(store), [sessionId('before'), sessionId('after')])
      assert.match(await readFile(file, 'utf8'), /^\d+\/\d+ 2 [\w-]+\n$/)
    },
  )

  // Attack: what was ended since the failover is valid again on the former primary.
  await t.test(
    'the former primary is refused, although it accepts writes and comes first',
    async () => {
      await primary.start()
      await execute(primary.url, 'create table a_write (one int)')
      // By a service that runs, for new connections.
      await Promise.all([1, 2, 3, 4, 5].map((i) => store.sessionEndings.insert(anEnding(`${i}`))))
      assert.equal((await subjects(store)).length, 7)
      // By one that starts.
      const other = await open(t, bothHosts(), file)
      assert.equal((await subjects(other)).length, 7)
      await refused(open(t, primary.url, file), FORMER)
    },
  )

  await t.test('a running service does not fall back to it either', async () => {
    await standby.crash()
    await eventually(async () => {
      const failure = await store.sessionEndings.listAfter(0).catch((error: Error) => error)
      return failure instanceof Error && FORMER.test(failure.message) ? true : undefined
    }, 'the refusal of the former primary')
    await standby.start()
    const read = () => store.sessionEndings.listAfter(0).catch(() => undefined)
    assert.equal((await eventually(read, 'a read')).length, 7)
  })

  await t.test('a server with the same timeline and another history is refused', async () => {
    await execute(standby.url, "update database_timelines set name = 'other' where number = 2")
    await refused(
      open(t, bothHosts(), file),
      /does not have the history that is in use \(timeline 2\): treat it as a restored backup/,
    )
  })
})
