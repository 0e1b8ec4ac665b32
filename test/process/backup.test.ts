/**
 * `latchkey backup`: one moment of the database in one file, while the service works. D-158. A stolen one opens nothing
 * (R110).
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { shellWord } from '../../src/base/shell-word.ts'
import { inviteNew } from '../support/certificates/enrollment.ts'
import { TestClock } from '../support/clocks/clock.ts'
import { eventually } from '../support/eventually.ts'
import { authenticatorApp, enrolledPerson } from '../support/login/authenticator-app.ts'
import { logInOffline } from '../support/login/refresh.ts'
import { administrate } from '../support/management.ts'
import {
  backUp,
  emptyHome,
  makeHome,
  PLACES,
  restore,
  serveAt,
  startAt,
} from '../support/process/backups.ts'
import { changeConfig } from '../support/process/child-home.ts'
import { spawnLatchkey } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { childEnvironment } from '../support/process/program.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { programFor } from '../support/programs/shipped-program.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

const KILLER = fileURLToPath(new URL('../support/kills/kill-restore.ts', import.meta.url))

afterAll(async () => (await startPostgres()).stop())

interface Table {
  readonly count: number
  readonly columns: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** By the documented form alone: docs/backup.md. */
async function readTables(path: string): Promise<ReadonlyMap<string, Table>> {
  const [, ...lines] = (await readFile(path, 'utf8')).trimEnd().split('\n')
  const tables = new Map<string, Table & { rows: unknown[][] }>()
  let last = ''
  for (const line of lines.slice(0, -1)) {
    const value = JSON.parse(line)
    if (Array.isArray(value)) tables.get(last)?.rows.push(value)
    else {
      last = value.table
      tables.set(last, { count: value.count, columns: value.columns, rows: [] })
    }
  }
  return tables
}

for (const place of PLACES) {
  suite(place.name, () => {
    test('while identities are made all the time, a backup has one moment, gets in the way of none, and can be restored', async (t) => {
      const service = await startAt(t, place)
      const admin = await administrate(service)
      let isOver = false
      const made: string[] = []
      const work = async (worker: number) => {
        for (let i = 0; !isOver; i++) {
          // An identity and its password: two rows of two tables, in two commits.
          const name = `somebody-${worker}-${i}`
          // Answered 201, or this throws: who would have to wait for a backup is refused after five seconds.
          made.push((await admin.createIdentity({ name, password: 'a password of somebody' })).id)
        }
      }
      const workers = Promise.all([work(1), work(2), work(3)])
      const more = (count: number) =>
        eventually(() => (made.length >= count ? true : undefined), `${count} identities`)
      const paths: string[] = []
      for (const before of [1, 4, 7]) {
        await Promise.race([workers, more(before)])
        paths.push(await backUp(t, service.home))
      }
      await Promise.race([workers, more(made.length + 1)])
      isOver = true
      await workers

      const sizes: number[] = []
      for (const path of paths) {
        const tables = await readTables(path)
        for (const [name, { count, rows }] of tables) assert.equal(rows.length, count, name)
        const ids = new Set(tables.get('identities')?.rows.map(([id]) => id))
        const owners = tables.get('authenticators')?.rows.map(([, owner]) => owner) ?? []
        assert.ok(
          owners.every((owner) => ids.has(owner)),
          'nobody has a password without being there',
        )
        sizes.push(ids.size)
      }
      assert.deepEqual(
        sizes,
        sizes.toSorted((a, b) => a - b),
      )
      assert.ok((sizes[0] ?? 0) < made.length + 1, 'the first was taken in between')
      const home = await emptyHome(t, service.home, place)
      const restored = await restore(t, paths[2] ?? '', home)
      assert.equal(restored.code, 0, restored.stderr)
    })

    // Somebody finds a backup, or the disk that it was on.
    test('R110: a backup has neither session nor token nor code nor signing key, and nothing in it is a secret in the clear', async (t) => {
      const service = await serveAt(t, place)
      const admin = await administrate(service)
      const person = await enrolledPerson({ ...service, clock: new TestClock() }, admin)
      const { token } = await inviteNew(admin, { ott: true })
      const { refresh_token, access_token } = await logInOffline(service)
      const path = await backUp(t, service.home)
      assert.equal((await stat(path)).mode & 0o777, 0o600)
      const text = await readFile(path, 'utf8')
      const secret = (await readFile(join(service.home, 'secret'), 'utf8')).trim()
      const app = authenticatorApp(person.app.provisioningUrl, new TestClock())
      const totp = new URL(app.provisioningUrl).searchParams.get('secret') ?? ''
      for (const held of [secret, totp, token, refresh_token, access_token, person.password]) {
        assert.ok(held.length > 5 && !text.includes(held))
      }
      for (const code of person.recoveryCodes) assert.ok(!text.includes(`"${code}"`))
      assert.deepEqual(
        [...(await readTables(path)).keys()],
        [
          'installation',
          'auth_policies',
          'external_jwt_signers',
          'cas',
          'rule_versions',
          'identities',
          'authenticators',
          'totp_enrollments',
          'passkeys',
          'code_guesses',
          'password_failures',
          'session_endings',
          'authorities',
          'events',
          'session_samples',
        ],
      )
      assert.doesNotMatch(text, /PRIVATE KEY/)
    })
  })
}

