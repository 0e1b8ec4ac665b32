/**
 * A code is spent, and its session begins with everything that belongs to it. The outcomes are the same on every
 * database, whether it needs one statement for it or several: D-328, R012.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import { holdLogin } from '../../src/domain/login/hold-login.ts'
import type { Store, Stores } from '../../src/domain/stores.ts'
import type { SessionBeginning } from '../../src/domain/tokens/stores.ts'
import type { KeptEvent } from '../../src/store/events.ts'
import { openStore } from '../../src/store/open.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { aBeginning, CODE, OTHER_POLICY, primaryOf, seedLogin } from './login-sample.ts'
import { ENABLED, PRIMARIES } from './refresh-sample.ts'
import {
  aCertAuthenticator,
  after,
  anAuthenticator,
  anAuthRequest,
  aPrimary,
  hash,
  sessionId,
} from './samples.ts'
import { waitingIn } from './waiting.ts'

afterAll(async () => (await startPostgres()).stop())

const FIFTY = Array.from({ length: 50 }, (_, i) => i)

/** Nothing of it is there. */
async function assertNothing(store: Store, { session, event }: SessionBeginning): Promise<void> {
  assert.equal(await store.apiSessions.find(session.id), undefined)
  assert.equal(await store.refreshTokens.find(hash(`token of ${session.id}`)), undefined)
  assert.equal(await store.events.find(event.id), undefined)
}

