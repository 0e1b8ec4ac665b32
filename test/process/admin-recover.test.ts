/**
 * `latchkey admin recover`, beside a running service and without one: D-49, D-140. What is reset for whom is in
 * src/domain/installation/recover-administrator.test.ts.
 */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { TestClock } from '../support/clocks/clock.ts'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import { setUpApp } from '../support/login/authenticator-app.ts'
import { authenticate, CLIENT_API, legacyToken, ztSession } from '../support/login/legacy.ts'
import { bearer, logIn } from '../support/login/login.ts'
import { administrate, assertRefused, logInAs } from '../support/management.ts'
import { startChild, waitFor } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { ADMIN, startService, temporaryFolder } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

afterAll(async () => (await startPostgres()).stop())

const recover = (t: TestContext, home: string, ...args: readonly string[]) =>
  runLatchkey(t, ['admin', 'recover', '--home', home, ...args], {
    // The variable of a first start means nothing here: the one that it names may be what has leaked.
    environment: { LATCHKEY_ADMIN_PASSWORD: 'another long password' },
  })

const passwordIn = async (home: string) =>
  (await readFile(join(home, 'admin-password'), 'utf8')).trimEnd()

for (const name of ['SQLite', 'PostgreSQL']) {
  suite(name, () => {
    test('beside a running service, a locked-out administrator can log in again, and their earlier sessions end', async (t) => {
      const home = await preparedHome(t)
      if (name === 'PostgreSQL') await moveToPostgres(home)
      const service = await startChild(t, { home })
      const admin = await administrate(service)
      const { access_token: token } = await logIn(service)
      const legacy = await legacyToken(service)
      await setUpApp({ ...service, clock: new TestClock() }, ADMIN)
      for (let i = 0; i < 10; i++) {
        const guess = { username: ADMIN.username, password: `wrong password ${i}` }
        assertRefused(await authenticate(service, guess), 401, 'INVALID_AUTH')
      }
      assertRefused(await authenticate(service, ADMIN), 401, 'INVALID_AUTH')
      // Nobody else is touched.
      const other = { name: 'other', password: 'a password of another' }
      const { username } = await admin.createIdentity(other)
      const { access_token: others } = await logInAs(service, { username, ...other })

      const { code, stdout, stderr } = await recover(t, home)
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
      const file = join(home, 'admin-password')
      assert.equal(
        stdout,
        `The administrator is "admin"; the password is in ${file}
Reset for "admin": password, lock, TOTP and recovery codes.
Sessions ended: 4.
`,
      )
      assert.equal((await stat(file)).mode & 0o777, 0o600)
      const password = await passwordIn(home)
      assert.match(password, /^[\w-]{20}$/)

      const me = `${CLIENT_API}/current-identity`
      await waitFor(
        async () => (await service.call(me, bearer(token))).status === 401,
        () => 'the end of the old session',
        service,
      )
      assert.equal((await service.call(me, ztSession(legacy))).status, 401)
      assert.equal((await service.call(me, bearer(others))).status, 200)
      assertRefused(await authenticate(service, ADMIN), 401, 'INVALID_AUTH')
      const back = await administrate(service, { username: 'admin', password })
      const [event, ...more] = await back.get('/events?filter=type="administrator.recovered"')
      assert.deepEqual(more, [])
      assert.deepEqual(event.details, { reset: ['password', 'lock', 'totp'] })
      assert.equal(JSON.stringify(event).includes(password), false)
    })
  })
}

test('where there are several administrators, they are listed and one must be named', async (t) => {
  const service = await startService(t)
  const { home } = service
  const admin = await administrate(service)
  const bea = await admin.createIdentity({ name: 'Bea', isAdmin: true })
  const adminId = (await admin.get('/identities?filter=name="admin"'))[0].id
  await service.stop()

  const refused = await recover(t, home)
  assert.deepEqual(refused, {
    code: 64,
    signal: null,
    stdout: '',
    stderr: `latchkey: there are several administrators; choose one with --identity:
  "Bea" (${bea.id})
  "admin" (${adminId})
`,
  })
  const unknown = await recover(t, home, '--identity', 'bea')
  assert.equal(unknown.code, 64)
  assert.equal(unknown.stderr, 'latchkey: there is no identity "bea"\n')
  assert.ok(!(await readdir(home)).includes('admin-password'))

  // She had a certificate at best: a password is given to her.
  const { code, stdout } = await recover(t, home, '--identity', 'Bea')
  assert.equal(code, 0)
  assert.match(stdout, /^The administrator is "Bea"; the password is in /)
  const again = await startService(t, { home })
  await administrate(again, { username: 'Bea', password: await passwordIn(home) })
  await administrate(again)
})

test('D-330: a password that cannot be stored is not set, and nothing else changes', async (t) => {
  const home = await preparedHome(t)
  const file = join(home, 'admin-password')
  await mkdir(file)
  const refused = await recover(t, home)
  assert.deepEqual(refused, {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `latchkey: ${file} cannot be written: it is a folder\n`,
  })
  const service = await startService(t, { home })
  const admin = await administrate(service)
  assert.deepEqual(await admin.get('/events?filter=type="administrator.recovered"'), [])
})

test('with a default policy that forbids passwords the way back in is a policy of its own, and a login follows', async (t) => {
  const home = await preparedHome(t)
  // What no call lets happen: nobody can log in by password.
  const db = new DatabaseSync(join(home, 'latchkey.db'))
  db.exec(
    `update auth_policies set body = replace(body, '"updb":{"allowed":true', '"updb":{"allowed":false')`,
  )
  const { body } = db.prepare("select body from auth_policies where id = 'default'").get() ?? {}
  assert.match(String(body), /"updb":\{"allowed":false/)
  db.close()

  const { code, stdout } = await recover(t, home)
  assert.equal(code, 0)
  assert.match(stdout, /^Reset for "admin": password, policy\.$/m)
  assert.match(
    stdout,
    /^The policy "default" does not allow logins with only a password and was not changed; this identity now has the policy "recovery"\.$/m,
  )
  const again = await startService(t, { home })
  const admin = await administrate(again, { username: 'admin', password: await passwordIn(home) })
  const policy = await admin.get('/auth-policies/default')
  assert.equal(policy.primary.updb.allowed, false)
})

test('where nothing is installed, or an option is wrong, nothing is made', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const nothing = await recover(t, home)
  assert.deepEqual([nothing.code, nothing.stdout], [1, ''])
  assert.equal(
    nothing.stderr,
    `latchkey: nothing is installed in ${home} yet; run: latchkey init --home ${home}\n`,
  )
  const empty = await recover(t, home, '--identity', '')
  assert.equal(empty.code, 64)
  assert.match(empty.stderr, /^latchkey: --identity is empty\n/)
  const foreign = await recover(t, home, '--listen', 'x')
  assert.equal(foreign.code, 64)
  assert.match(foreign.stderr, /^latchkey: "admin recover" takes no --listen\n/)
  assert.deepEqual(await readdir(join(home, '..')), [])
})
