/** What travels about second factors: D-256, D-262, D-432. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  demandedChoices,
  factorDemands,
  parseFactorDemands,
  unmetChoices,
  withoutImplied,
} from './second-factors.ts'

const NOTHING = { requireTotp: false, requirePasskey: false, requireTotpOrPasskey: false }

test('a policy demands only the factors that it mentions', () => {
  assert.deepEqual(factorDemands({}), NOTHING)
  assert.deepEqual(factorDemands({ requireTotp: undefined }), NOTHING)
  assert.deepEqual(demandedChoices(factorDemands({ requireTotp: true })), [['totp']])
  assert.deepEqual(demandedChoices(factorDemands({})), [])
})

for (const [demands, choices] of [
  [{ requirePasskey: true }, [['passkey']]],
  [{ requireTotpOrPasskey: true }, [['totp', 'passkey']]],
  [{ requireTotp: true, requirePasskey: true }, [['totp'], ['passkey']]],
  [{ requireTotp: true, requireTotpOrPasskey: true }, [['totp']]],
  [{ requirePasskey: true, requireTotpOrPasskey: true }, [['passkey']]],
] as const) {
  test(`D-432: ${Object.keys(demands).join(' and ')} leave ${JSON.stringify(choices)} to prove`, () => {
    assert.deepEqual(demandedChoices(factorDemands(demands)), choices)
  })
}

test('a choice is met by one of its factors, and implied by a narrower or equal one', () => {
  const either = [['totp', 'passkey']] as const
  assert.deepEqual(
    unmetChoices(either, (id) => id === 'passkey'),
    [],
  )
  assert.deepEqual(
    unmetChoices(either, () => false),
    either,
  )
  assert.deepEqual(withoutImplied([['passkey'], ['passkey'], ...either]), [['passkey']])
})

test('reads the demands of a policy and ignores its other members', () => {
  const members = { id: 'strict', requireTotp: true, requireExtJwt: null }
  assert.deepEqual(parseFactorDemands(members), { ...NOTHING, requireTotp: true })
  assert.deepEqual(parseFactorDemands({ requireTotp: false }), NOTHING)
  const passkey = { requireTotp: false, requirePasskey: true }
  assert.deepEqual(parseFactorDemands(passkey), { ...NOTHING, requirePasskey: true })
})

test('does not read a policy as one that demands less than it says', () => {
  // Attack: a damaged policy, or one that was tampered with, must not be taken for one without TOTP.
  for (const requireTotp of [undefined, null, 0, 1, 'true', {}, []]) {
    assert.equal(parseFactorDemands({ requireTotp }), undefined, String(requireTotp))
  }
  for (const requirePasskey of [0, 1, 'true', {}, []]) {
    const members = { requireTotp: false, requirePasskey }
    assert.equal(parseFactorDemands(members), undefined, String(requirePasskey))
  }
  assert.equal(parseFactorDemands({}), undefined)
})
