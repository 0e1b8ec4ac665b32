import assert from 'node:assert/strict'
import test from 'node:test'
import { factorDemands } from '../../../protocol/factors/second-factors.ts'
import { methodsOf } from './policies-page.ts'
import { demandedFactors } from './policy-form.ts'

test('the list of policies names every method that a policy allows', () => {
  const none = { allowPassword: false, allowCert: false, allowExtJwt: false, allowPasskey: false }
  assert.deepEqual(methodsOf(none), [])
  assert.deepEqual(methodsOf({ ...none, allowPasskey: true }), ['passkeys'])
  assert.deepEqual(methodsOf({ ...none, allowPassword: true, allowCert: true }), [
    'passwords',
    'certificates',
  ])
})

test('the list of policies names every factor that a policy demands', () => {
  assert.deepEqual(demandedFactors(factorDemands({})), [])
  const demands = factorDemands({ requireTotp: true, requirePasskey: true })
  assert.deepEqual(demandedFactors(demands), ['authenticator app', 'passkey'])
})
