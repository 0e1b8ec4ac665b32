/**
 * The commands of operators beside two workers: new signing keys reach both, a new secret stops the whole instance, and a
 * backup is one moment of what both write, also if it is restored beside them. D-23, D-135, D-142, D-158, D-159.
 */
import assert from 'node:assert/strict'
import { after as afterAll, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { eachWorker, startWorkers, type WorkerView } from '../support/kills/workers.ts'
import { IDENTITY } from '../support/login/challenges.ts'
import { bearer } from '../support/login/login.ts'
import { logInOffline, refreshed } from '../support/login/refresh.ts'
import { administrate, administratorWith } from '../support/management.ts'
import { backUp, homeAt, PLACES, restore } from '../support/process/backups.ts'
import { runLatchkey } from '../support/process/run-command.ts'
import { startPostgres } from '../support/stores/postgres.ts'

afterAll(async () => (await startPostgres()).stop())

for (const place of PLACES) {
  test(`keys, secret and backup beside two workers, on ${place.name}`, async (t) => {
    const home = await homeAt(t, place)
    let service = await startWorkers(t, 2, { home })
    let workers = await eachWorker(t, service)
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await runLatchkey(t, [...args, '--home', home])
      assert.equal(code, 0, stderr)
      return stdout
    }
    /** All processes of the instance stop by themselves, and are started again. */
    const startAgain = async () => {
      assert.equal((await service.finished).code, 75)
      service = await startWorkers(t, 2, { home, keepsPort: true })
      workers = await eachWorker(t, service)
    }
    const statuses = (token: string) =>
      Promise.all(workers.map(async ({ call }) => (await call(IDENTITY, bearer(token))).status))
    const untilAll = async (isSo: (one: WorkerView) => Promise<boolean>, what: string) => {
      for (const one of workers) {
        await eventually(async () => ((await isSo(one)) ? true : undefined), what)
      }
    }

    await t.test('both workers publish a rotated key', async () => {
      const [, kid = ''] = /^The key (\S+) /.exec(await run('keys', 'rotate')) ?? []
      assert.notEqual(kid, '')
      await untilAll(async (one) => (await kidsOf(one)).includes(kid), 'the new key')
    })

    await t.test('both workers refuse tokens of keys that were withdrawn', async () => {
      const { access_token: old } = await logInOffline(service)
      assert.deepEqual(await statuses(old), [200, 200])
      await run('keys', 'rotate', '--revoke-now')
      await untilAll(
        async ({ call }) => (await call(IDENTITY, bearer(old))).status === 401,
        'the end of the old key',
      )
      // What one of them signs, the other accepts.
      for (const one of workers) {
        const { access_token: token } = await logInOffline(one)
        assert.deepEqual(await statuses(token), [200, 200])
      }
    })

    const newSecret = () =>
      t.test('a new secret stops all processes, and what users hold is valid', async () => {
        let { access_token: access, refresh_token: token } = await logInOffline(service)
        await run('secret', 'rotate')
        await startAgain()
        assert.deepEqual(await statuses(access), [200, 200])
        for (const one of workers) {
          const next = await refreshed(one, token)
          ;({ access_token: access, refresh_token: token } = next)
          assert.deepEqual(await statuses(access), [200, 200])
        }
      })
    // The secret is followed in the same way on both databases, and another start is dear.
    if (place.name === 'SQLite') await newSecret()

    await t.test('a backup is one moment of what both workers write', async () => {
      const { token } = await administrate(service)
      const made: string[] = []
      let isOver = false
      const writing = Promise.all(
        workers.map(async (one) => {
          const admin = administratorWith(one, token)
          for (let i = 0; !isOver; i++) {
            const name = `of worker ${one.worker}, ${i}`
            await admin.createIdentity({ name })
            made.push(name)
          }
        }),
      )
      const byBoth = (after: number) =>
        eventually(() => {
          const names = made.slice(after)
          const isBoth = workers.every(({ worker }) =>
            names.some((name) => name.startsWith(`of worker ${worker},`)),
          )
          return isBoth || undefined
        }, 'an identity made by each worker')
      await Promise.race([writing, byBoth(0)])
      const before = [...made]
      const path = await backUp(t, home)
      const during = made.length
      // Some that begin after the backup: each of the two may have had one under way.
      await Promise.race([writing, byBoth(during + workers.length)])
      isOver = true
      await writing

      const restored = await restore(t, path, home, ['--force'])
      assert.equal(restored.code, 0, restored.stderr)
      await startAgain()
      assert.deepEqual(await statuses(token), [401, 401])
      const late = new Set(made.slice(during + workers.length))
      for (const one of workers) {
        const admin = await administrate(one)
        const rows: { name: string }[] = await admin.get('/identities?limit=500')
        const names = new Set(rows.map(({ name }) => name))
        assert.deepEqual(
          before.filter((name) => !names.has(name)),
          [],
        )
        assert.deepEqual(
          [...late].filter((name) => names.has(name)),
          [],
        )
      }
    })
  })
}

async function kidsOf({ call }: WorkerView): Promise<readonly string[]> {
  const { keys } = (await call('/oidc/keys')).json()
  return keys.map(({ kid }: { kid: string }) => kid)
}
