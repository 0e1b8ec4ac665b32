/**
 * API sessions on every database, OIDC and legacy: how they are found, renewed and removed.
 */

import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import { NO_FACTORS } from '../../src/domain/factors/proven.ts'
import type { Store } from '../../src/domain/stores.ts'
import { WITH_TOTP } from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import {
  after,
  aLegacySession,
  anAuthenticator,
  anIdentity,
  aPrimary,
  aSession,
  BARE_PRIMARY,
  hash,
  sessionId,
} from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)
const { id, tokenHash } = aLegacySession()

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('a session of either kind comes back as it was stored and is removed once', async (t) => {
      const { apiSessions } = await open(t)
      const bare = { userAgent: undefined, configTypes: [], amr: [], primary: BARE_PRIMARY }
      const others = [
        aSession({
          id: sessionId('session-2'),
          ...bare,
          secondary: { factors: WITH_TOTP, extJwt: undefined },
          scopes: [],
        }),
        aLegacySession(),
        aLegacySession({
          id: sessionId('session-4'),
          tokenHash: hash('token-4'),
          secondary: { factors: WITH_TOTP, extJwt: undefined },
          demanded: NO_FACTORS,
          ...bare,
        }),
      ]
      for (const session of [aSession(), ...others]) {
        await apiSessions.insert(session)
        assert.deepEqual(await apiSessions.find(session.id), session)
      }
      for (const other of others) {
        assert.deepEqual(await apiSessions.remove(other.id), other)
        assert.equal(await apiSessions.remove(other.id), undefined)
        assert.equal(await apiSessions.find(other.id), undefined)
      }
      assert.deepEqual(await apiSessions.find(aSession().id), aSession())
      assert.equal(await apiSessions.find(sessionId('session\u0000')), undefined)
    })

    test('a legacy session is found by the hash of its token', async (t) => {
      const { apiSessions } = await open(t)
      await apiSessions.insert(aSession())
      await apiSessions.insert(aLegacySession())
      assert.deepEqual(await apiSessions.findLegacy(tokenHash), aLegacySession())
      assert.equal(await apiSessions.findLegacy(hash('another')), undefined)
      await apiSessions.remove(id)
      assert.equal(await apiSessions.findLegacy(tokenHash), undefined)
    })

    test('two sessions do not have the same token', async (t) => {
      const { apiSessions } = await open(t)
      await apiSessions.insert(aLegacySession())
      const twin = aLegacySession({ id: sessionId('session-2') })
      await assert.rejects(apiSessions.insert(twin), /unique/i)
    })

    test('sessions are listed by identity and by authenticator, oldest first', async (t) => {
      const { apiSessions } = await open(t)
      const stranger = { identityId: 'identity-2' as IdentityId }
      const byClaim = aSession({
        id: sessionId('session-2'),
        primary: BARE_PRIMARY,
        createdAt: after(-1),
      })
      const elsewhere = 'authenticator-2' as AuthenticatorId
      const theirs = aSession({
        id: sessionId('session-3'),
        ...stranger,
        primary: aPrimary({ ...stranger, authenticatorId: elsewhere }),
      })
      const all = [aLegacySession({ createdAt: after(1) }), theirs, aSession(), byClaim] as const
      for (const session of all) await apiSessions.insert(session)

      const mine = await apiSessions.listOf(anIdentity().id)
      assert.deepEqual(mine, [byClaim, aSession(), all[0]])
      const byMine = await apiSessions.listByAuthenticator(anAuthenticator().id)
      assert.deepEqual(byMine, [aSession(), all[0]])
      assert.deepEqual(await apiSessions.listByAuthenticator(elsewhere), [theirs])
      assert.deepEqual(await apiSessions.listOf('another' as IdentityId), [])
    })

    test('a call renews a legacy session', async (t) => {
      const { apiSessions } = await open(t)
      await apiSessions.insert(aLegacySession())
      await apiSessions.renewLegacy(id, after(500), after(2_000_000))
      const renewed = aLegacySession({ lastActivityAt: after(500), expiresAt: after(2_000_000) })
      assert.deepEqual(await apiSessions.find(id), renewed)
    })

    test('renewing never moves a time back', async (t) => {
      // Two calls at once: the earlier one is written later.
      const { apiSessions } = await open(t)
      await apiSessions.insert(aLegacySession())
      await apiSessions.renewLegacy(id, after(500), after(2_000_000))
      await apiSessions.renewLegacy(id, after(400), after(1_900_000))
      const renewed = aLegacySession({ lastActivityAt: after(500), expiresAt: after(2_000_000) })
      assert.deepEqual(await apiSessions.find(id), renewed)
      // After the idle timeout was made shorter.
      await apiSessions.renewLegacy(id, after(600), after(1_900_000))
      assert.deepEqual(await apiSessions.find(id), { ...renewed, lastActivityAt: after(600) })
    })

    test('of twenty renewals at once, the latest stands', async (t) => {
      const stores = await openTwo(await database.create(t))
      await stores[0].apiSessions.insert(aLegacySession())
      await Promise.all(
        TIMES.map((i) =>
          stores[i % 2 ? 0 : 1].apiSessions.renewLegacy(id, after(100 + i), after(2_000_000 + i)),
        ),
      )
      const latest = aLegacySession({ lastActivityAt: after(119), expiresAt: after(2_000_019) })
      assert.deepEqual(await stores[0].apiSessions.find(id), latest)
    })

    test('an ended or expired session is not brought back by a call', async (t) => {
      // Attack: a call that began before the end of the session is written after it.
      const { apiSessions } = await open(t)
      const expired = aLegacySession({ expiresAt: after(300) })
      await apiSessions.insert(expired)
      await apiSessions.renewLegacy(id, after(300), after(2_000_000))
      assert.deepEqual(await apiSessions.find(id), expired)
      await apiSessions.remove(id)
      await apiSessions.renewLegacy(id, after(200), after(2_000_000))
      assert.equal(await apiSessions.find(id), undefined)
    })

    test('an OIDC session has no idle end to renew and no code to prove', async (t) => {
      const { apiSessions } = await open(t)
      await apiSessions.insert(aSession())
      await apiSessions.renewLegacy(aSession().id, after(500), after(2_000_000))
      const { id } = aSession()
      assert.equal(await apiSessions.replaceProven(aLegacySession({ id, amr: ['otp'] })), false)
      assert.deepEqual(await apiSessions.find(aSession().id), aSession())
    })

    test('a code is proven on a legacy session that has not ended', async (t) => {
      const { apiSessions } = await open(t)
      await apiSessions.insert(aLegacySession())
      const { secondary } = aLegacySession()
      const proven = aLegacySession({
        secondary: { ...secondary, factors: WITH_TOTP },
        amr: ['pwd', 'otp', 'mfa'],
      })
      assert.equal(await apiSessions.replaceProven(proven), true)
      assert.deepEqual(await apiSessions.find(id), proven)
      await apiSessions.remove(id)
      assert.equal(await apiSessions.replaceProven(proven), false)
    })
  })
}
