/**
 * The rules on every database: policies, external JWT signers, third-party CAs, and the version that tells of a
 * change.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { AuthPolicyId, CaId } from '../../src/base/ids.ts'
import type { Store } from '../../src/domain/stores.ts'
import { factorDemands } from '../../src/protocol/factors/second-factors.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { aCa, after, anIdentity, aPolicy, aSigner, signerId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const TIMES = Array.from({ length: 20 }, (_, i) => i)

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('a policy comes back as it was stored', async (t) => {
      const { authPolicies } = await open(t)
      const plain = aPolicy({
        id: 'policy-2' as AuthPolicyId,
        name: 'plain',
        secondary: { ...factorDemands({}), requireExtJwt: undefined, requireBoundToken: true },
        tags: {},
      })
      for (const policy of [aPolicy(), plain]) {
        assert.equal(await authPolicies.insert(policy), 'inserted')
        assert.deepEqual(await authPolicies.find(policy.id), policy)
      }
      for (const id of ['another', 'policy\u0000', 'POLICY-1']) {
        assert.equal(await authPolicies.find(id as AuthPolicyId), undefined)
      }
    })

    test('two policies do not have the same name', async (t) => {
      const { authPolicies } = await open(t)
      await authPolicies.insert(aPolicy())
      const twin = aPolicy({ id: 'policy-2' as AuthPolicyId })
      assert.equal(await authPolicies.insert(twin), 'name-in-use')
      assert.equal(await authPolicies.find(twin.id), undefined)
      assert.equal(await authPolicies.insert({ ...twin, name: 'Staff' }), 'inserted')
    })

    test('a policy with the id of another is refused loudly', async (t) => {
      // Ids are random: two of them are a fault, not somebody's wish.
      const { authPolicies } = await open(t)
      await authPolicies.insert(aPolicy())
      await assert.rejects(authPolicies.insert(aPolicy({ name: 'another' })), {
        message: 'table auth_policies: there is a row of this key already',
      })
      assert.deepEqual(await authPolicies.list(), [aPolicy()])
    })

    test('policies, signers and CAs are listed by name, capitals first', async (t) => {
      const { authPolicies, externalJwtSigners, cas } = await open(t)
      const names = ['b', 'a', 'é', 'B', 'a b', '10', '9']
      for (const [i, name] of names.entries()) {
        await authPolicies.insert(aPolicy({ id: `policy-${i}` as AuthPolicyId, name }))
        await externalJwtSigners.insert(aSigner({ id: signerId(`${i}`), issuer: `${i}`, name }))
        await cas.insert(aCa({ id: `ca-${i}` as CaId, fingerprint: `${i}`, name }))
      }
      const expected = ['10', '9', 'B', 'a', 'a b', 'b', 'é']
      for (const store of [authPolicies, externalJwtSigners, cas]) {
        const listed = (await store.list()).map((one) => one.name)
        assert.deepEqual(listed, expected)
      }
    })

    test('a policy is removed once, and never while an identity has it', async (t) => {
      const { authPolicies, identities } = await open(t)
      await authPolicies.insert(aPolicy())
      await identities.insert(anIdentity())
      await assert.rejects(authPolicies.remove(aPolicy().id), /foreign key/i)
      await identities.remove(anIdentity().id)
      assert.equal(await authPolicies.remove(aPolicy().id), true)
      assert.equal(await authPolicies.remove(aPolicy().id), false)
      assert.deepEqual(await authPolicies.list(), [])
    })

    test('a signer comes back as it was stored, with either kind of keys', async (t) => {
      const { externalJwtSigners } = await open(t)
      const withCertificate = aSigner({
        id: signerId('signer-2'),
        name: 'partner',
        issuer: 'https://idp.example.org',
        keys: { kind: 'certificate', certPem: 'PEM', kid: 'k1' },
      })
      const plain = aSigner({
        id: signerId('signer-3'),
        name: 'plain',
        issuer: 'plain',
        enabled: false,
        keys: { kind: 'certificate', certPem: 'PEM', kid: undefined },
        useExternalId: false,
        externalAuthUrl: undefined,
        clientId: undefined,
        scopes: [],
        targetToken: 'ACCESS',
        tags: {},
      })
      for (const signer of [aSigner(), withCertificate, plain]) {
        assert.equal(await externalJwtSigners.insert(signer), 'inserted')
        assert.deepEqual(await externalJwtSigners.find(signer.id), signer)
      }
      for (const id of ['another', 'signer\u0000']) {
        assert.equal(await externalJwtSigners.find(signerId(id)), undefined)
      }
      assert.equal(await externalJwtSigners.remove(plain.id), true)
      assert.equal(await externalJwtSigners.remove(plain.id), false)
      assert.deepEqual(await externalJwtSigners.list(), [withCertificate, aSigner()])
    })

    test('two signers have neither the same name nor the same issuer', async (t) => {
      const { externalJwtSigners } = await open(t)
      await externalJwtSigners.insert(aSigner())
      const other = { id: signerId('signer-2') }
      const named = aSigner({ ...other, issuer: 'https://other.example.org/' })
      const issuing = aSigner({ ...other, name: 'another' })
      assert.equal(await externalJwtSigners.insert(named), 'name-in-use')
      assert.equal(await externalJwtSigners.insert(issuing), 'issuer-in-use')
      assert.equal(await externalJwtSigners.insert(aSigner(other)), 'name-in-use')
      assert.deepEqual(await externalJwtSigners.list(), [aSigner()])
    })

    test('a CA comes back as it was stored', async (t) => {
      const { cas } = await open(t)
      const plain = aCa({
        id: 'ca-2' as CaId,
        name: 'own',
        fingerprint: 'ef'.repeat(32),
        isVerified: true,
        verificationToken: undefined,
        identityRoles: [],
        externalIdClaim: undefined,
        tags: {},
      })
      for (const ca of [aCa(), plain]) {
        assert.equal(await cas.insert(ca), 'inserted')
        assert.deepEqual(await cas.find(ca.id), ca)
      }
      for (const id of ['another', 'ca\u0000']) {
        assert.equal(await cas.find(id as CaId), undefined)
      }
      assert.equal(await cas.remove(plain.id), true)
      assert.equal(await cas.remove(plain.id), false)
      assert.deepEqual(await cas.list(), [aCa()])
    })

    test('two CAs have neither the same name nor the same certificate', async (t) => {
      const { cas } = await open(t)
      await cas.insert(aCa())
      const other = { id: 'ca-2' as CaId }
      assert.equal(await cas.insert(aCa({ ...other, fingerprint: 'other' })), 'name-in-use')
      assert.equal(await cas.insert(aCa({ ...other, name: 'other' })), 'certificate-in-use')
      assert.deepEqual(await cas.list(), [aCa()])
    })

    test('of twenty verifications of a CA at once, one counts', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      await one.cas.insert(aCa())
      const verified = await Promise.all(
        TIMES.map((i) => (i % 2 ? one : other).cas.markVerified(aCa().id, after(9 + i))),
      )
      assert.equal(verified.filter(Boolean).length, 1)
      const updatedAt = after(9 + verified.indexOf(true))
      const expected = aCa({ isVerified: true, verificationToken: undefined, updatedAt })
      assert.deepEqual(await other.cas.find(aCa().id), expected)
      assert.equal(await one.cas.markVerified('another' as CaId, after(9)), false)
    })

    test('of twenty inserts of one name at once, one wins and the others hear why', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      const answers = await Promise.all(
        TIMES.map((i) =>
          (i % 2 ? one : other).cas.insert(aCa({ id: `ca-${i}` as CaId, fingerprint: `${i}` })),
        ),
      )
      const expected = ['inserted', ...Array(19).fill('name-in-use')]
      assert.deepEqual(answers.sort(), expected)
    })

    test('the version of the rules counts every raise', async (t) => {
      const [one, other] = await openTwo(await database.create(t))
      assert.equal(await one.ruleVersions.current(), 0)
      await Promise.all(TIMES.map((i) => (i % 2 ? one : other).ruleVersions.raise()))
      assert.equal(await one.ruleVersions.current(), 20)
      assert.equal(await other.ruleVersions.current(), 20)
    })

    test('a change and its version are seen together, or not at all', async (t) => {
      const store = await open(t)
      const reason = new Error('changed my mind')
      const failing = store.transaction(async (tx) => {
        await tx.authPolicies.insert(aPolicy())
        await tx.ruleVersions.raise()
        throw reason
      })
      await assert.rejects(failing, (error) => error === reason)
      assert.equal(await store.ruleVersions.current(), 0)
      await Promise.all(
        TIMES.map((i) =>
          store.transaction(async (tx) => {
            await tx.authPolicies.insert(aPolicy({ id: `${i}` as AuthPolicyId, name: `${i}` }))
            await tx.ruleVersions.raise()
          }),
        ),
      )
      assert.equal(await store.ruleVersions.current(), 20)
      assert.equal((await store.authPolicies.list()).length, 20)
    })
  })
}