for (const database of ALL) {
  suite(database.name, () => {
    for (const name of Object.keys(PRIMARIES)) {
      test(`a login by ${name} begins its session once, in one commit with its event`, async (t) => {
        const events: KeptEvent[] = []
        const { address } = await database.create(t)
        const store = await openStore(address, (kept) => events.push(...kept))
        t.after(() => store.close())
        const primary = primaryOf(name)
        await seedLogin(store, primary)
        const proof = { hash: 'proof', expiresAt: after(5) }
        const first = aBeginning('first', { primary, proof })
        assert.equal(await store.beginSession(first), 'begun')
        assert.deepEqual(await store.apiSessions.find(first.session.id), first.session)
        assert.deepEqual(await store.refreshTokens.find(hash('token of first')), first.refreshToken)
        const redeemed = await store.authRequests.findRedeemed(CODE)
        assert.deepEqual(redeemed?.redemption, { at: after(900), sessionId: first.session.id })
        assert.equal((await store.identities.find(ENABLED.id))?.lastLoginAt, first.at)
        const used = await store.authenticators.listOf(ENABLED.id)
        const isOf = { password: anAuthenticator().id, certificate: aCertAuthenticator().id }[name]
        assert.deepEqual(
          used.map(({ id, lastUsedAt }) => lastUsedAt === (id === isOf ? primary.at : undefined)),
          [true, true],
        )
        const names = { identityName: ENABLED.name, actorName: undefined }
        assert.deepEqual(events, [{ event: first.event, names, kept: 'row' }])
        assert.equal((await store.events.find(first.event.id))?.identityName, ENABLED.name)

        const second = aBeginning('second', { primary })
        assert.equal(await store.beginSession(second), 'spent')
        await assertNothing(store, second)
        const third = aBeginning('third', { primary, proof })
        assert.equal(await store.beginSession(third), 'replayed')
        await assertNothing(store, third)
        assert.equal(events.length, 1)

        // A second login, without a refresh token, by a clock that is behind.
        const { key } = anAuthRequest()
        const codeHash = hash('code-2')
        await store.authRequests.insert(
          anAuthRequest({ key: `${key}-2` as typeof key, codeHash, primary }),
        )
        const redemption = { codeHash, at: after(901) }
        const late = aBeginning('late', {
          primary,
          at: after(2),
          redemption,
          refreshToken: undefined,
        })
        assert.equal(await store.beginSession(late), 'begun')
        assert.deepEqual(await store.apiSessions.find(late.session.id), late.session)
        assert.equal((await store.identities.find(ENABLED.id))?.lastLoginAt, first.at)
      })
    }

    /** What happens while the beginning waits: it must see the newest state. The code is spent in any case. */
    const GONE: Readonly<Record<string, (tx: Stores) => Promise<unknown>>> = {
      disabled: (tx) =>
        tx.identities.replaceDisablement(ENABLED.id, { at: after(1), until: undefined }, after(1)),
      'no longer an administrator': (tx) => tx.identities.replace({ ...ENABLED, isAdmin: false }),
      'without its external id': (tx) =>
        tx.identities.replace({ ...ENABLED, externalId: undefined }),
      'under another policy': (tx) =>
        tx.identities.replace({ ...ENABLED, authPolicyId: OTHER_POLICY.id }),
      'of another type': (tx) => tx.identities.replace({ ...ENABLED, type: 'Default' }),
      'with voided logins': (tx) => tx.identities.voidLogins(ENABLED.id),
      'without its authenticator': (tx) => tx.authenticators.remove(anAuthenticator().id),
      'with another password': (tx) =>
        tx.authenticators.replaceUpdb(
          anAuthenticator().id,
          0,
          { ...anAuthenticator(), passwordHash: 'another' },
          after(1),
        ),
      deleted: (tx) => tx.identities.remove(ENABLED.id),
    }

    test('a login that waited for another transaction judges what that one committed, and is spent', async (t) => {
      const created = await database.create(t)
      const [one, other] = await openTwo(created)
      for (const [name, change] of Object.entries(GONE)) {
        await seedLogin(one, primaryOf('password'))
        const { key } = anAuthRequest()
        const codeHash = hash(`code of ${name}`)
        await one.authRequests.insert(anAuthRequest({ key: name as typeof key, codeHash }))
        const beginning = aBeginning(name, { redemption: { codeHash, at: after(900) } })
        const [pending] = await one.transaction(async (tx) => {
          await tx.identities.hold(ENABLED.id)
          await change(tx)
          const pending = other.beginSession(beginning)
          await waitingIn(created)
          return [pending]
        })
        assert.equal(await pending, 'gone', name)
        await assertNothing(one, beginning)
        assert.ok((await one.authRequests.findRedeemed(codeHash)) !== undefined)
        assert.equal(await one.beginSession(beginning), 'spent')
        await one.identities.remove(ENABLED.id)
        await one.authenticators.remove(anAuthenticator().id)
        await one.authenticators.remove(aCertAuthenticator().id)
        await one.passkeys.removeAll(ENABLED.id)
      }
    })

    // D-130, D-227: another `extend` ends the sessions of the certificate that was pending. One must not begin after it.
    test('a pending certificate begins sessions until another one takes its place', async (t) => {
      const created = await database.create(t)
      const [one, other] = await openTwo(created)
      const { id, fingerprint: current } = aCertAuthenticator()
      const extend = (tx: Stores, fingerprint: string) =>
        tx.certificateRenewals.replacePending(id, current, { certPem: '', fingerprint }, after(1))
      const primary = aPrimary({
        ...primaryOf('certificate'),
        certificate: {
          fingerprint: 'first',
          isIssuedByNetwork: true,
          notAfter: after(9),
          trust: undefined,
        },
      })
      const login = { primary, identity: ENABLED }
      const legacyLogin = (store: Store) =>
        store.transaction((tx) => holdLogin(tx, login, after(9)))
      await seedLogin(one, primary)
      await extend(one, 'first')
      assert.notEqual(await legacyLogin(one), undefined)
      assert.equal(await one.beginSession(aBeginning('pending', { primary })), 'begun')

      const { key } = anAuthRequest()
      const codeHash = hash('code-2')
      await one.authRequests.insert(
        anAuthRequest({ key: `${key}-2` as typeof key, codeHash, primary }),
      )
      const late = aBeginning('late', { primary, redemption: { codeHash, at: after(901) } })
      const [begun, held] = await one.transaction(async (tx) => {
        await tx.identities.hold(ENABLED.id)
        await extend(tx, 'second')
        const waiting = [other.beginSession(late), legacyLogin(other)] as const
        await waitingIn(created)
        return waiting
      })
      assert.equal(await begun, 'gone')
      assert.equal(await held, undefined)
      await assertNothing(one, late)
    })

    test('of fifty that exchange one code at once through two connections, one begins a session', async (t) => {
      const stores = await openTwo(await database.create(t))
      await seedLogin(stores[0], primaryOf('password'))
      const outcomes = await Promise.all(
        FIFTY.map((i) => stores[i % 2 ? 0 : 1].beginSession(aBeginning(`${i}`))),
      )
      assert.deepEqual(
        outcomes.toSorted(),
        FIFTY.map((i) => (i === 0 ? 'begun' : 'spent')),
      )
      const begun = outcomes.indexOf('begun')
      for (const i of FIFTY) {
        const isBegun = (await stores[0].apiSessions.find(sessionId(`${i}`))) !== undefined
        assert.equal(isBegun, i === begun)
      }
    })
  })
}
