/**
 * docs/upgrade.md is run, with the same version in the place of a newer one: there is no other yet. That a version refuses a
 * database of a newer one, and which words it has for that, is shown by a migration that this one does not know.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { runGuide } from '../support/guides/guide.ts'
import { freePort } from '../support/ports.ts'
import { operatorMachine } from '../support/process/operator-machine.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'

const PAGE = 'docs/upgrade.md'

test('the lines of docs/upgrade.md replace a version and go back to the one before', async (t) => {
  const machine = await operatorMachine(t)
  const address = `localhost:${await freePort()}`
  await runGuide(t, 'docs/upgrade.md', {
    before: machine.installed(address),
    environment: machine.environment,
    replace: { ...(await machine.replace(PAGE)), 'auth.example.com:1280': address },
    notRun: { 'npm install --global': 'fetches packages; package.test.ts runs what is packed' },
  })
})

test('a database that a newer version has changed is refused with the words of docs/upgrade.md, and is not touched', async (t) => {
  const home = await preparedHome(t)
  const file = join(home, 'latchkey.db')
  const database = new DatabaseSync(file)
  database.exec("insert into migrations (name) values ('0002-later')")
  database.close()
  const before = await readFile(file)

  const page = await readFile(new URL(`../../${PAGE}`, import.meta.url), 'utf8')
  const promised = /^latchkey: the database .*$/m.exec(page)?.[0] ?? ''
  const said = promised.replace('/var/lib/latchkey/latchkey.db', file).replace('…', '0002-later')
  const other = `latchkey: the database ${file} is of another version of Latchkey; use the one that runs on it`
  const commands: readonly (readonly [args: readonly string[], complaint: string])[] = [
    [['run'], said],
    [['keys', 'rotate'], said],
    [['backup', '--out', join(home, 'backup.lkb')], other],
  ]
  for (const [args, complaint] of commands) {
    const { code, stdout, stderr } = await runLatchkey(t, [...args, '--home', home])
    assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: `${complaint}\n` })
  }
  assert.deepEqual(await readFile(file), before)
})
