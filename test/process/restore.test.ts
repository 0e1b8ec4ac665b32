/**
 * `latchkey restore`: a new epoch begins, and nothing that was spent or ended comes back to life. D-159, R042. Files that
 * are not what they should be, and a kill in the middle: D-158, R114.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { enrollByPassword, inviteNew } from '../support/certificates/enrollment.ts'
import { TestClock } from '../support/clocks/clock.ts'
import { legacySession, oidcSession } from '../support/edge/live-session.ts'
import { openTunnel, pass, startRealEdge, travellerOf } from '../support/edge/real-edge.ts'
import { eventually } from '../support/eventually.ts'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { authenticatorApp, enrolledPerson } from '../support/login/authenticator-app.ts'
import { authenticate, CLIENT_API, legacyToken, ztSession } from '../support/login/legacy.ts'
import { bearer, beginLogin, exchange, obtainCode, submitPassword } from '../support/login/login.ts'
import { post, refresh, refreshed } from '../support/login/refresh.ts'
import { administrate } from '../support/management.ts'
import {
  backUp,
  emptyHome,
  environment,
  homeAt,
  makeHome,
  PLACES,
  restore,
  serveAt,
  startAt,
} from '../support/process/backups.ts'
import type { ChildService } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

afterAll(async () => (await startPostgres()).stop())

const ME = `${CLIENT_API}/current-identity`
const KILLER = fileURLToPath(new URL('../support/kills/kill-restore.ts', import.meta.url))

/** A code of the app, or a recovery code, at a legacy login. */
async function proveTotp(
  service: Pick<ChildService, 'call'>,
  person: { readonly username: string; readonly password: string },
  code: string,
) {
  const begun = await authenticate(service, person)
  assert.equal(begun.status, 200, begun.text)
  const token = begun.json().data.token
  const json = { code }
  return service.call(`${CLIENT_API}/authenticate/mfa`, { json, ...ztSession(token) })
}

