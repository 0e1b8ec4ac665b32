/**
 * What every store promises, on every database. Section 5 of the architecture: one suite, all dialects.
 * Here: installation, endings, keys, authorities, clean-up, transactions. The files beside it have the other stores.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { hours, minutes } from '../../src/base/time/duration.ts'
import type { AuthRequestKey } from '../../src/domain/login/request/auth-request.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL } from './databases.ts'
import {
  after,
  anAuthenticator,
  anAuthority,
  anAuthRequest,
  anEnding,
  anEvent,
  anIdentity,
  aRefreshToken,
  aSession,
  aSigningKey,
  hash,
  NOON,
  sessionId,
} from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('the installation has one row, written once', async (t) => {
      const { installation } = await open(t)
      assert.equal(await installation.findSecretFingerprint(), undefined)
      const inserted = await Promise.all(
        TIMES.map((i) =>
          installation.insert({
            secretFingerprint: hash(`secret-${i}`),
            sealedHashingSecret: `sealed-${i}`,
            createdAt: NOON,
          }),
        ),
      )
      assert.equal(inserted.filter(Boolean).length, 1)
      const first = inserted.indexOf(true)
      const winner = hash(`secret-${first}`)
      assert.equal(await installation.findSecretFingerprint(), winner)
      assert.deepEqual(await installation.find(), {
        secretFingerprint: winner,
        sealedHashingSecret: `sealed-${first}`,
      })
    })

    test('ending a session twice is ending it once', async (t) => {
      const { sessionEndings } = await open(t)
      assert.equal(await sessionEndings.insert(anEnding('a')), 1)
      assert.equal(await sessionEndings.insert(anEnding('a', { at: after(1) })), undefined)
      const [first, ...more] = await sessionEndings.listAfter(0)
      assert.deepEqual(first, { ...anEnding('a'), sequence: first?.sequence })
      assert.deepEqual(more, [])
    })

    test('endings are listed in their order, after the one that was seen last', async (t) => {
      const { sessionEndings } = await open(t)
      for (const id of ['c', 'a', 'b']) await sessionEndings.insert(anEnding(id))
      const all = await sessionEndings.listAfter(0)
      assert.deepEqual(
        all.map((ending) => ending.subject),
        ['c', 'a', 'b'],
      )
      const seen = all[1]?.sequence ?? 0
      assert.deepEqual(await sessionEndings.listAfter(seen), all.slice(2))
    })

    test('the number of a removed ending is not used again', async (t) => {
      // A follower that has seen the number would never see the ending that got it a second time.
      const { sessionEndings } = await open(t)
      await sessionEndings.insert(anEnding('a', { keepUntil: NOON }))
      const [removed] = await sessionEndings.listAfter(0)
      assert.equal(await sessionEndings.removeExpired(after(1), 10), 1)
      await sessionEndings.insert(anEnding('b'))
      const listed = await sessionEndings.listAfter(removed?.sequence ?? 0)
      assert.deepEqual(
        listed.map((ending) => ending.subject),
        ['b'],
      )
    })

    test('signing keys come back oldest first, one for each generation', async (t) => {
      const { signingKeys } = await open(t)
      const [first, second] = [aSigningKey(1), aSigningKey(2, { algorithm: 'EdDSA' })]
      assert.equal(await signingKeys.insert(second), true)
      assert.equal(await signingKeys.insert(first), true)
      assert.equal(await signingKeys.insert(aSigningKey(2, { kid: 'faster' })), false)
      assert.deepEqual(await signingKeys.list(), [first, second])
      assert.equal(await signingKeys.remove(first.kid), true)
      assert.equal(await signingKeys.remove(first.kid), false)
      assert.deepEqual(await signingKeys.list(), [second])
    })

    test('the recorded life of tokens is raised and never lowered', async (t) => {
      const { signingKeys } = await open(t)
      await signingKeys.insert(aSigningKey(1, { tokenLife: minutes(30) }))
      await signingKeys.insert(aSigningKey(2, { tokenLife: hours(2) }))
      await signingKeys.raiseTokenLife(hours(1))
      const lives = (await signingKeys.list()).map((key) => key.tokenLife)
      assert.deepEqual(lives, [hours(1), hours(2)])
    })

    test('authorities come back root first, oldest first, one for each generation', async (t) => {
      const { authorities } = await open(t)
      const root = [anAuthority('root', 1), anAuthority('root', 2)] as const
      const issuing = [anAuthority('issuing', 1), anAuthority('issuing', 2)] as const
      for (const one of [issuing[1], root[1], issuing[0], root[0]]) {
        assert.equal(await authorities.insert(one), true)
      }
      assert.equal(await authorities.insert({ ...root[0], sealedKey: 'faster' }), false)
      assert.deepEqual(await authorities.list(), [...root, ...issuing])
    })

    test('what has expired is removed a little at a time, oldest first', async (t) => {
      const { authRequests, apiSessions, refreshTokens, sessionEndings, events } = await open(t)
      const key = (i: number) => `request-${i}` as AuthRequestKey
      const id = (i: number) => sessionId(`session-${i}`)
      assert.equal(await apiSessions.firstExpiry(), undefined)
      for (const i of [2, 3, 1, 4, 0]) {
        const times = { codeHash: hash(`code-${i}`), expiresAt: after(i) }
        await authRequests.insert(anAuthRequest({ key: key(i), ...times }))
        await apiSessions.insert(aSession({ id: id(i), expiresAt: after(i) }))
        await refreshTokens.insert(aRefreshToken({ hash: hash(`${i}`), expiresAt: after(i) }))
        await sessionEndings.insert(anEnding(id(i), { keepUntil: after(i) }))
        await events.insert(anEvent(`event-${i}`, after(i)))
      }
      assert.equal(await apiSessions.firstExpiry(), after(0))
      // Three are older than after(3); what expires at that very moment stays.
      for (const [limit, removed, left] of [
        [2, 2, [2, 3, 4]],
        [2, 1, [3, 4]],
        [2, 0, [3, 4]],
      ] as const) {
        assert.equal(await authRequests.removeExpired(after(3), limit), removed)
        // A session is over at the moment of its end.
        const over = await apiSessions.takeExpired(after(2), limit)
        assert.equal(over.length, removed)
        assert.equal(await apiSessions.firstExpiry(), after(left[0]))
        assert.equal(await refreshTokens.removeExpired(after(3), limit), removed)
        assert.equal(await sessionEndings.removeExpired(after(3), limit), removed)
        assert.equal(await events.removeOlderThan(after(3), limit), removed)

        const endings = (await sessionEndings.listAfter(0)).map((ending) => ending.subject)
        for (const i of [0, 1, 2, 3, 4]) {
          const isLeft = left.some((n) => n === i)
          assert.equal((await authRequests.find(key(i))) !== undefined, isLeft)
          assert.equal((await apiSessions.find(id(i))) !== undefined, isLeft)
          assert.equal((await refreshTokens.find(hash(`${i}`))) !== undefined, isLeft)
          assert.equal(endings.includes(id(i)), isLeft)
        }
      }
    })

    test('a transaction answers what its work answers, and everything in it is kept', async (t) => {
      const store = await open(t)
      const answer = await store.transaction(async (tx) => {
        await tx.apiSessions.insert(aSession())
        await tx.sessionEndings.insert(anEnding('a'))
        return (await tx.apiSessions.find(aSession().id))?.address
      })
      assert.equal(answer, aSession().address)
      assert.deepEqual(await store.apiSessions.find(aSession().id), aSession())
      assert.equal((await store.sessionEndings.listAfter(0)).length, 1)
    })

    test('a transaction that throws leaves nothing and throws the same', async (t) => {
      const store = await open(t)
      const reason = new Error('changed my mind')
      const failing = store.transaction(async (tx) => {
        await tx.apiSessions.insert(aSession())
        throw reason
      })
      await assert.rejects(failing, (error) => error === reason)
      assert.equal(await store.apiSessions.find(aSession().id), undefined)
    })

    test('a transaction in which one of several calls fails leaves nothing of the others', async (t) => {
      const store = await open(t)
      for (const i of TIMES) {
        const failing = store.transaction((tx) =>
          Promise.all([
            tx.identities.insert(anIdentity()),
            ...TIMES.slice(0, i).map((n) => tx.sessionEndings.insert(anEnding(`${i}-${n}`))),
          ]),
        )
        await assert.rejects(failing, /foreign key/i)
      }
      assert.deepEqual(await store.sessionEndings.listAfter(0), [])
    })

    test('the stores of a transaction that is over refuse every call', async (t) => {
      const store = await open(t)
      const tx = await store.transaction(async (stores) => stores)
      await assert.rejects(tx.sessionEndings.insert(anEnding('a')), /transaction .* is over/)
      assert.deepEqual(await store.sessionEndings.listAfter(0), [])
    })

    test('fifty transactions and fifty plain calls at once all come to their end', async (t) => {
      const store = await open(t)
      const fifty = Array.from({ length: 50 }, (_, i) => i)
      await Promise.all(
        fifty.flatMap((i) => [
          store.transaction(async (tx) => {
            await tx.apiSessions.insert(aSession({ id: sessionId(`session-${i}`) }))
            await tx.apiSessions.find(sessionId(`session-${i}`))
            await tx.sessionEndings.insert(anEnding(`transaction-${i}`))
          }),
          store.sessionEndings.insert(anEnding(`plain-${i}`)),
        ]),
      )
      assert.equal((await store.sessionEndings.listAfter(0)).length, 100)
    })

    test('an error of the database shows nothing of the row', async (t) => {
      // It ends in a log. PostgreSQL quotes the whole row when one of its columns is missing.
      const store = await open(t)
      await insertIdentity(store)
      const broken = anAuthenticator({ passwordHash: 'MARKER', createdAt: null as never })
      const inserting = store.authenticators.insert(broken)
      await assert.rejects(inserting, (error) => {
        assert.match(String(error), /not.null/i)
        assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /MARKER/)
        return true
      })
    })
  })
}
