/**
 * `latchkey secret rotate`, beside running instances and without, killed at every step: D-141, D-142. What people hold
 * – refresh tokens, `zt-session` tokens, recovery codes, authenticator apps – outlives the secret (R110).
 */
import assert from 'node:assert/strict'
import { chmod, chown, copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { TestClock } from '../support/clocks/clock.ts'
import { copyInstalledHome } from '../support/homes/installed-home.ts'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import { STEPS } from '../support/kills/kill-rotation.ts'
import { type EnrolledPerson, enrolledPerson } from '../support/login/authenticator-app.ts'
import { authenticate, CLIENT_API, legacyToken, ztSession } from '../support/login/legacy.ts'
import { bearer } from '../support/login/login.ts'
import { logInOffline, refreshed } from '../support/login/refresh.ts'
import { administrate } from '../support/management.ts'
import { changeConfig, fixPort } from '../support/process/child-home.ts'
import { type ChildService, spawnLatchkey, startChild } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey, runRefused } from '../support/process/run-command.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { startPostgres } from '../support/stores/postgres.ts'

afterAll(async () => (await startPostgres()).stop())

const KILLER = fileURLToPath(new URL('../support/kills/kill-rotation.ts', import.meta.url))
const environment = { LATCHKEY_ADDRESS: 'localhost:0', LATCHKEY_ADMIN_PASSWORD: 'a long password' }

type Prepare = (home: string) => Promise<void>

const DATABASES: readonly (readonly [name: string, prepare: Prepare])[] = [
  ['SQLite', async () => {}],
  ['PostgreSQL', async (home) => void (await moveToPostgres(home))],
]

/** A home that always listens at the same port: tokens are for an address. */
async function homeWithPort(t: TestContext, prepare: Prepare): Promise<string> {
  const home = await preparedHome(t)
  await prepare(home)
  await fixPort(home)
  return home
}

const rotate = (t: TestContext, home: string, variables: Record<string, string> = {}) =>
  runLatchkey(t, ['secret', 'rotate', '--home', home], { environment: variables })

const secretOf = async (home: string) => (await readFile(join(home, 'secret'), 'utf8')).trim()

const waitingFiles = async (home: string) =>
  (await readdir(home)).filter((name) => name.startsWith('secret.next-'))

/** What somebody holds, from before. */
interface Held {
  refreshToken: string
  readonly accessToken: string
  readonly ztSession: string
  readonly person: EnrolledPerson
  readonly recoveryCodes: string[]
}

type Running = Pick<ChildService, 'home' | 'baseUrl' | 'ca' | 'call'>

async function hold(service: Running): Promise<Held> {
  const admin = await administrate(service)
  const person = await enrolledPerson({ ...service, clock: new TestClock() }, admin)
  const { refresh_token, access_token } = await logInOffline(service)
  const recoveryCodes = [...person.recoveryCodes]
  const zt = await legacyToken(service)
  return {
    refreshToken: refresh_token,
    accessToken: access_token,
    ztSession: zt,
    person,
    recoveryCodes,
  }
}

async function checkHeld(service: Running, held: Held, code: string): Promise<void> {
  const me = `${CLIENT_API}/current-identity`
  assert.equal((await service.call(me, bearer(held.accessToken))).status, 200)
  assert.equal((await service.call(me, ztSession(held.ztSession))).status, 200)
  held.refreshToken = (await refreshed(service, held.refreshToken)).refresh_token

  const begun = await authenticate(service, held.person)
  const { token } = begun.json().data
  const proven = await service.call(`${CLIENT_API}/authenticate/mfa`, {
    json: { code },
    ...ztSession(token),
  })
  assert.equal(proven.status, 200, proven.text)
}

for (const [name, prepare] of DATABASES) {
  suite(name, () => {
    test('two running instances stop within seconds and ask to be started again; what users hold is valid afterwards', async (t) => {
      const home = await homeWithPort(t, prepare)
      const service = await startChild(t, { home })
      const held = await hold(service)
      // A second instance, on the same machine: another port, the same home.
      const config = join(await temporaryFolder(t), 'second.yml')
      await copyFile(join(home, 'controller.yml'), config)
      await chmod(config, 0o600)
      const text = await readFile(config, 'utf8')
      await writeFile(config, text.replaceAll(`:${service.port}`, ':0'))
      const second = await startChild(t, { home, args: ['--config', config] })
      const before = await secretOf(home)

      const { code, stdout, stderr } = await rotate(t, home)
      assert.equal(code, 0, stderr)
      const after = await secretOf(home)
      assert.notEqual(after, before)
      assert.equal(
        stdout,
        // Two CAs, two signing keys, one authenticator app.
        `The installation secret was replaced; what it protects (5) was encrypted again.
It is in ${join(home, 'secret')}. Copy it to every other instance.
Running instances stop now with exit code 75; start them again.
`,
      )
      assert.ok(!`${stdout}${stderr}`.includes(after))
      assert.deepEqual(await waitingFiles(home), [])
      assert.equal((await stat(join(home, 'secret'))).mode & 0o777, 0o600)
      for (const instance of [service, second]) {
        assert.equal((await instance.finished).code, 75)
        const complaint = instance
          .logLines()
          .find(({ msg }) => msg.startsWith('the installation secret was replaced'))
        assert.equal(
          complaint?.msg,
          'the installation secret was replaced; stopping, to be started with the new one',
        )
      }

      const again = await startService(t, { home })
      await checkHeld(again, held, held.person.app.code())
      const events = await (await administrate(again)).get('/events?filter=type="secret.rotated"')
      assert.equal(events.length, 1)
      assert.deepEqual(events[0].details, { sealedAgain: 5 })
    })

    test('a rotation that is killed at any step leaves a home that starts, with everything that users hold', async (t) => {
      const home = await homeWithPort(t, prepare)
      let service = await startService(t, { home })
      const held = await hold(service)
      for (const step of STEPS) {
        await service.stop()
        const before = await secretOf(home)
        const killed = await runLatchkey(t, ['secret', 'rotate', '--home', home], {
          nodeArguments: ['--import', KILLER],
          environment: { KILL_AT: step },
        })
        assert.equal(killed.signal, 'SIGKILL', `${step}: ${killed.stderr}`)
        service = await startService(t, { home })
        const isRotated = step === 'committed' || step === 'placed'
        assert.equal((await secretOf(home)) !== before, isRotated, step)
        await checkHeld(service, held, held.recoveryCodes.pop() ?? '')
      }
      // Left behind by those that were killed between the file and the commit, and of no use to anybody.
      assert.equal((await waitingFiles(home)).length, 2)
      await service.stop()
      const { code, stderr } = await rotate(t, home)
      assert.equal(code, 0, stderr)
      service = await startService(t, { home })
      await checkHeld(service, held, held.recoveryCodes.pop() ?? '')
    })
  })
}