test('the installation secret is left out, and the output says so; with a passphrase it is in it, encrypted', async (t) => {
  const home = await preparedHome(t)
  const folder = await temporaryFolder(t)
  const plain = join(folder, 'plain.lkb')
  const without = await runLatchkey(t, ['backup', '--home', home, '--out', plain])
  assert.equal(without.code, 0, without.stderr)
  assert.equal(without.stderr, '')
  assert.match(
    without.stdout,
    /^The backup \S+\/plain\.lkb is written \(\d+ rows\)\.\nThe installation secret is not in it, and the backup cannot be restored without it\. Keep the secret elsewhere\.\n$/,
  )
  assert.equal(JSON.parse((await readFile(plain, 'utf8')).split('\n')[0] ?? '').secret, undefined)

  const file = join(folder, 'passphrase')
  const args = ['--with-secret', '--passphrase-file', file]
  const to = (name: string) => ['backup', '--home', home, '--out', join(folder, name), ...args]
  const cases: readonly (readonly [text: string | undefined, mode: number, complaint: RegExp])[] = [
    [undefined, 0o600, /^latchkey: there is no file \S+\/passphrase\n$/],
    ['\nsecond line\n', 0o600, /^latchkey: the first line of \S+\/passphrase is empty\n$/],
    ['elevenchars\n', 0o600, /^latchkey: the passphrase has fewer than 12 characters\n$/],
    ['correct horse battery staple\n', 0o644, /^latchkey: every user of this machine can access /],
  ]
  for (const [text, mode, complaint] of cases) {
    if (text !== undefined) await writeFile(file, text)
    if (text !== undefined) await chmod(file, mode)
    const refused = await runLatchkey(t, to('no.lkb'))
    assert.equal(refused.code, text === undefined ? 66 : 1)
    assert.match(refused.stderr, complaint)
  }
  await chmod(file, 0o600)
  const made = await runLatchkey(t, to('with.lkb'))
  assert.equal(made.code, 0, made.stderr)
  assert.match(
    made.stdout,
    /\nThe installation secret is in it, encrypted with the passphrase\.\n$/,
  )
  assert.deepEqual((await readdir(folder)).sort(), ['passphrase', 'plain.lkb', 'with.lkb'])
})

