/**
 * `latchkey migrate-store`: everything goes to the other database, sessions too, and the old one is out of use. D-160. A
 * kill leaves one of the two in use and whole (R114).
 */
import assert from 'node:assert/strict'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { after as afterAll, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TestClock } from '../support/clocks/clock.ts'
import { legacySession, oidcSession } from '../support/edge/live-session.ts'
import { enrolledPerson } from '../support/login/authenticator-app.ts'
import { CLIENT_API } from '../support/login/legacy.ts'
import { refresh, refreshed } from '../support/login/refresh.ts'
import { administrate } from '../support/management.ts'
import { makeHome, PLACES, startAt, useDatabase } from '../support/process/backups.ts'
import { startChild } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

afterAll(async () => (await startPostgres()).stop())

const KILLER = fileURLToPath(new URL('../support/kills/kill-restore.ts', import.meta.url))
const ME = `${CLIENT_API}/current-identity`

const freshDatabase = async () => (await startPostgres()).freshDatabase()

function move(t: TestContext, from: string, to: string, options = {}) {
  return runLatchkey(t, ['migrate-store', '--from', from, '--to', to], options)
}

test('from SQLite to PostgreSQL and back, everything that users hold stays valid, and what was spent stays spent (R042)', async (t) => {
  const sqlite = PLACES[0] as (typeof PLACES)[number]
  let service = await startAt(t, sqlite)
  const { home } = service
  const admin = await administrate(service)
  const person = await enrolledPerson({ ...service, clock: new TestClock() }, admin)
  const recoveryCodes = [...person.recoveryCodes]
  const legacy = await legacySession(service)
  const ended = await legacySession(service)
  await ended.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
  const oidc = await oidcSession(service)
  const spent = await oidcSession(service)
  let { refresh_token: token } = await refreshed(service, oidc.refreshToken ?? '')
  await refreshed(service, spent.refreshToken ?? '')
  const url = await freshDatabase()
  const file = join(home, 'latchkey.db')
  const back = join(home, 'back.db')
  const steps = [
    { from: `sqlite:${file}`, to: url, db: url, name: new URL(url) },
    { from: url, to: `sqlite:${back}`, db: 'back.db', name: back },
  ] as const

  for (const { from, to, db, name } of steps) {
    const busy = await move(t, from, to)
    assert.equal(busy.code, 1)
    assert.match(
      busy.stderr,
      /^latchkey: another process uses the database \S+; stop every instance, and whatever else is connected\n$/,
    )
    assert.equal((await service.stop()).code, 0)

    const moved = await move(t, from, to)
    assert.equal(moved.code, 0, moved.stderr)
    const target = typeof name === 'string' ? name : `${name.host}${name.pathname}`
    assert.match(moved.stdout, /^Everything in \S+ \(\d+ rows\) is in \S+ now\.\n/)
    assert.ok(moved.stdout.includes(` is in ${target} now.`), moved.stdout)
    if (name instanceof URL)
      assert.ok(!moved.stdout.includes(name.password), 'no password is shown')
    assert.equal(moved.stderr, '')

    // The old one is out of use, for every command.
    for (const args of [['run'], ['keys', 'rotate'], ['backup', '--out', join(home, 'b')]]) {
      const refused = await runLatchkey(t, [...args, '--home', home])
      assert.equal(refused.code, 1, args.join(' '))
      assert.equal(
        refused.stderr,
        `latchkey: this database was moved to ${target}; set "db" to that one\n`,
      )
    }
    const twice = await move(t, from, `sqlite:${join(home, 'third.db')}`)
    assert.equal(twice.code, 1)
    assert.ok(twice.stderr.endsWith(` was moved to ${target}\n`), twice.stderr)

    await useDatabase(home, db)
    service = await startChild(t, { home })
    assert.equal((await legacy.call(ME, {}, service)).status, 200)
    assert.equal((await oidc.call(ME, {}, service)).status, 200)
    assert.equal((await ended.call(ME, {}, service)).status, 401)
    const reused = await refresh(service, spent.refreshToken ?? '')
    assert.deepEqual([reused.status, reused.json().error], [400, 'invalid_grant'])
    token = (await refreshed(service, token)).refresh_token
    const partial = await legacySession(service, person)
    const mfa = `${CLIENT_API}/authenticate/mfa`
    const code = recoveryCodes.pop()
    assert.equal((await partial.call(mfa, { json: { code } })).status, 200)
    // New endings are numbered after the old ones: a session that ends now has ended.
    const next = await legacySession(service)
    await next.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })
    assert.equal((await next.call(ME)).status, 401)
    const events = await (await administrate(service)).get(
      '/events?filter=type="installation.moved"',
    )
    assert.equal(events[0].details.to, target)
  }
  assert.equal((await stat(back)).mode & 0o777, 0o600)
})

for (const kill of ['rows', 'commit']) {
  test(`R114: a move that is killed at its ${kill} leaves the source in use, and can be repeated`, async (t) => {
    const home = await preparedHome(t)
    const from = `sqlite:${join(home, 'latchkey.db')}`
    for (const to of [await freshDatabase(), `sqlite:${join(home, 'other.db')}`]) {
      const killed = await move(t, from, to, {
        nodeArguments: ['--import', KILLER],
        environment: { KILL_AT: kill },
      })
      assert.equal(killed.signal, 'SIGKILL', killed.stderr)
    }
    const service = await startService(t, { home })
    await administrate(service)
    await service.stop()
    const moved = await move(t, from, `sqlite:${join(home, 'other.db')}`)
    assert.equal(moved.code, 0, moved.stderr)
  })
}

