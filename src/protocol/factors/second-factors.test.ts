/** What travels about second factors: D-256, D-262. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { demandedFactors, factorDemands, parseFactorDemands } from './second-factors.ts'

test('a policy demands only the factors that it mentions', () => {
  assert.deepEqual(factorDemands({}), { requireTotp: false })
  assert.deepEqual(factorDemands({ requireTotp: undefined }), { requireTotp: false })
  assert.deepEqual(demandedFactors(factorDemands({ requireTotp: true })), ['totp'])
  assert.deepEqual(demandedFactors(factorDemands({})), [])
})

test('reads the demands of a policy and ignores its other members', () => {
  const members = { id: 'strict', requireTotp: true, requireExtJwt: null }
  assert.deepEqual(parseFactorDemands(members), { requireTotp: true })
  assert.deepEqual(parseFactorDemands({ requireTotp: false }), { requireTotp: false })
})

test('does not read a policy as one that demands less than it says', () => {
  // Attack: a damaged policy, or one that was tampered with, must not be taken for one without TOTP.
  for (const requireTotp of [undefined, null, 0, 1, 'true', {}, []]) {
    assert.equal(parseFactorDemands({ requireTotp }), undefined, String(requireTotp))
  }
  assert.equal(parseFactorDemands({}), undefined)
})
