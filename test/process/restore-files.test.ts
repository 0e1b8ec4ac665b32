/**
 * `latchkey restore` with files that are not what they should be, with another installation secret, and with one that is
 * in the backup: D-158.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { legacyToken } from '../support/login/legacy.ts'
import { backUp, environment, makeHome, restore } from '../support/process/backups.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'

/** The backup with another content, and the SHA-256 that belongs to it. */
function hashedAgain(lines: readonly string[]): string {
  const body = `${lines.join('\n')}\n`
  const proof = 'A'.repeat(43)
  const sha256 = createHash('sha256').update(body).digest('hex')
  return `${body}${JSON.stringify({ sha256, proof })}\n`
}

suite('a file is refused, with a sentence that says why, by --verify and by a restore alike', () => {
  const cases: Readonly<Record<string, (text: string) => readonly [string, complaint: string]>> = {
    'that is empty': () => ['', 'is not a backup of Latchkey'],
    'that is something else': () => ['hello', 'is not a backup of Latchkey'],
    'that is JSON of somebody else': () => ['{"format":"zip"}\n', 'is not a backup of Latchkey'],
    'that is cut in the middle of a line': (text) => [
      text.slice(0, text.length / 2),
      'is cut off: its end is missing',
    ],
    'that is cut after a line': (text) => [
      `${text.trimEnd().split('\n').slice(0, -1).join('\n')}\n`,
      'is cut off: its end is missing',
    ],
    'that has one letter altered': (text) => [
      text.replace('"admin","Default",1', '"Admin","Default",1'),
      'is damaged or was altered: its SHA-256 does not match',
    ],
    'that has a row less': (text) => {
      const lines = text.split('\n')
      const at = lines.findIndex((line) => line.includes('"table":"events"')) + 1
      return [lines.toSpliced(at, 1).join('\n'), 'is damaged: a row of events cannot be read']
    },
    'that has data after its end': (text) => [`${text}[]\n`, 'has data after its end'],
    'that misses a table, and was hashed again': (text) => {
      const lines = text.trimEnd().split('\n').slice(0, -1)
      const at = lines.findIndex((line) => line.includes('"table":"events"'))
      return [hashedAgain(lines.slice(0, at)), 'is damaged: a table is missing']
    },
    'of a newer form': (text) => [
      text.replace('"version":1', '"version":2'),
      'was made by a newer version of Latchkey; restore it with that one or a later one',
    ],
    'of a newer database': (text) => [
      text.replace('"shape":["', '"shape":["9999-future","'),
      'was made by a newer version of Latchkey; restore it with that one or a later one',
    ],
    'of an older database': (text) => [
      text.replace(/"shape":\[[^\]]*\]/, '"shape":[]'),
      'was made by an older version of Latchkey; restore it with that one, then update',
    ],
    // Somebody with access to the backups makes himself an administrator, and hashes the file again.
    'that was altered with a SHA-256 to fit it': (text) => {
      const lines = text.trimEnd().split('\n').slice(0, -1)
      return [
        hashedAgain(
          lines.map((line) => line.replace('"admin","Default",1', '"Admin","Default",1')),
        ),
        'was altered: the installation secret does not confirm its contents',
      ]
    },
  }
  let prepared: Promise<{ readonly home: string; readonly text: string }> | undefined
  for (const [title, change] of Object.entries(cases)) {
    test(title, async (t) => {
      prepared ??= (async () => {
        const home = await preparedHome(t)
        return { home: await readHome(home), text: await readFile(await backUp(t, home), 'utf8') }
      })()
      const { home: secret, text } = await prepared
      const home = join(await temporaryFolder(t), 'home')
      await copyInstalledHome(home)
      await rm(join(home, 'latchkey.db'))
      await writeFile(join(home, 'secret'), secret)
      const path = join(await temporaryFolder(t), 'spoilt.lkb')
      const [spoilt, complaint] = change(text)
      assert.notEqual(spoilt, text)
      await writeFile(path, spoilt)
      for (const more of [['--verify'], []]) {
        const refused = await restore(t, path, home, more)
        assert.deepEqual(refused, {
          code: 1,
          signal: null,
          stdout: '',
          stderr: `latchkey: ${path} ${complaint}\n`,
        })
      }
      await assert.rejects(stat(join(home, 'latchkey.db')), { code: 'ENOENT' })
      // The good one goes in all the same.
      await writeFile(path, text)
      assert.equal((await restore(t, path, home)).code, 0)
    })
  }
})

const readHome = (home: string) => readFile(join(home, 'secret'), 'utf8')

