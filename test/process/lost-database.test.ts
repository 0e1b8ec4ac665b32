/** The database of a used home is missing, replaced, or damaged: the start fails, and changes nothing. D-252, D-254. */
import assert from 'node:assert/strict'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { logIn } from '../support/login/login.ts'
import { homeWithDatabase } from '../support/process/child-home.ts'
import { runLatchkey, runRefused } from '../support/process/run-command.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'
import { damageTable } from '../support/stores/damage-file.ts'
import { startPostgres } from '../support/stores/postgres.ts'

after(async () => (await startPostgres()).stop())

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1)

test('does not install again into a used home whose database file is missing', async (t) => {
  const home = await homeWithDatabase(t)
  const [db, ca] = [join(home, 'latchkey.db'), join(home, 'pki', 'ca.pem')]
  const secret = await readFile(join(home, 'secret'), 'utf8').catch(() => undefined)
  assert.equal(secret, undefined, 'the home is new')
  const first = await startService(t, { home })
  await first.stop()
  const before = await readFile(ca, 'utf8')
  const backup = join(await temporaryFolder(t), 'backup.lkb')
  const backupRun = await runLatchkey(t, ['backup', '--home', home, '--out', backup])
  assert.equal(backupRun.code, 0, backupRun.stderr)
  await rm(db)

  const refusal = (what: string) =>
    `latchkey: the database ${db} is ${what}, but the home ${home} belongs to an installation; put the database back, ` +
    'set "db" to the right one, or restore a backup with "latchkey restore"; for a new installation use another ' +
    `home, or delete ${ca} first`

  await t.test('commands that would install, or that need an installation, fail', async () => {
    for (const command of [['run'], ['init'], ['keys', 'rotate'], ['admin', 'recover']]) {
      const args = [...command, '--home', home]
      const { code, stdout, stderr } = await (command[0] === 'run'
        ? runRefused(args)
        : runLatchkey(t, args))
      assert.equal(code, 1, stdout)
      assert.equal(lastLine(stderr), refusal('missing'))
      assert.equal(stdout, '')
      assert.equal(await exists(db), false, 'no database is made')
    }
  })

  await t.test('they also fail if an empty database replaces it', async () => {
    await writeFile(db, '', { mode: 0o600 })
    const { code, stdout, stderr } = await runRefused(['run', '--home', home])
    assert.equal(code, 1, stdout)
    assert.equal(lastLine(stderr), refusal('empty'))
    assert.equal(await readFile(ca, 'utf8'), before)
    assert.equal(await exists(join(home, 'admin-password')), false, 'no administrator was made')
  })

  await t.test('a restore fixes it', async () => {
    const restored = await runLatchkey(t, ['restore', backup, '--home', home])
    assert.equal(restored.code, 0, restored.stderr)
    const again = await startService(t, { home })
    await logIn(again)
    assert.equal(await readFile(ca, 'utf8'), before)
    await again.stop()
  })

  await t.test('deleting the file that the message names fixes it too', async () => {
    await Promise.all(['', '-wal', '-shm'].map((end) => rm(`${db}${end}`, { force: true })))
    await rm(ca)
    const anew = await startService(t, { home })
    await logIn(anew)
    assert.notEqual(await readFile(ca, 'utf8'), before)
    await anew.stop()
  })
})

test('does not install a used home into an empty PostgreSQL database, but does install a new home', async (t) => {
  const postgres = await startPostgres()
  const [full, empty] = [await postgres.freshDatabase(), await postgres.freshDatabase()]
  const home = await homeWithDatabase(t, full)
  await (await startService(t, { home })).stop()

  const config = join(home, 'controller.yml')
  const file = parse(await readFile(config, 'utf8'))
  await writeFile(config, stringify({ ...file, db: empty }))
  const refused = await runRefused(['run', '--home', home], {
    LATCHKEY_ADMIN_PASSWORD: ADMIN.password,
  })
  assert.equal(refused.code, 1)
  assert.match(
    lastLine(refused.stderr) ?? '',
    /^latchkey: the database that "db" names is empty, but the home .* belongs to an installation; /,
  )

  // A new home with a database that is in use is one more instance (D-48).
  const other = await homeWithDatabase(t, full)
  await writeFile(join(other, 'secret'), await readFile(join(home, 'secret')), { mode: 0o600 })
  const second = await startService(t, { home: other })
  await logIn(second)
  await second.stop()

  await writeFile(config, stringify({ ...file, db: full }))
  const again = await startService(t, { home })
  await logIn(again)
  await again.stop()
})

test('does not start with a damaged database, says so in one sentence, and can be restored from the backup', async (t) => {
  const home = await homeWithDatabase(t)
  const path = join(home, 'latchkey.db')
  await (await startService(t, { home })).stop()
  const backup = join(await temporaryFolder(t), 'backup.lkb')
  assert.equal((await runLatchkey(t, ['backup', '--home', home, '--out', backup])).code, 0)
  await damageTable(path, 'events')

  const { code, stdout, stderr } = await runRefused(['run', '--home', home])
  assert.equal(code, 1)
  assert.equal(stdout, '')
  const lines = stderr.trimEnd().split('\n')
  assert.equal(lines.length, 1, stderr)
  const [line = ''] = lines
  assert.ok(line.startsWith(`latchkey: the database ${path} is damaged (`), line)
  assert.ok(
    line.endsWith(
      `); move it away with the files ${path}-wal and ${path}-shm, and restore a backup: latchkey restore`,
    ),
    line,
  )

  await rename(path, `${path}.damaged`)
  assert.equal((await runLatchkey(t, ['restore', backup, '--home', home])).code, 0)
  const again = await startService(t, { home })
  await logIn(again)
  await again.stop()
})