test('of two rotations at once one is made, the other says so, and the home starts', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  await copyInstalledHome(home)
  const rotateApart = () => spawnLatchkey(t, ['secret', 'rotate', '--home', home]).finished
  const outcomes = await Promise.all([rotateApart(), rotateApart(), rotateApart()])
  const made = outcomes.filter(({ code }) => code === 0)
  assert.ok(made.length >= 1, outcomes.map(({ stderr }) => stderr).join())
  for (const { code, stderr } of outcomes.filter((one) => one.code !== 0)) {
    assert.equal(code, 1)
    // It lost either before it had read the secret, or after.
    assert.match(stderr, /^latchkey: .*installation secret/)
  }
  assert.deepEqual(await waitingFiles(home), [])
  await startService(t, { home })
})

test('another home with the old secret is refused until it gets the new one', async (t) => {
  const home = await preparedHome(t)
  const other = join(await temporaryFolder(t), 'other')
  assert.equal((await runLatchkey(t, ['init', '--home', other], { environment })).code, 0)
  await changeConfig(other, (config) => {
    config.db = join(home, 'latchkey.db')
  })
  await copyFile(join(home, 'secret'), join(other, 'secret'))
  assert.equal((await rotate(t, home)).code, 0)

  const refused = await runRefused(['run', '--home', other], environment)
  assert.equal(refused.code, 1)
  assert.equal(
    refused.stderr,
    `latchkey: this database was made with a different installation secret than the one in ${join(other, 'secret')}; every instance needs the same one\n`,
  )
  await copyFile(join(home, 'secret'), join(other, 'secret'))
  await startService(t, { home: other })
})

test('a secret in a variable is handed over in a 0600 file, and printed nowhere', async (t) => {
  const home = await preparedHome(t)
  const old = await secretOf(home)
  await changeConfig(home, (config) => {
    config.secret = { environment: 'THE_SECRET' }
  })
  const { code, stdout, stderr } = await rotate(t, home, { THE_SECRET: old })
  assert.equal(code, 0, stderr)
  const [name = ''] = await waitingFiles(home)
  const path = join(home, name)
  assert.match(stdout, new RegExp(`^It is in ${path}\\. Set THE_SECRET to what is in it`, 'm'))
  assert.match(stdout, new RegExp(`^ {2}rm ${path}$`, 'm'))
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const next = (await readFile(path, 'utf8')).trim()
  assert.ok(!`${stdout}${stderr}`.includes(next))

  const refused = await runRefused(['run', '--home', home], { THE_SECRET: old })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, new RegExp(`; the right one is in ${path}\\n$`))
  assert.ok(!refused.stderr.includes(next))
  const service = await startChild(t, { home, environment: { THE_SECRET: next } })
  assert.equal((await service.stop()).code, 0)
})

test('R063: the new secret has the same permissions as the old one, whichever user rotates it', {
  skip: process.getuid?.() !== 0 && 'only root can give files away',
}, async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  await copyInstalledHome(home)
  const secret = join(home, 'secret')
  await chown(secret, 65_534, 65_533)
  await chmod(secret, 0o640)
  assert.equal((await rotate(t, home)).code, 0)
  const { uid, gid, mode } = await stat(secret)
  assert.deepEqual([uid, gid, mode & 0o777], [65_534, 65_533, 0o640])
})

test('where nothing is installed, or the secret cannot be written, nothing changes', async (t) => {
  const home = join(await temporaryFolder(t), 'home')
  const nothing = await rotate(t, home)
  assert.deepEqual(nothing, {
    code: 1,
    signal: null,
    stdout: '',
    stderr: `latchkey: nothing is installed in ${home} yet; run: latchkey init --home ${home}\n`,
  })
  await copyInstalledHome(home)
  await chmod(join(home, 'secret'), 0o644)
  const before = await secretOf(home)
  const open = await rotate(t, home)
  assert.equal(open.code, 1)
  assert.match(open.stderr, /^latchkey: every user of this machine can access .*\/secret; run: /)
  assert.equal(await secretOf(home), before)
  assert.deepEqual(await waitingFiles(home), [])
})