test('a missing file is named, and so is another installation secret', async (t) => {
  const home = await preparedHome(t)
  const fresh = join(await temporaryFolder(t), 'new')
  for (const more of [['--verify'], []]) {
    const missing = await restore(t, join(home, 'no.lkb'), fresh, more)
    assert.equal(missing.code, 66)
    assert.equal(missing.stderr, `latchkey: there is no file ${join(home, 'no.lkb')}\n`)
    const folder = await restore(t, home, fresh, more)
    assert.equal(folder.code, 66)
    assert.equal(folder.stderr, `latchkey: ${home} cannot be read: it is a folder\n`)
  }
  await assert.rejects(stat(fresh), { code: 'ENOENT' })

  const path = await backUp(t, home)
  const stranger = await makeHome(t)
  for (const more of [['--verify'], ['--force']]) {
    const refused = await restore(t, path, stranger, more)
    assert.equal(refused.code, 1)
    assert.equal(
      refused.stderr,
      `latchkey: ${path} was made with a different installation secret than the one in ${join(stranger, 'secret')}\n`,
    )
  }
  // Where there is none, it is said that not all was checked.
  const nowhere = join(await temporaryFolder(t), 'nowhere')
  const verified = await restore(t, path, nowhere, ['--verify'])
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(
    verified.stdout,
    /^The backup of \S+ is complete \(\d+ rows\)\.\nIts origin was not checked: there is no installation secret here; it has none in it\.\n$/,
  )
  await assert.rejects(stat(nowhere), { code: 'ENOENT' })
  await rm(join(stranger, 'secret'))
  await rm(join(stranger, 'latchkey.db'))
  const without = await restore(t, path, stranger)
  assert.equal(without.code, 1)
  assert.equal(
    without.stderr,
    `latchkey: the installation secret ${join(stranger, 'secret')} is missing; ${path} needs it, and the backup does not have it; copy it here\n`,
  )
})

test('a secret in the backup comes back with its passphrase, and with no other', async (t) => {
  const home = await preparedHome(t)
  const file = join(home, 'passphrase')
  await writeFile(file, 'correct horse battery staple\n', { mode: 0o600 })
  const path = await backUp(t, home, ['--with-secret', '--passphrase-file', file])
  const secret = (await readHome(home)).trim()
  assert.ok(!(await readFile(path, 'utf8')).includes(secret))

  const other = join(await temporaryFolder(t), 'fresh')
  const wrong = join(home, 'wrong')
  await writeFile(wrong, 'correct horse battery stable\n', { mode: 0o600 })
  const refused = await runRestore(t, [path, '--home', other, '--passphrase-file', wrong])
  assert.equal(refused.code, 1)
  assert.equal(
    refused.stderr,
    `latchkey: the passphrase does not open the installation secret in ${path}\n`,
  )
  const without = await runRestore(t, [path, '--home', other])
  assert.equal(without.code, 1)
  assert.match(
    without.stderr,
    /is missing; \S+ needs it, give the passphrase of the one in the backup\n$/,
  )
  const verified = await runRestore(t, [
    path,
    '--verify',
    '--home',
    other,
    '--passphrase-file',
    file,
  ])
  assert.equal(verified.code, 0, verified.stderr)
  assert.match(verified.stdout, /\nIt matches the installation secret that it contains\.\n$/)

  const restored = await runRestore(t, [path, '--home', other, '--passphrase-file', file])
  assert.equal(restored.code, 0, restored.stderr)
  assert.equal((await readHome(other)).trim(), secret)
  assert.equal((await stat(join(other, 'secret'))).mode & 0o777, 0o600)
  const service = await startService(t, { home: other })
  await legacyToken(service, ADMIN)
})

function runRestore(t: TestContext, args: readonly string[]) {
  return runLatchkey(t, ['restore', ...args], { environment })
}

test('what the command line does not understand is refused with 64, and nothing is made', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const cases: readonly (readonly [args: string[], complaint: string])[] = [
    [['restore'], '"restore" needs a FILE'],
    [['restore', ''], '"restore" needs a FILE'],
    [['restore', 'a', 'b'], '"restore" takes one FILE'],
    [['restore', 'a', '--verify', '--force'], '--verify replaces nothing'],
    [['restore', 'a', '--out', 'b'], '"restore" takes no --out'],
    [['restore', 'a', '--passphrase-file', ''], '--passphrase-file is empty'],
  ]
  for (const [args, complaint] of cases) {
    const { code, stderr } = await runLatchkey(t, args, { environment: { LATCHKEY_HOME: home } })
    assert.equal(code, 64, args.join(' '))
    assert.equal(stderr, `latchkey: ${complaint}\nSee "latchkey restore --help".\n`)
  }
  await assert.rejects(stat(home), { code: 'ENOENT' })
})