test('R114: a move that is killed between its two commits leaves both whole, and the second run says so', async (t) => {
  const home = await preparedHome(t)
  const file = join(home, 'latchkey.db')
  const url = await freshDatabase()
  const killed = await move(t, `sqlite:${file}`, url, {
    nodeArguments: ['--import', KILLER],
    environment: { KILL_AT: 'mark' },
  })
  assert.equal(killed.signal, 'SIGKILL', killed.stderr)
  const again = await move(t, `sqlite:${file}`, url)
  assert.equal(again.code, 1, again.stdout)
  assert.match(again.stderr, /^latchkey: there is an installation in the database \S+ already\n$/)
  // As the page says: the target is used, and has everything; the source is not marked, and is put away.
  for (const db of [url, file]) {
    await useDatabase(home, db)
    const service = await startService(t, { home })
    const [event] = await (await administrate(service)).get(
      '/events?filter=type="installation.moved"',
    )
    assert.equal(event !== undefined, db !== file, db)
    await service.stop()
  }
})

test('a target with an installation, a source without one and anything that is not a database are refused, and nothing changes', async (t) => {
  const home = await preparedHome(t)
  const other = await makeHome(t)
  const folder = await temporaryFolder(t)
  const db = join(home, 'latchkey.db')
  const before = await readFile(join(other, 'latchkey.db'))
  const empty = join(folder, 'empty.db')
  await writeFile(empty, '', { mode: 0o600 })
  const text = join(folder, 'text.db')
  await writeFile(text, 'This is no database, but a text of some length.'.repeat(9), {
    mode: 0o600,
  })
  const open = join(folder, 'open.db')
  await writeFile(open, '', { mode: 0o644 })
  const cases: readonly (readonly [from: string, to: string, complaint: RegExp])[] = [
    [
      `sqlite:${db}`,
      `sqlite:${join(other, 'latchkey.db')}`,
      /there is an installation in the database \S+ already\n$/,
    ],
    [`sqlite:${db}`, `sqlite:${home}/./latchkey.db`, /: both databases are the same\n$/],
    [
      `sqlite:${join(folder, 'no.db')}`,
      `sqlite:${join(folder, 'new.db')}`,
      /: there is no database \S+no\.db\n$/,
    ],
    [
      `sqlite:${empty}`,
      `sqlite:${join(folder, 'new.db')}`,
      /: cannot use the database \S+empty\.db: /,
    ],
    [await freshDatabase(), `sqlite:${join(folder, 'new.db')}`, /: cannot use the database \S+: /],
    [
      `sqlite:${text}`,
      `sqlite:${join(folder, 'new.db')}`,
      /text\.db is not a database of Latchkey\n$/,
    ],
    [`sqlite:${db}`, `sqlite:${open}`, /: every user of this machine can access \S+open\.db/],
    [
      `sqlite:${db}`,
      `sqlite:${join(folder, 'no', 'x.db')}`,
      /: the folder of the database \S+ does not exist\n$/,
    ],
    [
      `sqlite:${db}`,
      'postgres://nobody:secret@127.0.0.1:1/none',
      /: cannot use the database 127\.0\.0\.1:1\/none: /,
    ],
  ]
  for (const [from, to, complaint] of cases) {
    const refused = await move(t, from, to)
    assert.equal(refused.code, 1, `${from} ${to}: ${refused.stderr}`)
    assert.match(refused.stderr, complaint)
    assert.equal(refused.stdout, '')
    assert.ok(!refused.stderr.includes('secret@'), 'no password is shown')
  }
  assert.deepEqual(await readFile(join(other, 'latchkey.db')), before)
  await rm(join(folder, 'new.db'), { force: true })

  const misuses: readonly (readonly [args: string[], complaint: string])[] = [
    [[], '"migrate-store" needs --from'],
    [['--from', `sqlite:${db}`], '"migrate-store" needs --to'],
    [['--from', db, '--to', 'postgres://x/y'], '--from is neither sqlite:PATH nor postgres://…'],
    [
      ['--from', `sqlite:${db}`, '--to', 'sqlite::memory:'],
      '--to is neither sqlite:PATH nor postgres://…',
    ],
    [
      ['--from', `sqlite:${db}`, '--to', 'mysql://x/y'],
      '--to is neither sqlite:PATH nor postgres://…',
    ],
    [['--from', `sqlite:${db}`, '--to', ''], '--to is empty'],
    [['--home', home], '"migrate-store" takes no --home'],
  ]
  for (const [args, complaint] of misuses) {
    const { code, stderr } = await runLatchkey(t, ['migrate-store', ...args])
    assert.equal(code, 64, args.join(' '))
    assert.equal(stderr, `latchkey: ${complaint}\nSee "latchkey migrate-store --help".\n`)
  }
  // It is still where it was, and works.
  await startService(t, { home })
})