for (const place of PLACES) {
  suite(place.name, () => {
    // The attack of R042: something was used, or taken away, after the backup. Whoever has kept a copy of it shows it
    // again once the backup is in place, where nothing knows of its use.
    test('R042: nothing that was spent or ended after a backup is valid after its restore, and no session survives', async (t) => {
      const service = await startAt(t, place)
      const { home } = service
      const admin = await administrate(service)
      const person = await enrolledPerson({ ...service, clock: new TestClock() }, admin)
      const disabled = await admin.createIdentity({ password: 'a password of somebody' })
      await admin.act('POST', `/identities/${disabled.id}/disable`, { durationMinutes: 0 })
      const invitation = await inviteNew(admin, { updb: 'invited' })
      const unused = await inviteNew(admin, { ott: true })
      const ended = await legacySession(service)
      const alive = await legacySession(service)
      const first = await oidcSession(service)
      const edge = await startRealEdge(t, service)
      const traveller = await travellerOf(first)
      const tunnel = await openTunnel(t, edge, traveller)
      assert.equal(tunnel.status, 101)
      assert.equal((await pass(t, edge, traveller))?.status, 200)

      const path = await backUp(t, home)

      // What is spent and ended, and what is new, after the backup.
      const begun = await beginLogin(service)
      const spent = await obtainCode(service)
      const form = (one: typeof spent) => ({
        code: one.code,
        code_verifier: one.verifier,
        redirect_uri: one.redirectUri,
      })
      assert.equal((await exchange(service, form(spent))).status, 200)
      const open = await obtainCode(service)
      const successor = (await refreshed(service, first.refreshToken ?? '')).refresh_token
      assert.equal(
        (await ended.call(`${CLIENT_API}/current-api-session`, { method: 'DELETE' })).status,
        200,
      )
      const enrolled = { username: 'invited', password: 'a password of my own' }
      assert.equal((await enrollByPassword(service, invitation.token, enrolled)).status, 200)
      const [usedCode = '', unusedCode = ''] = person.recoveryCodes
      assert.equal((await proveTotp(service, person, usedCode)).status, 200)
      const app = authenticatorApp(person.app.provisioningUrl, new TestClock())
      const step = app.code()
      assert.equal((await proveTotp(service, person, step)).status, 200)
      const shown = [step, app.code(), app.code(1)]
      const newKey = await runLatchkey(t, ['keys', 'rotate', '--revoke-now', '--home', home])
      assert.equal(newKey.code, 0, newKey.stderr)
      // Signed with a key that the backup has never heard of.
      const later = await oidcSession(service)

      const restored = await restore(t, path, home, ['--force'])
      assert.equal(restored.code, 0, restored.stderr)
      assert.match(
        restored.stdout,
        /^The backup of \S+Z was restored \(\d+ rows\)\.\nEarlier sessions, tokens, codes and open enrollments are void: all users log in again\.\nRecovery codes are void too: 1 identities must create new ones\.\nRunning instances stop now with exit code 75; start them again\.\n$/,
      )
      const stopped = await service.finished
      assert.equal(stopped.code, 75, stopped.stderr)
      assert.match(
        stopped.stderr,
        /"the database was restored from a backup; stopping, to be started again"/,
      )

      const again = await startService(t, { home })
      for (const token of [first.token, later.token]) {
        const reply = await again.call(ME, bearer(token))
        assert.equal(reply.status, 401)
        assert.match(
          String(reply.headers['www-authenticate']),
          /realm="service-oidc", error="invalid"/,
        )
        assert.equal((await again.call('/oidc/userinfo', bearer(token))).status, 401)
      }
      for (const { token } of [ended, alive]) {
        const reply = await again.call(ME, ztSession(token))
        assert.equal(reply.status, 401)
        assert.match(
          String(reply.headers['www-authenticate']),
          /realm="zt-session", error="invalid"/,
        )
      }
      for (const token of [first.refreshToken ?? '', successor, later.refreshToken ?? '']) {
        const reply = await refresh(again, token)
        assert.deepEqual([reply.status, reply.json().error], [400, 'invalid_grant'])
      }
      for (const one of [spent, open]) {
        const reply = await exchange(again, form(one))
        assert.deepEqual([reply.status, reply.json().error], [400, 'invalid_grant'])
      }
      const goOn = await submitPassword(again, begun.authRequestId)
      assert.deepEqual([goOn.status, goOn.json().error.code], [400, 'INVALID_AUTH_REQUEST'])
      for (const { token } of [invitation, unused]) {
        const other = { username: 'somebody-else', password: 'a password of my own' }
        const reply = await enrollByPassword(again, token, other)
        assert.deepEqual([reply.status, reply.json().error.code], [400, 'INVALID_ENROLLMENT_TOKEN'])
      }
      // The password that the invitation was exchanged for is gone with everything since the backup.
      assert.equal((await authenticate(again, enrolled)).status, 401)
      for (const code of [...shown, usedCode, unusedCode]) {
        const reply = await proveTotp(again, person, code)
        assert.deepEqual([reply.status, reply.json().error.code], [400, 'MFA_INVALID_TOKEN'], code)
      }
      assert.equal((await authenticate(again, disabled)).json().error.code, 'INVALID_AUTH')
      const hint = await post(again, '/oidc/end_session', { id_token_hint: first.idToken })
      assert.equal(hint.status, 400, hint.text)

      // At the router: what was open is closed, and neither token nor certificate opens anything again.
      await tunnel.closed
      assert.equal((await pass(t, edge, traveller))?.status, 401)
      const fresh = await oidcSession(again)
      const other = await travellerOf(fresh)
      await eventually(
        async () => ((await pass(t, edge, other))?.status === 200 ? true : undefined),
        'the router has the keys of the new epoch',
      )
      const mixed = { shown: traveller.shown, headers: fresh.headers }
      assert.equal((await pass(t, edge, mixed))?.status, 403)

      const newAdmin = await administrate(again)
      const introspected = await post(
        again,
        '/oidc/introspect',
        { token: later.token },
        bearer(newAdmin.token),
      )
      assert.deepEqual(introspected.json(), { active: false })
      const events = await newAdmin.get('/events?filter=type="installation.restored"')
      assert.equal(events.length, 1)
      assert.equal(events[0].details.withoutRecoveryCodes, 1)
      const taken = Date.parse(events[0].details.takenAt)
      assert.ok(taken < Date.parse(events[0].at), 'the backup is older than its restore')
      assert.deepEqual(await newAdmin.get('/enrollments'), [])
    })

    test('a backup goes into an empty database of the same kind and of the other one, and users log in as before', async (t) => {
      const service = await serveAt(t, place)
      const admin = await administrate(service)
      const name = 'Zoë "quoted" \\ 🦊'
      const somebody = await admin.createIdentity({
        name,
        username: 'zoe',
        password: 'a password of somebody',
        tags: { note: 'one\u2028two\tthree\nfour', none: null, few: 1.5, yes: true },
      })
      const path = await backUp(t, service.home)
      const before = await admin.get('/identities?limit=500&sort=name')
      for (const target of PLACES) {
        const home = await emptyHome(t, service.home, target)
        const restored = await restore(t, path, home)
        assert.equal(restored.code, 0, restored.stderr)
        const occupied = await restore(t, path, home)
        assert.equal(occupied.code, 1)
        assert.match(
          occupied.stderr,
          /^latchkey: there is an installation in the database \S+ already; pass --force to replace it\n$/,
        )
        await service.stop()
        const other = await startService(t, { home })
        await legacyToken(other, somebody)
        const after = await (await administrate(other)).get('/identities?limit=500&sort=name')
        const facts = (list: typeof before) =>
          list.map(({ id, name, tags, createdAt, isAdmin }: Record<string, unknown>) => {
            return { id, name, tags, createdAt, isAdmin }
          })
        assert.deepEqual(facts(after), facts(before))
        await other.stop()
      }
    })

    test('R114: a restore that is killed leaves the database empty or whole, and can be repeated', async (t) => {
      const source = await homeAt(t, place)
      const path = await backUp(t, source)
      const home = await emptyHome(t, source, place)
      for (const step of ['rows', 'commit'] as const) {
        const killed = await runLatchkey(t, ['restore', path, '--home', home], {
          nodeArguments: ['--import', KILLER],
          environment: { KILL_AT: step },
        })
        assert.equal(killed.signal, 'SIGKILL', killed.stderr)
        // It would refuse a database with anything in it.
        const backup = await runLatchkey(t, ['backup', '--home', home, '--out', join(home, 'b')])
        assert.equal(backup.code, 1)
        assert.match(backup.stderr, /nothing is installed in/)
      }
      assert.equal((await restore(t, path, home)).code, 0)
      // Replacing is all or nothing as well.
      const killed = await runLatchkey(t, ['restore', path, '--home', home, '--force'], {
        nodeArguments: ['--import', KILLER],
        environment: { KILL_AT: 'commit' },
      })
      assert.equal(killed.signal, 'SIGKILL', killed.stderr)
      const again = await startService(t, { home })
      await legacyToken(again, ADMIN)
      const events = await (await administrate(again)).get(
        '/events?filter=type="installation.restored"',
      )
      assert.equal(events.length, 1)
    })
  })
}

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
    assert.equal(missing.code, 1)
    assert.match(
      missing.stderr,
      /^latchkey: ENOENT: no such file or directory, \w+ '\S+no\.lkb'\n$/,
    )
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
  assert.match(verified.stdout, /\nIt was made with the available installation secret\.\n$/)

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
    assert.equal(stderr, `latchkey: ${complaint}\n"latchkey --help" lists the commands.\n`)
  }
  await assert.rejects(stat(home), { code: 'ENOENT' })
})
