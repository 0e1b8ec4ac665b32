/** Certificates that wait to take the place of others, on every database: D-130. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import type { CertAuthenticator } from '../../src/domain/identities/authenticator.ts'
import type { Store } from '../../src/domain/stores.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { aCertAuthenticator, after, anIdentity, aSession, NOON, sessionId } from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const AUTHENTICATOR = aCertAuthenticator()
const { id, fingerprint } = AUTHENTICATOR
const OTHER = anIdentity({ id: 'identity-2' as IdentityId, name: 'other', externalId: undefined })
const pending = (letter: string) => ({ certPem: `the ${letter}`, fingerprint: letter.repeat(64) })
const LATER = after(1_000)

for (const database of ALL) {
  suite(database.name, () => {
    const openTwice = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openTwo(await database.create(t))
      await insertIdentity(stores[0])
      await stores[0].identities.insert(OTHER)
      assert.equal(await stores[0].authenticators.insert(AUTHENTICATOR), 'inserted')
      return stores
    }
    const open = async (t: TestContext) => (await openTwice(t))[0]
    const found = async ({ authenticators }: Store) =>
      (await authenticators.find(id)) as CertAuthenticator

    test('a pending certificate finds its authenticator beside the one in use', async (t) => {
      const store = await open(t)
      const { authenticators, certificateRenewals } = store
      assert.equal('renewal' in (await found(store)), false)
      assert.equal(
        await certificateRenewals.replacePending(id, fingerprint, pending('c'), LATER),
        true,
      )
      const expected = { ...AUTHENTICATOR, renewal: pending('c'), updatedAt: LATER }
      assert.deepEqual(await found(store), expected)
      assert.deepEqual(await authenticators.findCert(fingerprint), expected)
      assert.deepEqual(await authenticators.findCert(pending('c').fingerprint), expected)
      assert.deepEqual(await authenticators.listOf(AUTHENTICATOR.identityId), [expected])
    })

    test('a second one takes the place of the first', async (t) => {
      const { authenticators, certificateRenewals } = await open(t)
      await certificateRenewals.replacePending(id, fingerprint, pending('c'), NOON)
      await certificateRenewals.replacePending(id, fingerprint, pending('d'), LATER)
      assert.equal(await authenticators.findCert(pending('c').fingerprint), undefined)
      assert.equal((await authenticators.findCert(pending('d').fingerprint))?.id, id)
    })

    test('nothing waits for a certificate that is no longer in use', async (t) => {
      const store = await open(t)
      const { certificateRenewals } = store
      const missing = 'another' as AuthenticatorId
      for (const [which, current] of [
        [id, 'e'.repeat(64)],
        [missing, fingerprint],
      ] as const) {
        assert.equal(
          await certificateRenewals.replacePending(which, current, pending('c'), LATER),
          false,
        )
      }
      assert.deepEqual(await found(store), AUTHENTICATOR)
    })

    test('the pending one becomes the certificate, and the old one belongs to no identity', async (t) => {
      const store = await open(t)
      const { authenticators, certificateRenewals } = store
      await certificateRenewals.replacePending(id, fingerprint, pending('c'), NOON)
      assert.equal(await certificateRenewals.takePending(id, 'd'.repeat(64), LATER), false)
      assert.equal(await certificateRenewals.takePending(id, fingerprint, LATER), false)
      assert.equal(await certificateRenewals.takePending(id, pending('c').fingerprint, LATER), true)
      const { credentialVersion } = AUTHENTICATOR
      assert.deepEqual(await found(store), {
        ...AUTHENTICATOR,
        ...pending('c'),
        credentialVersion: credentialVersion + 1,
        updatedAt: LATER,
      })
      assert.equal(await authenticators.findCert(fingerprint), undefined)
      assert.equal(
        await authenticators.markUsed(id, credentialVersion, LATER),
        false,
        'D-122: what the old one proved begins nothing',
      )
    })

    test('of many confirmations at once one takes it', async (t) => {
      const stores = await openTwice(t)
      await stores[0].certificateRenewals.replacePending(id, fingerprint, pending('c'), NOON)
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          stores[i % 2 === 0 ? 0 : 1].certificateRenewals.takePending(id, 'c'.repeat(64), LATER),
        ),
      )
      assert.equal(taken.filter(Boolean).length, 1)
    })

    test('two authenticators cannot wait for one certificate', async (t) => {
      const { authenticators, certificateRenewals } = await open(t)
      const other = aCertAuthenticator({
        id: 'authenticator-8' as AuthenticatorId,
        identityId: OTHER.id,
        fingerprint: 'f'.repeat(64),
      })
      await authenticators.insert(other)
      await certificateRenewals.replacePending(id, fingerprint, pending('c'), NOON)
      await assert.rejects(
        certificateRenewals.replacePending(other.id, other.fingerprint, pending('c'), NOON),
      )
    })

    test('sessions of the old certificate go on as those of the new one, and no others', async (t) => {
      const { apiSessions, certificateRenewals } = await open(t)
      const begun = (name: string, authenticatorId: AuthenticatorId, by: string) => {
        const session = aSession({ id: sessionId(name) })
        const known = { notAfter: NOON, trust: undefined }
        const certificate = { fingerprint: by, isIssuedByNetwork: true, ...known }
        return { ...session, primary: { ...session.primary, authenticatorId, certificate } }
      }
      const old = begun('old', id, fingerprint)
      const otherCertificate = begun('other-certificate', id, 'e'.repeat(64))
      const someone = begun('someone', 'another' as AuthenticatorId, fingerprint)
      for (const session of [old, otherCertificate, someone]) await apiSessions.insert(session)
      const next = { fingerprint: 'c'.repeat(64), notAfter: after(7) }
      await certificateRenewals.rebindSessions(id, fingerprint, next)
      assert.deepEqual(await apiSessions.find(old.id), {
        ...old,
        primary: {
          ...old.primary,
          certificate: { ...next, isIssuedByNetwork: true, trust: undefined },
        },
      })
      assert.deepEqual(await apiSessions.find(otherCertificate.id), otherCertificate)
      assert.deepEqual(await apiSessions.find(someone.id), someone)
    })
  })
}
