/** docs/postgresql.md is run: its role and database, and two instances on it that are restarted one after the other. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after as afterAll, test } from 'node:test'
import { guideBlocks, runGuide } from '../support/guides/guide.ts'
import { freePort, isFree } from '../support/ports.ts'
import { execute, startPostgres } from '../support/stores/postgres.ts'

const PAGE = 'docs/postgresql.md'
const postgres = await startPostgres()
afterAll(() => postgres.stop())

/** Runs SQL as the administrator of the server. */
function query(text: string) {
  return execute(postgres.url, text)
}

test('the lines of docs/postgresql.md make a database and two instances on it', async (t) => {
  // The server may be shared, and has a role of that name already.
  const name = `guide_${randomInt(1e9)}`
  const [make = '', count = ''] = await guideBlocks(PAGE, 'sql')
  t.after(async () => {
    await query(`drop database if exists ${name} with (force)`)
    await query(`drop role if exists ${name}`)
  })
  // One at a time: a database is not made inside a transaction.
  for (const statement of make.trim().split('\n')) {
    await query(statement.replaceAll(/(role|database|owner) latchkey/g, `$1 ${name}`))
  }
  await runGuide(t, 'docs/postgresql.md', {
    replace: {
      'postgres://latchkey:': `postgres://${name}:`,
      'db.internal/latchkey': `${new URL(postgres.url).host}/${name}`,
      '128': await freePorts(),
    },
  })
  assert.match((await query(count))[0].count, /^\d+$/)
})

/** The beginning of the ports that the page uses, which end with 0, 1 and 2. */
async function freePorts(): Promise<string> {
  for (;;) {
    const beginning = String(await freePort()).slice(0, -1)
    const ports = [1, 2].map((end) => isFree(Number(`${beginning}${end}`)))
    if ((await Promise.all(ports)).every(Boolean)) return beginning
  }
}
