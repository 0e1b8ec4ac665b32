/**
 * Logins from their first factor on, on every database: of two changes at once one wins, a code is spent once, and
 * what has ended stays ended.
 */

import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { IdentityId } from '../../src/base/ids.ts'
import { NO_FACTORS } from '../../src/domain/factors/proven.ts'
import type { AuthRequestKey } from '../../src/domain/login/request/auth-request.ts'
import type { Store } from '../../src/domain/stores.ts'
import { WITH_TOTP } from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import {
  after,
  anAuthRequest,
  aPartialRequest,
  aPrimary,
  BARE_PRIMARY,
  hash,
  NOON,
  sessionId,
} from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)
const { key, codeHash } = anAuthRequest()
const redemption = { at: after(7), sessionId: sessionId('session-1') }

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('an auth request comes back as it was stored', async (t) => {
      const { authRequests } = await open(t)
      const full = anAuthRequest()
      const bare = {
        browser: undefined,
        ask: {
          ...full.ask,
          state: undefined,
          nonce: undefined,
          prompt: undefined,
          maxAge: undefined,
          configTypes: [],
        },
        primary: BARE_PRIMARY,
        secondary: { factors: NO_FACTORS, extJwt: undefined },
      }
      for (const request of [
        full,
        aPartialRequest({ key: 'request-2' as AuthRequestKey, revision: 7 }),
        anAuthRequest({ key: 'request-3' as AuthRequestKey, codeHash: hash('code-3'), ...bare }),
        aPartialRequest({ key: 'request-4' as AuthRequestKey, ...bare }),
      ]) {
        assert.equal(await authRequests.insert(request), true)
        assert.deepEqual(await authRequests.find(request.key), request)
      }
      assert.equal(await authRequests.find('request-5' as AuthRequestKey), undefined)
    })

    test('an auth request gets one code (R028)', async (t) => {
      const stores = await openTwo(await database.create(t))
      const inserted = await Promise.all(
        TIMES.map((i) =>
          stores[i % 2 ? 0 : 1].authRequests.insert(anAuthRequest({ codeHash: hash(`code-${i}`) })),
        ),
      )
      assert.equal(inserted.filter(Boolean).length, 1)
      const winner = hash(`code-${inserted.indexOf(true)}`)
      assert.deepEqual(await stores[0].authRequests.find(key), anAuthRequest({ codeHash: winner }))
    })

    test('a change replaces the revision that it was made from, and no other', async (t) => {
      const { authRequests } = await open(t)
      await authRequests.insert(aPartialRequest())
      const second = aPartialRequest({
        revision: 2,
        primary: aPrimary({ identityId: 'identity-2' as IdentityId, method: 'password' }),
        secondary: { factors: WITH_TOTP, extJwt: undefined },
        ask: { ...aPartialRequest().ask, configTypes: ['config-1', 'config-2'] },
      })
      assert.equal(await authRequests.replace(1, second), true)
      assert.deepEqual(await authRequests.find(key), second)
      assert.equal(await authRequests.replace(1, aPartialRequest({ revision: 2 })), false)
      assert.deepEqual(await authRequests.find(key), second)

      const third = anAuthRequest({ revision: 3 })
      assert.equal(await authRequests.replace(2, third), true)
      assert.deepEqual(await authRequests.find(key), third)
      // D-20: a new code in the place of the first.
      const fourth = anAuthRequest({ revision: 4, codeHash: hash('code-2'), byEnrollment: false })
      assert.equal(await authRequests.replace(3, fourth), true)
      assert.equal(await authRequests.takeByCode(codeHash, redemption), undefined)
      assert.deepEqual(await authRequests.takeByCode(hash('code-2'), redemption), fourth)
    })

    test('a request that is not there is not replaced', async (t) => {
      const { authRequests } = await open(t)
      assert.equal(await authRequests.replace(1, aPartialRequest({ revision: 2 })), false)
      assert.equal(await authRequests.find(key), undefined)
    })

    test('of twenty changes of one revision at once, one wins (R028)', async (t) => {
      // Attack: the last factor is posted many times at the same moment, for several codes of one login.
      const stores = await openTwo(await database.create(t))
      await stores[0].authRequests.insert(aPartialRequest())
      const replaced = await Promise.all(
        TIMES.map((i) =>
          stores[i % 2 ? 0 : 1].authRequests.replace(
            1,
            anAuthRequest({ revision: 2, codeHash: hash(`code-${i}`) }),
          ),
        ),
      )
      assert.equal(replaced.filter(Boolean).length, 1)
      const winner = hash(`code-${replaced.indexOf(true)}`)
      const taken = await stores[0].authRequests.takeByCode(winner, redemption)
      assert.deepEqual(taken, anAuthRequest({ revision: 2, codeHash: winner }))
    })

    test('a request whose code was spent is not replaced', async (t) => {
      const { authRequests } = await open(t)
      await authRequests.insert(anAuthRequest())
      await authRequests.takeByCode(codeHash, redemption)
      for (const next of [
        aPartialRequest({ revision: 2 }),
        anAuthRequest({ revision: 2, codeHash: hash('code-2') }),
      ]) {
        assert.equal(await authRequests.replace(1, next), false)
      }
      assert.equal((await authRequests.findRedeemed(codeHash))?.revision, 1)
    })

    test('a code is spent once and answers the request as it was', async (t) => {
      const { authRequests } = await open(t)
      const { state, codeExpiresAt, byEnrollment, sessionId: ofCode, ...rest } = anAuthRequest()
      await authRequests.insert(anAuthRequest())
      assert.equal(await authRequests.findRedeemed(codeHash), undefined)

      const later = { at: after(8), sessionId: sessionId('session-2') }
      assert.equal((await authRequests.findByCode(codeHash))?.codeHash, codeHash)
      const taken = await authRequests.takeByCode(codeHash, redemption)
      assert.deepEqual(taken, { ...rest, state, codeExpiresAt, byEnrollment, sessionId: ofCode })
      assert.equal(await authRequests.findByCode(codeHash), undefined, 'a spent code is not found')
      assert.equal(await authRequests.takeByCode(codeHash, later), undefined)

      const redeemed = { ...rest, state: 'tokens-issued', redemption }
      assert.deepEqual(await authRequests.findRedeemed(codeHash), redeemed)
      assert.deepEqual(await authRequests.find(key), redeemed)
    })

    test('an unknown code spends nothing', async (t) => {
      const { authRequests } = await open(t)
      await authRequests.insert(anAuthRequest())
      assert.equal(await authRequests.takeByCode(hash('another'), redemption), undefined)
      assert.equal((await authRequests.find(key))?.state, 'code-issued')
    })

    test('of twenty exchanges of one code at once, one wins', async (t) => {
      // Attack: a stolen code is presented at the same moment as by its owner.
      const { authRequests } = await open(t)
      await authRequests.insert(anAuthRequest())
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

    test('the last of so many wrong codes ends the request, for good (D-18)', async (t) => {
      const { authRequests } = await open(t)
      await authRequests.insert(aPartialRequest())
      for (const isEnded of [false, false, true, true, true]) {
        assert.deepEqual(await authRequests.addWrongCode(key, 3), { isEnded })
      }
      assert.deepEqual(await authRequests.find(key), { state: 'ended', key })
      assert.equal(await authRequests.replace(1, anAuthRequest({ revision: 2 })), false)
      assert.equal(await authRequests.insert(aPartialRequest()), false)
      assert.deepEqual(await authRequests.find(key), { state: 'ended', key })
    })

    test('wrong codes count through every change, and keep no right one out', async (t) => {
      const { authRequests } = await open(t)
      await authRequests.insert(aPartialRequest())
      await authRequests.addWrongCode(key, 3)
      // The revision that was read before the wrong code is still the one to replace.
      const code = anAuthRequest({ revision: 2 })
      assert.equal(await authRequests.replace(1, code), true)
      await authRequests.addWrongCode(key, 3)
      assert.deepEqual(await authRequests.find(key), code)
      assert.deepEqual(await authRequests.addWrongCode(key, 3), { isEnded: true })
      assert.equal(await authRequests.takeByCode(codeHash, redemption), undefined)
      assert.equal(await authRequests.findRedeemed(codeHash), undefined)
    })

    test('wrong codes after the code was spent, or for nothing, count nothing', async (t) => {
      const { authRequests } = await open(t)
      await authRequests.insert(anAuthRequest())
      await authRequests.takeByCode(codeHash, redemption)
      assert.deepEqual(await authRequests.addWrongCode(key, 1), { isEnded: false })
      assert.equal((await authRequests.findRedeemed(codeHash))?.state, 'tokens-issued')
      const missing = 'another' as AuthRequestKey
      assert.deepEqual(await authRequests.addWrongCode(missing, 1), { isEnded: false })
    })

    test('of twenty wrong codes at once, all count (R086)', async (t) => {
      const stores = await openTwo(await database.create(t))
      await stores[0].authRequests.insert(aPartialRequest())
      const answers = await Promise.all(
        TIMES.map((i) => stores[i % 2 ? 0 : 1].authRequests.addWrongCode(key, 10)),
      )
      assert.equal(answers.filter((answer) => !answer.isEnded).length, 9)
      assert.deepEqual(await stores[0].authRequests.find(key), { state: 'ended', key })
    })

    test('a spent or ended request is removed when it has expired', async (t) => {
      const { authRequests } = await open(t)
      const ended = 'request-2' as AuthRequestKey
      await authRequests.insert(anAuthRequest())
      await authRequests.insert(aPartialRequest({ key: ended }))
      await authRequests.takeByCode(codeHash, redemption)
      await authRequests.addWrongCode(ended, 1)
      assert.equal(await authRequests.removeExpired(after(600_000), 10), 0)
      assert.equal(await authRequests.removeExpired(after(600_001), 10), 2)
      assert.equal(await authRequests.find(ended), undefined)
    })
  })
}
