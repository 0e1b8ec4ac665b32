/**
 * What every store promises, on every database. Section 5 of the architecture: one suite, all dialects.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { hours, minutes } from '../../src/base/duration.ts'
import type { AuthenticatorId, AuthPolicyId, IdentityId } from '../../src/base/ids.ts'
import { usernameKey } from '../../src/domain/identities/identity.ts'
import type { AuthRequestKey } from '../../src/domain/login/auth-request.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/postgres.ts'
import { ALL } from './databases.ts'
import {
  after,
  anAuthenticator,
  anAuthority,
  anAuthRequest,
  anEnding,
  anEvent,
  anIdentity,
  aPolicy,
  aSession,
  aSigningKey,
  hash,
  NOON,
  sessionId,
} from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()
    const openWithIdentity = async (t: TestContext): Promise<Store> => {
      const store = await open(t)
      await store.authPolicies.insert(aPolicy())
      await store.identities.insert(anIdentity())
      return store
    }

    test('the installation has one row, written once', async (t) => {
      const { installation } = await open(t)
      assert.equal(await installation.findSecretFingerprint(), undefined)
      const inserted = await Promise.all(
        TIMES.map((i) =>
          installation.insert({ secretFingerprint: hash(`secret-${i}`), createdAt: NOON }),
        ),
      )
      assert.equal(inserted.filter(Boolean).length, 1)
      const winner = hash(`secret-${inserted.indexOf(true)}`)
      assert.equal(await installation.findSecretFingerprint(), winner)
    })

    test('a policy comes back as it was stored', async (t) => {
      const { authPolicies } = await open(t)
      await authPolicies.insert(aPolicy())
      assert.deepEqual(await authPolicies.find(aPolicy().id), aPolicy())
      assert.equal(await authPolicies.find('another' as AuthPolicyId), undefined)
    })

    test('an identity comes back as it was stored', async (t) => {
      const { identities } = await openWithIdentity(t)
      assert.deepEqual(await identities.find(anIdentity().id), anIdentity())
      assert.equal(await identities.find('another' as IdentityId), undefined)
    })

    test('an identity without the optional members comes back without them', async (t) => {
      const { authPolicies, identities } = await open(t)
      const plain = anIdentity({
        type: 'Default',
        isAdmin: false,
        externalId: undefined,
        roleAttributes: [],
        appData: {},
        tags: {},
        disabledAt: undefined,
        disabledUntil: undefined,
      })
      await authPolicies.insert(aPolicy())
      await identities.insert(plain)
      assert.deepEqual(await identities.find(plain.id), plain)
    })

    test('two identities have neither the same name nor the same external id', async (t) => {
      const { identities } = await openWithIdentity(t)
      const other = { id: 'identity-2' as IdentityId }
      const named = anIdentity({ ...other, externalId: undefined })
      const known = anIdentity({ ...other, name: 'another' })
      await assert.rejects(identities.insert(named), /unique/i)
      await assert.rejects(identities.insert(known), /unique/i)
      assert.equal(await identities.find(other.id), undefined)

      await identities.insert(anIdentity({ ...other, name: 'another', externalId: undefined }))
      const third = { id: 'identity-3' as IdentityId, name: 'third', externalId: undefined }
      await identities.insert(anIdentity(third))
    })

    test('an identity has a policy that exists', async (t) => {
      const { identities } = await open(t)
      await assert.rejects(identities.insert(anIdentity()), /foreign key/i)
    })

    test('an authenticator is found by its id and by every spelling of its username', async (t) => {
      const { authenticators } = await openWithIdentity(t)
      await authenticators.insertUpdb(anAuthenticator())
      assert.deepEqual(await authenticators.find(anAuthenticator().id), anAuthenticator())
      for (const spelling of ['Zoë', 'ZOË', 'zoe\u0308', 'ｚｏë']) {
        const found = await authenticators.findUpdb(usernameKey(spelling))
        assert.deepEqual(found, anAuthenticator(), spelling)
      }
      assert.equal(await authenticators.find('another' as AuthenticatorId), undefined)
      assert.equal(await authenticators.findUpdb('zoe'), undefined)
    })

    test('two authenticators have no usernames that differ only in spelling', async (t) => {
      const { authenticators } = await openWithIdentity(t)
      await authenticators.insertUpdb(anAuthenticator())
      const twin = anAuthenticator({ id: 'authenticator-2' as AuthenticatorId, username: 'ZOË' })
      await assert.rejects(authenticators.insertUpdb(twin), /unique/i)
    })

    test('a username that no database can hold is nobody', async (t) => {
      const { authenticators } = await openWithIdentity(t)
      assert.equal(await authenticators.findUpdb('zo\u0000ë'), undefined)
      assert.equal(await authenticators.findUpdb('zo\ud800ë'), undefined)
    })

    test('a password hash is replaced only while it is the previous one', async (t) => {
      const { authenticators } = await openWithIdentity(t)
      const { id, passwordHash } = anAuthenticator()
      await authenticators.insertUpdb(anAuthenticator())
      assert.equal(await authenticators.replacePasswordHash(id, passwordHash, 'b', after(9)), true)
      assert.equal(
        await authenticators.replacePasswordHash(id, passwordHash, 'c', after(10)),
        false,
      )
      const expected = anAuthenticator({ passwordHash: 'b', updatedAt: after(9) })
      assert.deepEqual(await authenticators.find(id), expected)
    })

    test('an auth request comes back as it was stored', async (t) => {
      const { authRequests } = await open(t)
      const full = anAuthRequest()
      const bare = anAuthRequest({
        key: 'request-2' as AuthRequestKey,
        codeHash: hash('code-2'),
        browser: undefined,
        ask: { ...full.ask, state: undefined, nonce: undefined, configTypes: [] },
      })
      for (const request of [full, bare]) {
        assert.equal(await authRequests.insert(request), true)
        assert.deepEqual(await authRequests.find(request.key), request)
      }
      assert.equal(await authRequests.find('request-3' as AuthRequestKey), undefined)
    })

    test('an auth request gets one code (R028)', async (t) => {
      const { authRequests } = await open(t)
      const inserted = await Promise.all(
        TIMES.map((i) => authRequests.insert(anAuthRequest({ codeHash: hash(`code-${i}`) }))),
      )
      assert.equal(inserted.filter(Boolean).length, 1)
      const kept = await authRequests.find(anAuthRequest().key)
      assert.equal(kept?.codeHash, hash(`code-${inserted.indexOf(true)}`))
    })

    test('a code is spent once and answers the request as it was', async (t) => {
      const { authRequests } = await open(t)
      const { state, codeExpiresAt, ...rest } = anAuthRequest()
      await authRequests.insert(anAuthRequest())
      assert.equal(await authRequests.findRedeemed(rest.codeHash), undefined)

      const redemption = { at: after(7), sessionId: sessionId('session-1') }
      const later = { at: after(8), sessionId: sessionId('session-2') }
      const taken = await authRequests.takeByCode(rest.codeHash, redemption)
      assert.deepEqual(taken, { ...rest, state, codeExpiresAt })
      assert.equal(await authRequests.takeByCode(rest.codeHash, later), undefined)

      const redeemed = { ...rest, state: 'tokens-issued', redemption }
      assert.deepEqual(await authRequests.findRedeemed(rest.codeHash), redeemed)
      assert.deepEqual(await authRequests.find(rest.key), redeemed)
    })

    test('an unknown code spends nothing', async (t) => {
      const { authRequests } = await open(t)
      await authRequests.insert(anAuthRequest())
      const redemption = { at: NOON, sessionId: sessionId('session-1') }
      assert.equal(await authRequests.takeByCode(hash('another'), redemption), undefined)
      assert.equal((await authRequests.find(anAuthRequest().key))?.state, 'code-issued')
    })

    test('of twenty exchanges of one code at once, one wins', async (t) => {
      // Attack: a stolen code is presented at the same moment as by its owner.
      const { authRequests } = await open(t)
      await authRequests.insert(anAuthRequest())
      const { codeHash } = anAuthRequest()
      const taken = await Promise.all(
        TIMES.map((i) =>
          authRequests.takeByCode(codeHash, { at: NOON, sessionId: sessionId(`session-${i}`) }),
        ),
      )
      assert.equal(taken.filter((request) => request !== undefined).length, 1)
      const winner = taken.findIndex((request) => request !== undefined)
      const redeemed = await authRequests.findRedeemed(codeHash)
      assert.equal(redeemed?.redemption.sessionId, sessionId(`session-${winner}`))
    })

    test('a session comes back as it was stored and is removed once', async (t) => {
      const { apiSessions } = await open(t)
      const other = aSession({ id: sessionId('session-2'), userAgent: undefined, configTypes: [] })
      for (const session of [aSession(), other]) {
        await apiSessions.insert(session)
        assert.deepEqual(await apiSessions.find(session.id), session)
      }
      assert.equal(await apiSessions.remove(other.id), true)
      assert.equal(await apiSessions.remove(other.id), false)
      assert.equal(await apiSessions.find(other.id), undefined)
      assert.deepEqual(await apiSessions.find(aSession().id), aSession())
    })

    test('ending a session twice is ending it once', async (t) => {
      const { sessionEndings } = await open(t)
      assert.equal(await sessionEndings.insert(anEnding('a')), true)
      assert.equal(await sessionEndings.insert(anEnding('a', { at: after(1) })), false)
      const [first, ...more] = await sessionEndings.listAfter(0)
      assert.deepEqual(first, { ...anEnding('a'), sequence: first?.sequence })
      assert.deepEqual(more, [])
    })

    test('endings are listed in their order, after the one that was seen last', async (t) => {
      const { sessionEndings } = await open(t)
      for (const id of ['c', 'a', 'b']) await sessionEndings.insert(anEnding(id))
      const all = await sessionEndings.listAfter(0)
      assert.deepEqual(
        all.map((ending) => ending.sessionId),
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
        listed.map((ending) => ending.sessionId),
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
      const { authRequests, apiSessions, sessionEndings, events } = await open(t)
      const key = (i: number) => `request-${i}` as AuthRequestKey
      const id = (i: number) => sessionId(`session-${i}`)
      for (const i of [2, 3, 1, 4, 0]) {
        const times = { codeHash: hash(`code-${i}`), expiresAt: after(i) }
        await authRequests.insert(anAuthRequest({ key: key(i), ...times }))
        await apiSessions.insert(aSession({ id: id(i), expiresAt: after(i) }))
        await sessionEndings.insert(anEnding(id(i), { keepUntil: after(i) }))
        await events.insert(anEvent(`event-${i}`, after(i)))
      }
      // Three are older than after(3); what expires at that very moment stays.
      for (const [limit, removed, left] of [
        [2, 2, [2, 3, 4]],
        [2, 1, [3, 4]],
        [2, 0, [3, 4]],
      ] as const) {
        assert.equal(await authRequests.removeExpired(after(3), limit), removed)
        assert.equal(await apiSessions.removeExpired(after(3), limit), removed)
        assert.equal(await sessionEndings.removeExpired(after(3), limit), removed)
        assert.equal(await events.removeOlderThan(after(3), limit), removed)

        const endings = (await sessionEndings.listAfter(0)).map((ending) => ending.sessionId)
        for (const i of [0, 1, 2, 3, 4]) {
          const isLeft = left.some((n) => n === i)
          assert.equal((await authRequests.find(key(i))) !== undefined, isLeft)
          assert.equal((await apiSessions.find(id(i))) !== undefined, isLeft)
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
      const store = await openWithIdentity(t)
      const broken = anAuthenticator({ passwordHash: 'MARKER', createdAt: null as never })
      const inserting = store.authenticators.insertUpdb(broken)
      await assert.rejects(inserting, (error) => {
        assert.match(String(error), /not.null/i)
        assert.doesNotMatch(inspect(error, { depth: 9, showHidden: true }), /MARKER/)
        return true
      })
    })
  })
}
