/**
 * Several processes answer the requests of one instance: work is shared, a worker that dies is replaced, and what one
 * worker ends is over in all of them. D-287 to D-292.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { moveToPostgres } from '../support/homes/postgres-home.ts'
import { eachWorker, startWorkers, workerPids } from '../support/kills/workers.ts'
import { openConsole } from '../support/login/account.ts'
import { IDENTITY, INVALID } from '../support/login/challenges.ts'
import { bearer, logIn } from '../support/login/login.ts'
import { logInOffline, refreshed, revoke } from '../support/login/refresh.ts'
import { administrate } from '../support/management.ts'
import { openChangeStream } from '../support/monitoring/change-stream.ts'
import { readPrometheusText, sampleOf } from '../support/monitoring/prometheus-text.ts'
import { isRefused } from '../support/ports.ts'
import { changeConfig, useWorkers } from '../support/process/child-home.ts'
import { type ChildService, startChild, waitFor } from '../support/process/child-service.ts'
import { preparedHome } from '../support/process/prepared-home.ts'
import { runLatchkey } from '../support/process/run-command.ts'

const PLACES: readonly (readonly [string, (home: string) => Promise<void>])[] = [
  ['SQLite', async () => {}],
  ['PostgreSQL', async (home) => void (await moveToPostgres(home))],
]

async function startOn(
  t: TestContext,
  prepare: (home: string) => Promise<void>,
  workers = 2,
): Promise<ChildService> {
  const home = await preparedHome(t)
  await prepare(home)
  await changeConfig(home, (config) => {
    config.web[0].apis = [
      'edge-client',
      'edge-management',
      'console',
      'health-checks',
      'metrics',
    ].map((binding) => ({ binding }))
  })
  return startWorkers(t, workers, { home })
}

const untilGone = (pid: number) =>
  waitFor(
    () => !isAlive(pid),
    () => `the end of process ${pid}`,
  )

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

for (const [name, prepare] of PLACES) {
  test(`several workers answer for one instance, on ${name}`, async (t) => {
    const service = await startOn(t, prepare, 3)
    const workers = await eachWorker(t, service)
    assert.deepEqual(
      workers.map(({ worker }) => worker),
      [1, 2, 3],
      'connections are given to workers in turn',
    )
    const [one, two, three] = workers
    assert.ok(one && two && three)

    await t.test('a session that one worker ended is refused by all of them at once', async () => {
      for (let round = 0; round < 5; round++) {
        const tokens = await logInOffline(one)
        for (const { call } of workers) {
          assert.equal((await call(IDENTITY, bearer(tokens.access_token))).status, 200)
        }
        // Nothing is waited for: the answer to the revocation comes after the last worker knows of it.
        assert.equal((await revoke(two, tokens.refresh_token)).status, 200)
        for (const { call } of workers) {
          const reply = await call(IDENTITY, bearer(tokens.access_token))
          assert.equal(reply.status, 401, reply.text)
          assert.equal(reply.headers['www-authenticate'], INVALID)
        }
      }
    })

    await t.test(
      'an identity that one worker disabled is refused by all of them at once',
      async () => {
        const admin = await administrate(one as never)
        const person = await admin.createIdentity({ password: 'a password of somebody' })
        const login = { username: person.username, password: 'a password of somebody' }
        const tokens = await logInOffline(three, {}, login)
        await admin.act('POST', `/identities/${person.id}/disable`, { durationMinutes: 0 })
        for (const { call } of workers) {
          assert.equal((await call(IDENTITY, bearer(tokens.access_token))).status, 401)
        }
      },
    )

    await t.test('D-381: an end is confirmed when every worker has applied it', async () => {
      const admin = await administrate(one as never)
      const person = await admin.createIdentity({ password: 'a password of somebody' })
      const login = { username: person.username, password: 'a password of somebody' }
      const end = async () => {
        await logInOffline(one, {}, login)
        const reply = await admin.call('DELETE', `/identities/${person.id}/api-sessions`)
        return reply.headers['latchkey-ending']
      }
      const before = await admin.get(`/endings/${await end()}?wait=10`)
      assert.equal(before.outcome, 'confirmed')
      process.kill(three.pid, 'SIGSTOP')
      let id: unknown
      try {
        id = await end()
        const state = await admin.get(`/endings/${id}?wait=1`)
        assert.deepEqual([state.outcome, state.instances[0].state], ['pending', 'waiting'])
      } finally {
        process.kill(three.pid, 'SIGCONT')
      }
      assert.equal((await admin.get(`/endings/${id}?wait=20`)).outcome, 'confirmed')
    })

    await t.test(
      'D-360: open pages of the console at every worker learn what one does',
      async (t) => {
        const { browser, send } = await openConsole(one as never)
        // Connections are given to workers in turn, so each worker has one of them.
        const streams = []
        for (let i = 0; i < 3; i++) streams.push(await openChangeStream(t, service, browser))
        const change = setInterval(() => void logIn(two), 700)
        t.after(() => clearInterval(change))
        await Promise.all(streams.map(({ until }) => until(/event: change/)))
        clearInterval(change)
        await send('/console/audit', '/console/sign-out')
        await Promise.all(streams.map(({ until }) => until(/event: over/)))
      },
    )

    await t.test('health and metrics are those of the whole instance', async () => {
      for (const { call } of workers) {
        assert.equal((await call('/health-checks')).status, 200)
      }
      const loginsAt = async (call: ChildService['call']) =>
        sampleOf(readPrometheusText((await call('/metrics')).text), 'latchkey_logins_total', {
          method: 'password',
          outcome: 'succeeded',
        })
      const before = await loginsAt(one.call)
      for (const worker of workers) await logIn(worker)
      for (const { call } of workers) assert.equal(await loginsAt(call), before + 3)
      const metrics = readPrometheusText((await two.call('/metrics')).text)
      assert.equal(sampleOf(metrics, 'latchkey_workers', {}), 3)
      assert.equal(sampleOf(metrics, 'latchkey_health_check', { check: 'store' }), 1)
      assert.ok(sampleOf(metrics, 'latchkey_connections_open', {}) >= 3)
    })

    assert.equal((await service.stop()).code, 0)
    for (const { pid } of workers) assert.ok(!isAlive(pid))
  })
}

test('a start that fails while its workers are ready ends with them', {
  timeout: 60_000,
}, async (t) => {
  const home = await preparedHome(t)
  await useWorkers(home, 2)
  const database = new DatabaseSync(join(home, 'latchkey.db'))
  // What the supervisor writes last, as on a disk that has just become full.
  database.exec(
    "create trigger full before insert on instances begin select raise(abort, 'no room'); end",
  )
  database.close()
  const refused = await runLatchkey(t, ['run', '--home', home])
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /no room/)
})

test('a service with workers', async (t) => {
  const service = await startOn(t, async () => {})

  await t.test('keeps its port, and another start says so like a single process', (t) =>
    assert.rejects(
      startChild(t, { home: service.home }),
      / is already in use; is the service already running\?/,
    ),
  )

  await t.test(
    'a worker that is killed under load loses nothing that it answered, and is replaced',
    (t) => killUnderLoad(t, service),
  )

  await t.test('replaces a worker that dies again and again, later each time', async () => {
    const deaths = () => service.logLines().filter(({ endedWorker }) => endedWorker === 1)
    for (let round = 1; round <= 4; round++) {
      const pid = workerPids(service).get(1)
      assert.ok(pid)
      process.kill(pid, 'SIGKILL')
      await waitFor(
        () => deaths().length === round && workerPids(service).get(1) !== pid,
        () => `the replacement after death ${round}`,
        service,
      )
    }
    assert.deepEqual(
      deaths().map(({ pauseMilliseconds }) => pauseMilliseconds),
      [0, 100, 200, 400],
    )
    // The other one was never disturbed.
    assert.equal((await service.call('/version')).status, 200)
  })

  await t.test(oneStop('SIGTERM'), () => stopEveryProcess(service, 'SIGTERM'))
})

async function killUnderLoad(t: TestContext, service: ChildService): Promise<void> {
  const [other, victim] = await eachWorker(t, service)
  assert.ok(victim && other)
  const restarts = async () =>
    sampleOf(
      readPrometheusText((await service.call('/metrics')).text),
      'latchkey_worker_restarts_total',
      {},
    )
  const before = await restarts()
  let isKilled = false
  const sessions = await Promise.all(
    [victim, victim, other, other]
      .map(async (view) => {
        let tokens = await logInOffline(view)
        try {
          for (let i = 0; !isKilled || i < 20; i++)
            tokens = await refreshed(view, tokens.refresh_token)
        } catch (error) {
          // Only the connections of the victim break.
          assert.equal(view, victim)
          assert.ok((error as NodeJS.ErrnoException).code?.startsWith('E'), String(error))
          return { tokens, isPending: true }
        }
        return { tokens, isPending: false }
      })
      .concat(
        (async () => {
          for (let i = 0; i < 5; i++) await logInOffline(other)
          isKilled = true
          process.kill(victim.pid, 'SIGKILL')
          return undefined as never
        })(),
      ),
  )
  await waitFor(
    () => workerPids(service).get(victim.worker) !== victim.pid,
    () => 'the next worker',
    service,
  )
  const views = await eachWorker(t, service)
  assert.equal(views.length, 2)
  for (const { tokens, isPending } of sessions.filter((one) => one !== undefined)) {
    // A refresh that was sent and not answered may have spent the last token; what was answered holds.
    for (const { call } of views) {
      assert.equal((await call(IDENTITY, bearer(tokens.access_token))).status, 200)
    }
    if (!isPending) await refreshed(views[0] as never, tokens.refresh_token)
  }
  assert.equal(await restarts(), before + 1)
}

test('workers end with their supervisor, and leave the port', async (t) => {
  const service = await startOn(t, async () => {})
  const pids = [...workerPids(service).values()]
  for (const pid of process.platform === 'linux' ? pids : []) {
    assert.match(
      await readFile(`/proc/${pid}/environ`, 'utf8'),
      /(^|\0)MALLOC_ARENA_MAX=1\0/,
      'D-386',
    )
  }
  service.process.kill('SIGKILL')
  for (const pid of pids) await untilGone(pid)
  assert.ok(await isRefused(service.port))
})

test(oneStop('SIGINT'), async (t) => stopEveryProcess(await startOn(t, async () => {}), 'SIGINT'))

function oneStop(signal: NodeJS.Signals): string {
  return `${signal} for every process of the service, as systemd and terminals send it, is one stop`
}

async function stopEveryProcess(service: ChildService, signal: NodeJS.Signals): Promise<void> {
  const before = service.output.stderr.length
  const pids = [...workerPids(service).values()]
  for (const pid of pids) process.kill(pid, signal)
  service.process.kill(signal)
  const { code, stderr } = await service.finished
  assert.equal(code, 0)
  const written = stderr.slice(before)
  assert.match(written, /"msg":"stopped"/)
  assert.doesNotMatch(written, /a worker has ended/)
  for (const pid of pids) assert.ok(!isAlive(pid))
}
