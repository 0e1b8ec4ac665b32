/**
 * What is there becomes another, on every database: what must be unique stays so, also when two want the same at once,
 * and what a change does not name stays as it is. API 1, D-121, D-122.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthenticatorId, AuthPolicyId, CaId, IdentityId } from '../../src/base/ids.ts'
import { lockRule } from '../../src/domain/factors/guessing/lock-rule.ts'
import type { Store } from '../../src/domain/stores.ts'
import { factorDemands } from '../../src/protocol/factors/second-factors.ts'
import { rounds } from '../support/chance/rounds.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import {
  aCa,
  aCertAuthenticator,
  after,
  anAuthenticator,
  anIdentity,
  aPolicy,
  aSigner,
  NOON,
  signerId,
} from './samples.ts'
import { insertIdentity } from './seed.ts'

afterAll(async () => (await startPostgres()).stop())

const ORIGIN = { network: '192.0.2.1', device: undefined }
const lockAfter = (maxAttempts: number) => ({
  ...lockRule({ maxAttempts, lockoutDurationMinutes: 1 }, NOON),
  lockUntil: () => after(100),
})

const ROUNDS = Array.from({ length: rounds(5) }, (_, i) => i)
const OTHER = anIdentity({ id: 'identity-2' as IdentityId, name: 'other', externalId: 'other' })
const OTHERS = anAuthenticator({
  id: 'authenticator-2' as AuthenticatorId,
  identityId: OTHER.id,
  username: 'other',
})
const { id } = anAuthenticator()

for (const database of ALL) {
  suite(database.name, () => {
    const openFilled = async (t: TestContext): Promise<readonly [Store, Store]> => {
      const stores = await openTwo(await database.create(t))
      await insertIdentity(stores[0])
      await stores[0].identities.insert(OTHER)
      for (const one of [anAuthenticator(), aCertAuthenticator(), OTHERS]) {
        assert.equal(await stores[0].authenticators.insert(one), 'inserted')
      }
      return stores
    }
    const open = async (t: TestContext) => (await openFilled(t))[0]

    test('an identity becomes another in all that is chosen, and in nothing else', async (t) => {
      const { identities, authPolicies } = await open(t)
      const policy = aPolicy({ id: 'policy-2' as AuthPolicyId, name: 'guests' })
      await authPolicies.insert(policy)
      await identities.replaceClientInfo(anIdentity().id, { envInfo: { os: 'linux' } })
      const next = anIdentity({
        name: 'Zoé',
        type: 'Default',
        isAdmin: false,
        externalId: undefined,
        authPolicyId: policy.id,
        roleAttributes: [],
        appData: { floor: null },
        tags: {},
        updatedAt: after(9),
      })
      const unasked = { disabledAt: NOON, disabledUntil: undefined, createdAt: after(-9) }
      assert.equal(await identities.replace({ ...next, ...unasked }), 'replaced')
      assert.deepEqual(await identities.find(next.id), { ...next, envInfo: { os: 'linux' } })
      assert.deepEqual(await identities.find(OTHER.id), OTHER)
    })

    test('an identity does not take the name or the external id of another one', async (t) => {
      const { identities } = await open(t)
      const named = anIdentity({ name: OTHER.name })
      assert.equal(await identities.replace(named), 'name-in-use')
      assert.equal(
        await identities.replace(anIdentity({ externalId: 'other' })),
        'external-id-in-use',
      )
      assert.deepEqual(await identities.find(anIdentity().id), anIdentity())
      assert.equal(await identities.replace(anIdentity({ name: 'Zoë' })), 'replaced')
      const nobody = anIdentity({ id: 'nobody' as IdentityId, name: 'n', externalId: undefined })
      assert.equal(await identities.replace(nobody), 'missing')
    })

    test('a refused change leaves the rest of its transaction as it is', async (t) => {
      const store = await open(t)
      const outcome = await store.transaction(async (tx) => {
        await tx.identities.replace({ ...OTHER, tags: { kept: true } })
        return tx.identities.replace(anIdentity({ name: OTHER.name }))
      })
      assert.equal(outcome, 'name-in-use')
      assert.deepEqual((await store.identities.find(OTHER.id))?.tags, { kept: true })
    })

    test('of two identities that take one name at once one gets it', async (t) => {
      const stores = await openFilled(t)
      for (const round of ROUNDS) {
        const name = `round ${round}`
        const outcomes = await Promise.all([
          stores[0].identities.replace(anIdentity({ name })),
          stores[1].identities.replace({ ...OTHER, name }),
        ])
        assert.deepEqual(outcomes.toSorted(), ['name-in-use', 'replaced'])
      }
    })

    test('what a client tells of itself is kept until another tells', async (t) => {
      const { identities } = await open(t)
      const told = async () => {
        const { envInfo, sdkInfo } = (await identities.find(OTHER.id)) ?? {}
        return { envInfo, sdkInfo }
      }
      assert.deepEqual(await told(), { envInfo: undefined, sdkInfo: undefined })
      await identities.replaceClientInfo(OTHER.id, { envInfo: { os: 'Zoë "1"' } })
      await identities.replaceClientInfo(OTHER.id, { sdkInfo: { version: '2' } })
      await identities.replaceClientInfo(OTHER.id, {})
      assert.deepEqual(await told(), { envInfo: { os: 'Zoë "1"' }, sdkInfo: { version: '2' } })
    })

    test('another username and other tags leave the password and its lock', async (t) => {
      const { authenticators, passwordFailures } = await open(t)
      await passwordFailures.add(id, ORIGIN, lockAfter(1), NOON)
      const next = { username: 'ZOE', passwordHash: undefined, tags: { desk: 1 } }
      assert.equal(await authenticators.replaceUpdb(id, 0, next, after(9)), 'replaced')
      const expected = anAuthenticator({
        username: 'ZOE',
        tags: { desk: 1 },
        lockedUntil: after(100),
        updatedAt: after(9),
      })
      assert.deepEqual(await authenticators.findUpdb('zoe'), expected)
      assert.equal(await authenticators.findUpdb('zoë'), undefined)
    })

    test('another password forgets failures and lock, and is another credential', async (t) => {
      const { authenticators, passwordFailures } = await open(t)
      await passwordFailures.add(id, ORIGIN, lockAfter(2), NOON)
      await passwordFailures.add(id, ORIGIN, lockAfter(2), NOON)
      const next = { username: 'Zoë', passwordHash: 'b', tags: {} }
      assert.equal(await authenticators.replaceUpdb(id, 0, next, after(9)), 'replaced')
      const found = await authenticators.find(id)
      assert.deepEqual(
        found,
        anAuthenticator({
          passwordHash: 'b',
          tags: {},
          lockedUntil: undefined,
          credentialVersion: 1,
          updatedAt: after(9),
        }),
      )
      const failed = await passwordFailures.add(id, ORIGIN, lockAfter(2), NOON)
      assert.deepEqual(failed, { lockedUntil: undefined })
      // Whoever has seen the former one comes too late.
      assert.equal(await authenticators.replaceUpdb(id, 0, next, after(9)), 'missing')
      assert.equal(await authenticators.markUsed(id, 0, after(10)), false)
      assert.equal((await authenticators.find(id))?.lastUsedAt, undefined)
      assert.equal(await authenticators.markUsed(id, 1, after(10)), true)
      assert.equal((await authenticators.find(id))?.lastUsedAt, after(10))
    })

    test('of two passwords that replace one at once one does', async (t) => {
      const stores = await openFilled(t)
      const replace = (store: Store, hash: string) => {
        const next = { username: 'Zoë', passwordHash: hash, tags: {} }
        return store.authenticators.replaceUpdb(id, 0, next, after(9))
      }
      const outcomes = await Promise.all([replace(stores[0], 'a'), replace(stores[1], 'b')])
      assert.deepEqual(outcomes.toSorted(), ['missing', 'replaced'])
    })

    test('a username that another one has in any spelling is not taken', async (t) => {
      const { authenticators } = await open(t)
      const next = { username: 'OTHER', passwordHash: 'b', tags: {} }
      assert.equal(await authenticators.replaceUpdb(id, 0, next, after(9)), 'username-in-use')
      assert.deepEqual(await authenticators.find(id), anAuthenticator())
      const { id: certId } = aCertAuthenticator()
      assert.equal(await authenticators.replaceUpdb(certId, 0, next, after(9)), 'missing')
    })

    test('another certificate is another credential, and belongs to one alone', async (t) => {
      const { authenticators } = await open(t)
      const { id: certId, certPem, fingerprint } = aCertAuthenticator()
      const certificate = { certPem: 'new', fingerprint: 'ee', isIssuedByNetwork: false }
      const tags = { desk: 8 }
      const renamed = { certificate: undefined, tags: {} }
      assert.equal(await authenticators.replaceCert(certId, 0, renamed, after(8)), 'replaced')
      const tagged = aCertAuthenticator({ tags: {}, updatedAt: after(8) })
      assert.deepEqual(await authenticators.find(certId), tagged)
      const next = { certificate, tags }
      assert.equal(await authenticators.replaceCert(certId, 0, next, after(9)), 'replaced')
      const expected = aCertAuthenticator({
        ...certificate,
        credentialVersion: 1,
        updatedAt: after(9),
      })
      assert.deepEqual(await authenticators.findCert('ee'), expected)
      assert.equal(await authenticators.findCert(fingerprint), undefined)
      assert.equal(await authenticators.replaceCert(certId, 0, next, after(9)), 'missing')

      const others = { ...aCertAuthenticator(), id: 'a3' as AuthenticatorId, identityId: OTHER.id }
      await authenticators.insert({ ...others, certPem, fingerprint })
      const taken = { certificate: { certPem, fingerprint, isIssuedByNetwork: true }, tags }
      assert.equal(
        await authenticators.replaceCert(certId, 1, taken, after(9)),
        'certificate-in-use',
      )
    })

    test('policies, signers and CAs become others under names of their own', async (t) => {
      const { authPolicies, externalJwtSigners, cas } = await open(t)
      const policy = aPolicy({ id: 'policy-2' as AuthPolicyId, name: 'guests' })
      await authPolicies.insert(policy)
      const stricter = { ...policy, name: 'visitors', tags: {}, updatedAt: after(9) }
      const secondary = { ...factorDemands({}), requireExtJwt: undefined, requireBoundToken: true }
      assert.equal(await authPolicies.replace({ ...stricter, secondary }), 'replaced')
      assert.deepEqual(await authPolicies.find(policy.id), { ...stricter, secondary })
      assert.equal(await authPolicies.replace({ ...policy, name: 'staff' }), 'name-in-use')
      const noPolicy = { ...policy, id: 'nothing' as AuthPolicyId, name: 'nothing' }
      assert.equal(await authPolicies.replace(noPolicy), 'missing')

      const signer = aSigner({ id: signerId('signer-2'), name: 'guests', issuer: 'https://two' })
      for (const one of [aSigner(), signer]) await externalJwtSigners.insert(one)
      const keys = { kind: 'certificate', certPem: 'pem', kid: 'k' } as const
      const changed = { ...signer, keys, enabled: false, clientId: undefined, updatedAt: after(9) }
      assert.equal(await externalJwtSigners.replace(changed), 'replaced')
      assert.deepEqual(await externalJwtSigners.find(signer.id), changed)
      const named = { ...signer, name: 'workforce' }
      assert.equal(await externalJwtSigners.replace(named), 'name-in-use')
      const issued = { ...signer, issuer: aSigner().issuer }
      assert.equal(await externalJwtSigners.replace(issued), 'issuer-in-use')
      const noSigner = aSigner({ id: signerId('nothing'), name: 'nothing', issuer: 'https://none' })
      assert.equal(await externalJwtSigners.replace(noSigner), 'missing')

      const ca = aCa({ id: 'ca-2' as CaId, name: 'two', fingerprint: 'ee' })
      for (const one of [aCa(), ca]) await cas.insert(one)
      const off = { ...ca, isAuthEnabled: false, externalIdClaim: undefined, updatedAt: after(9) }
      // What is no choice is not written.
      const unasked = { isVerified: true, verificationToken: undefined, fingerprint: 'ff' }
      assert.equal(await cas.replace({ ...off, ...unasked }), 'replaced')
      assert.deepEqual(await cas.find(ca.id), off)
      assert.equal(await cas.replace({ ...ca, name: 'partner' }), 'name-in-use')
      assert.equal(await cas.replace({ ...ca, id: 'ca-3' as CaId, name: 'three' }), 'missing')
    })
  })
}