test('an existing file is replaced only with --force, and other users cannot read one that is being written', async (t) => {
  const home = await preparedHome(t)
  const path = await backUp(t, home)
  const before = await readFile(path, 'utf8')
  const refused = await runLatchkey(t, ['backup', '--home', home, '--out', path])
  assert.deepEqual(refused, {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `latchkey: ${path} already exists; pass --force to replace it\n`,
  })
  assert.equal(await readFile(path, 'utf8'), before)
  const forced = await runLatchkey(t, ['backup', '--home', home, '--out', path, '--force'])
  assert.equal(forced.code, 0, forced.stderr)
  assert.notEqual(await readFile(path, 'utf8'), before)
  assert.deepEqual(await readdir(dirname(path)), ['backup.lkb'])

  // Of two at once one has the name.
  const both = join(dirname(path), 'both.lkb')
  const two = await Promise.all(
    [0, 1].map(() => spawnLatchkey(t, ['backup', '--home', home, '--out', both]).finished),
  )
  assert.deepEqual(two.map(({ code }) => code).sort(), [0, 1])
  assert.equal((await restore(t, both, home, ['--verify'])).code, 0)
  assert.deepEqual((await readdir(dirname(path))).sort(), ['backup.lkb', 'both.lkb'])
})

test('D-495: --force replaces an empty file, and nothing else that is not a backup', async (t) => {
  const home = await preparedHome(t)
  const take = (path: string, ...more: readonly string[]) =>
    runLatchkey(t, ['backup', '--home', home, '--out', path, ...more])
  const pipe = join(home, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const path of [join(home, 'latchkey.db'), join(home, 'secret'), pipe]) {
    const before = await stat(path)
    const { code, stdout, stderr } = await take(path, '--force')
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
    assert.equal(
      stderr,
      `latchkey: ${path} is not a backup, so --force does not replace it; choose another name\n`,
    )
    const { ino, size } = await stat(path)
    assert.deepEqual({ ino, size }, { ino: before.ino, size: before.size })
  }
  const folder = await take(home)
  assert.equal(folder.code, 1)
  assert.equal(folder.stderr, `latchkey: ${home} is a folder; name a file in it\n`)

  const empty = join(home, 'empty.lkb')
  await writeFile(empty, '')
  const made = await take(empty, '--force')
  assert.equal(made.code, 0, made.stderr)
  assert.equal((await restore(t, empty, home, ['--verify'])).code, 0)
})

test('where it cannot be taken or written, the command says why', async (t) => {
  const home = await preparedHome(t)
  const nowhere = await runLatchkey(t, [
    'backup',
    '--home',
    join(home, 'no'),
    '--out',
    join(home, 'b'),
  ])
  assert.equal(nowhere.code, 1)
  assert.match(
    nowhere.stderr,
    /^latchkey: nothing is installed in \S+\/no yet; run: latchkey init --home \S+\/no\n$/,
  )
  const folder = await runLatchkey(t, ['backup', '--home', home, '--out', join(home, 'no', 'b')])
  assert.equal(folder.code, 1)
  assert.equal(
    folder.stderr,
    `latchkey: ${join(home, 'no', 'b')} cannot be written: the folder does not exist\n`,
  )

  const other = await makeHome(t)
  await changeConfig(home, (config) => {
    config.db = join(other, 'latchkey.db')
  })
  const foreign = await runLatchkey(t, ['backup', '--home', home, '--out', join(home, 'b')])
  assert.equal(foreign.code, 1)
  assert.equal(
    foreign.stderr,
    'latchkey: this database was made with a different installation secret\n',
  )
  await changeConfig(home, (config) => {
    config.db = 'new.db'
  })
  const empty = await runLatchkey(t, ['backup', '--home', home, '--out', join(home, 'b')])
  assert.equal(empty.code, 1)
  // D-252: there was an installation here.
  assert.match(empty.stderr, /^latchkey: the database \S+\/new\.db is missing, but the home /)
  assert.ok(!(await readdir(home)).some((name) => name === 'new.db' || name === 'b'))

  const cases: readonly (readonly [args: string[], complaint: string])[] = [
    [['backup', '--home', home], '"backup" needs --out'],
    [
      ['backup', '--home', home, '--out', 'b', '--passphrase-file', 'p'],
      '--passphrase-file needs --with-secret: only the secret is encrypted with it',
    ],
    [
      ['backup', '--home', other, '--out', join(home, 'b'), '--with-secret'],
      '--passphrase-file is missing, and there is no terminal to ask on',
    ],
  ]
  for (const [args, complaint] of cases) {
    const { code, stderr } = await runLatchkey(t, args)
    assert.equal(code, 64, args.join(' '))
    assert.equal(stderr, `latchkey: ${complaint}\nSee "latchkey backup --help".\n`)
  }
})

