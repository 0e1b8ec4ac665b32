/** How proven second factors are stored: rows of the version before the registry are read as they are. D-256. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SecondFactorId } from '../../domain/factors/proven.ts'
import { factorsOf, furtherFactors } from './second-factors.ts'

test('TOTP is what its own column says, and adds nothing to the row', () => {
  assert.deepEqual(factorsOf(true), new Set(['totp']))
  assert.deepEqual(factorsOf(false), new Set())
  assert.equal(furtherFactors(new Set(['totp'])), undefined)
  assert.equal(furtherFactors(new Set()), undefined)
  const members = { extJwt: undefined, factors: furtherFactors(new Set(['totp'])) }
  assert.equal(JSON.stringify(members), '{}', 'as an earlier version wrote it')
})

test('a further factor is stored in the list, and comes back with TOTP', () => {
  const further = 'another' as SecondFactorId
  const factors = new Set<SecondFactorId>(['totp', further])
  assert.deepEqual(furtherFactors(factors), [further])
  assert.deepEqual(factorsOf(true, furtherFactors(factors)), factors)
  assert.deepEqual(factorsOf(false, [further]), new Set([further]))
})
