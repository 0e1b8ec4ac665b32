/**
 * One database, several users: stores of one process, processes, restarts, crashes. D-48: instances need
 * nothing but the same database and the same secret.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after as afterAll, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { IdentityId } from '../../src/base/ids.ts'
import { SHAPE } from '../../src/store/migrate.ts'
import type { StoreAddress } from '../../src/store/open.ts'
import { StoreUnavailable } from '../../src/store/open.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { SHARED } from './databases.ts'
import {
  after,
  anAuthenticator,
  anAuthRequest,
  anEnding,
  anIdentity,
  aPolicy,
  aSession,
  NOON,
  sessionId,
} from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

for (const kind of SHARED) {
  suite(kind.name, () => {
    test('of twenty exchanges of one code through two stores, one wins', async (t) => {
      const database = await kind.create(t)
      const stores = [await database.open(), await database.open()]
      await stores[0]?.authRequests.insert(anAuthRequest())
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, i) => i).flatMap((i) =>
          stores.map((store, n) => {
            const redemption = { at: NOON, sessionId: sessionId(`session-${n}-${i}`) }
            return store.authRequests.takeByCode(anAuthRequest().codeHash, redemption)
          }),
        ),
      )
      assert.equal(taken.length, 20)
      assert.equal(taken.filter((request) => request !== undefined).length, 1)
    })

    test('what a transaction writes is seen by others after its commit, not before', async (t) => {
      const database = await kind.create(t)
      const [one, other] = [await database.open(), await database.open()]
      await one.transaction(async (tx) => {
        await tx.apiSessions.insert(aSession())
        assert.equal(await other.apiSessions.find(aSession().id), undefined)
      })
      assert.deepEqual(await other.apiSessions.find(aSession().id), aSession())
    })

    test('transactions of two stores wait for each other', async (t) => {
      const database = await kind.create(t)
      const stores = [await database.open(), await database.open()]
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => i).flatMap((i) =>
          stores.map((store, n) =>
            store.transaction(async (tx) => {
              await tx.sessionEndings.listAfter(0)
              await tx.sessionEndings.insert(anEnding(`${n}-${i}`))
            }),
          ),
        ),
      )
      assert.equal((await stores[0]?.sessionEndings.listAfter(0))?.length, 40)
    })

    test('what was stored is there when the database is opened again', async (t) => {
      const database = await kind.create(t)
      const first = await database.open()
      await first.authPolicies.insert(aPolicy())
      await first.close()
      const second = await database.open()
      assert.deepEqual(await second.authPolicies.find(aPolicy().id), aPolicy())
    })

    test('four stores that open an empty database at once migrate it once', async (t) => {
      const database = await kind.createEmpty(t)
      const stores = await Promise.all([1, 2, 3, 4].map(() => database.open()))
      for (const store of stores) assert.deepEqual(await store.signingKeys.list(), [])
      const applied = await database.query('select name from migrations order by name')
      assert.deepEqual(
        applied.map(({ name }) => name),
        SHAPE,
      )
    })

    test('D-226: migrating a database from before logins could be voided adds the number, and keeps the identities', async (t) => {
      const database = await kind.create(t)
      const before = await database.open()
      await insertIdentity(before)
      await before.close()
      await database.query("delete from migrations where name = '0004-voided-logins'")
      await database.query('alter table identities drop column voided_logins')
      const { identities } = await database.open()
      const { id } = anIdentity()
      assert.deepEqual(await identities.find(id), anIdentity({ voidedLogins: 0 }))
      await identities.voidLogins(id)
      assert.equal((await identities.find(id))?.voidedLogins, 1)
    })

    test('D-268: migrating a database from before logins were recorded takes over what it knows of them', async (t) => {
      const database = await kind.create(t)
      const before = await database.open()
      const ids = ['by-password', 'by-jwt', 'never'].map((id) => id as IdentityId)
      await before.authPolicies.insert(aPolicy())
      for (const id of ids) {
        await before.identities.insert(anIdentity({ id, name: id, externalId: undefined }))
      }
      const [byPassword, byJwt, never] = ids as [IdentityId, IdentityId, IdentityId]
      const password = anAuthenticator({ identityId: byPassword })
      await before.authenticators.insert(password)
      await before.authenticators.markUsed(password.id, 0, after(10))
      for (const [n, identityId] of [byPassword, byJwt, byJwt].entries()) {
        const id = sessionId(`session-${n}`)
        await before.apiSessions.insert(aSession({ id, identityId, createdAt: after(n) }))
      }
      await before.close()
      await database.query("delete from migrations where name = '0007-last-login'")
      await database.query('alter table identities drop column last_login_at')
      const { identities } = await database.open()
      const loginOf = async (id: IdentityId) => (await identities.find(id))?.lastLoginAt
      assert.equal(await loginOf(byPassword), after(10))
      assert.equal(await loginOf(byJwt), after(2))
      assert.equal(await loginOf(never), undefined)
    })

    test('D-225: reads a session from before the expiry and the CA of its certificate were stored', async (t) => {
      const database = await kind.create(t)
      const { apiSessions } = await database.open()
      const session = aSession()
      await apiSessions.insert(session)
      const { identityId, voidedLogins, certificate, ...primary } = session.primary
      const former = { fingerprint: 'ab', isIssuedByNetwork: false }
      const proof = JSON.stringify({ primary: { ...primary, certificate: former } })
      await database.query(`update api_sessions set proof = '${proof}'`)
      const unknown = { notAfter: undefined, trust: undefined }
      assert.deepEqual((await apiSessions.find(session.id))?.primary, {
        ...primary,
        identityId,
        certificate: { ...former, ...unknown },
        voidedLogins: undefined,
      })
    })

    test('three processes open an empty database at once and write to it', async (t) => {
      const database = await kind.createEmpty(t)
      const writers = ['a', 'b', 'c'].map((name) => startWriter(database.address, name, 30))
      const outcomes = await Promise.all(writers.map((writer) => writer.outcome))
      assert.deepEqual(outcomes, Array(3).fill({ code: 0, errors: '' }))
      const store = await database.open()
      assert.equal((await store.sessionEndings.listAfter(0)).length, 90)
    })

    test('what was answered survives a kill -9 of the process', async (t) => {
      const database = await kind.create(t)
      const writer = startWriter(database.address, 'a', 100_000)
      const answered: string[] = []
      for await (const id of writer.lines) {
        answered.push(id)
        if (answered.length === 50) writer.kill()
      }
      await writer.outcome
      const store = await database.open()
      const kept = new Set((await store.sessionEndings.listAfter(0)).map((one) => one.subject))
      assert.ok(answered.length >= 50)
      assert.deepEqual(
        answered.filter((id) => !kept.has(sessionId(id))),
        [],
      )
      // At most the one that was under way when the process died.
      assert.ok(kept.size <= answered.length + 1)
    })

    test('a database that a newer version has used is refused', async (t) => {
      const database = await kind.create(t)
      await (await database.open()).close()
      await database.query("insert into migrations (name) values ('0999-later')")
      await assert.rejects(database.open(), (error) => {
        assert.ok(error instanceof StoreUnavailable)
        assert.match(error.message, /newer version of Latchkey, which added 0999-later; start that/)
        return true
      })
    })
  })
}

function startWriter(address: StoreAddress, name: string, count: number) {
  const where = address.kind === 'sqlite' ? address.path : address.url.reveal()
  const script = fileURLToPath(new URL('writer.ts', import.meta.url))
  const argument = JSON.stringify({ kind: address.kind, where })
  const child = spawn(process.execPath, [script, argument, name, String(count)])
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const lines = createInterface({ input: child.stdout })
  return {
    lines,
    outcome: once(child, 'close').then(([code]) => ({ code, errors })),
    kill: () => child.kill('SIGKILL'),
  }
}