test('R114: a backup that is killed before it has its name leaves the former one as it was', async (t) => {
  const service = await startService(t)
  const path = await backUp(t, service.home)
  const before = await readFile(path, 'utf8')
  const killed = await runLatchkey(
    t,
    ['backup', '--home', service.home, '--out', path, '--force'],
    { nodeArguments: ['--import', KILLER], environment: { KILL_AT: 'place' } },
  )
  assert.equal(killed.signal, 'SIGKILL', killed.stderr)
  assert.equal(await readFile(path, 'utf8'), before)
  // What was written lies beside it, for its owner's eyes alone.
  const [beside = '', ...more] = (await readdir(dirname(path))).filter((name) =>
    name.startsWith('.'),
  )
  assert.match(beside, /^\.backup\.lkb\./)
  assert.deepEqual(more, [])
  assert.equal((await stat(join(dirname(path), beside))).mode & 0o777, 0o600)
  // The service has noticed nothing.
  await administrate(service)
})

/** `script` of util-linux gives a command a terminal of its own. */
function hasTerminals(): boolean {
  try {
    return /util-linux/.test(execFileSync('script', ['--version'], { encoding: 'utf8' }))
  } catch {
    return false
  }
}

/** Runs the command on a terminal, and types an answer to each question. Answers what was seen there. */
async function onTerminal(
  t: TestContext,
  args: readonly string[],
  answers: readonly string[],
): Promise<{ readonly code: number; readonly seen: string }> {
  const command = [process.execPath, programFor(t, args), ...args].map(shellWord).join(' ')
  const terminal = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: childEnvironment({ SHELL: '/bin/sh' }),
  })
  const waiting = [...answers]
  let seen = ''
  let from = 0
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text
    const asked = /: $/.test(seen.slice(from))
    const answer = asked ? waiting.shift() : undefined
    if (answer === undefined) return
    from = seen.length
    // The question is printed only when typed input is no longer echoed.
    terminal.stdin.write(answer)
  })
  const [code] = await once(terminal, 'close')
  return { code, seen }
}

test('on a terminal the passphrase is asked for twice and never shown; a restore asks for it once', {
  skip: !hasTerminals() && 'there is no script(1) of util-linux here',
}, async (t) => {
  const home = await preparedHome(t)
  const path = join(await temporaryFolder(t), 'asked.lkb')
  const args = ['backup', '--home', home, '--out', path, '--with-secret']
  const passphrase = 'correct horse battery staple'
  const differing = await onTerminal(t, args, [`${passphrase}\r`, 'correct horse battery stable\r'])
  assert.equal(differing.code, 1, differing.seen)
  assert.match(differing.seen, /latchkey: the two do not match/)
  const interrupted = await onTerminal(t, args, ['corr\u0003'])
  assert.equal(interrupted.code, 130)
  assert.match(interrupted.seen, /latchkey: given up/)

  // With a slip that is taken back.
  const made = await onTerminal(t, args, [
    `correct x\u007fhorse battery staple\r`,
    `${passphrase}\r`,
  ])
  assert.equal(made.code, 0, made.seen)
  assert.match(made.seen, /^Passphrase of the backup: \r\nRepeat it: \r\n/)
  await rm(join(home, 'secret'))
  await rm(join(home, 'latchkey.db'))
  const restored = await onTerminal(t, ['restore', path, '--home', home], [`${passphrase}\r`])
  assert.equal(restored.code, 0, restored.seen)
  for (const { seen } of [differing, interrupted, made, restored]) {
    assert.ok(!/horse|stable|corr/.test(seen), seen)
  }
})
