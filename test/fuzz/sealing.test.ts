/**
 * Properties of the seal (D-7, D-48): what was sealed comes out for the same purpose, context and
 * secret, and nothing else comes out of anything. A stranger who holds a sealed value can do nothing
 * with it but show it, and no text of his own opens (R024).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fromBase64url } from '../../src/base/encoding.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import type { SecretHash } from '../../src/base/secrets/vault.ts'
import {
  createVault,
  INSTALLATION_SECRET_BYTES,
  type Purpose,
} from '../../src/base/secrets/vault.ts'
import { seconds } from '../../src/base/time/duration.ts'
import { instant } from '../../src/base/time/instant.ts'
import type {
  AuthRequestKey,
  AwaitingPrimary,
} from '../../src/domain/login/request/auth-request.ts'
import { openRequest, sealRequest } from '../../src/domain/login/request/sealed-request.ts'
import type { VerifiedRedirect } from '../../src/domain/login/request/verified-redirect.ts'
import { SECOND_FACTOR_IDS } from '../../src/protocol/factors/second-factors.ts'
import { type Issuer, RESPONSE_MODES, SCOPES } from '../../src/protocol/oidc.ts'
import { rounds } from '../support/chance/rounds.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const secret = systemRandom.bytes(INSTALLATION_SECRET_BYTES)
const vault = createVault(secret, systemRandom)

const purpose = fc.constantFrom<Purpose>(
  'auth-request',
  'authorization-code',
  'browser',
  'signing-key',
  'authority-key',
  'installation',
)
const plain = fc.uint8Array({ maxLength: 100 })
const context = fc.string({ unit: 'binary', maxLength: 20 })

test('what was sealed comes out again, byte for byte', () => {
  fc.assert(
    fc.property(purpose, plain, context, (purpose, bytes, context) => {
      const sealed = vault.seal(purpose, bytes, context)
      assert.match(sealed, /^[\w-]+$/)
      assert.deepEqual(vault.open(purpose, sealed, context), bytes)
      // Another instance with the same secret reads it too.
      const other = createVault(new Uint8Array(secret), systemRandom)
      assert.deepEqual(other.open(purpose, sealed, context), bytes)
    }),
  )
})

test('one value sealed twice gives two texts', () => {
  fc.assert(
    fc.property(purpose, plain, (purpose, bytes) => {
      assert.notEqual(vault.seal(purpose, bytes), vault.seal(purpose, bytes))
    }),
  )
})

test('a single changed bit, anywhere, and nothing comes out', () => {
  fc.assert(
    fc.property(purpose, plain, context, fc.nat(), (purpose, bytes, context, bit) => {
      const sealed = vault.seal(purpose, bytes, context)
      const changed = Buffer.from(fromBase64url(sealed) ?? [])
      const at = bit % (changed.length * 8)
      changed.writeUInt8(changed.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3)
      assert.equal(vault.open(purpose, changed.toString('base64url'), context), undefined)
    }),
  )
})

test('a text that is cut short, grown, or written in another way, and nothing comes out', () => {
  fc.assert(
    fc.property(
      purpose,
      plain,
      fc.nat(),
      fc.string({ minLength: 1 }),
      (purpose, bytes, at, more) => {
        const sealed = vault.seal(purpose, bytes)
        const place = at % sealed.length
        for (const other of [
          sealed.slice(0, place),
          sealed.slice(place + 1),
          sealed + more,
          more + sealed,
          sealed.slice(0, place) + more + sealed.slice(place),
          `${sealed}=`,
          ` ${sealed}`,
        ]) {
          assert.equal(vault.open(purpose, other), undefined, other)
        }
      },
    ),
  )
})

test('another purpose, context or secret, and nothing comes out', () => {
  const stranger = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
  fc.assert(
    fc.property(purpose, purpose, plain, context, context, (purpose, other, bytes, a, b) => {
      const sealed = vault.seal(purpose, bytes, a)
      if (other !== purpose) assert.equal(vault.open(other, sealed, a), undefined)
      if (a !== b) assert.equal(vault.open(purpose, sealed, b), undefined)
      assert.equal(stranger.open(purpose, sealed, a), undefined)
    }),
  )
})

test('hashes of two purposes, values or secrets differ, and say nothing of the value', () => {
  const stranger = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
  fc.assert(
    fc.property(purpose, purpose, context, context, (purpose, other, a, b) => {
      const hash = vault.hash(purpose, a)
      assert.match(hash, /^[\w-]{43}$/)
      assert.equal(vault.hash(purpose, a), hash)
      if (other !== purpose) assert.notEqual(vault.hash(other, a), hash)
      if (a !== b) assert.notEqual(vault.hash(purpose, b), hash)
      assert.notEqual(stranger.hash(purpose, a), hash)
    }),
  )
})

test('no forged text opens, and none makes the vault throw', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: fc.constantFrom(...'abcXYZ019-_'), minLength: 38, maxLength: 200 }),
    fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit).repeat(60)),
  )
  fc.assert(
    fc.property(purpose, text, (purpose, text) => {
      assert.equal(vault.open(purpose, text), undefined)
      assert.equal(openRequest(vault, text), undefined)
    }),
  )
})

const anyText = fc.string({ unit: 'binary', maxLength: 30 })
const request: fc.Arbitrary<AwaitingPrimary> = fc.record({
  state: fc.constant('awaiting-primary'),
  key: anyText as fc.Arbitrary<AuthRequestKey>,
  browser: fc.option(anyText as fc.Arbitrary<SecretHash>, { nil: undefined }),
  expiresAt: fc.nat().map(instant),
  ask: fc.record({
    clientId: anyText,
    redirectUri: anyText as fc.Arbitrary<VerifiedRedirect>,
    responseMode: fc.constantFrom(...RESPONSE_MODES),
    issuer: anyText as fc.Arbitrary<Issuer>,
    scopes: fc.subarray([...SCOPES]),
    codeChallenge: anyText,
    dpopKey: fc.option(anyText, { nil: undefined }),
    state: fc.option(anyText, { nil: undefined }),
    nonce: fc.option(anyText, { nil: undefined }),
    prompt: fc.constantFrom('login' as const, undefined),
    maxAge: fc.option(fc.nat().map(seconds), { nil: undefined }),
    stepUp: fc.option(fc.subarray([...SECOND_FACTOR_IDS], { minLength: 1 }), { nil: undefined }),
    configTypes: fc.array(anyText, { maxLength: 3 }),
  }),
})

const written = (value: unknown) => JSON.parse(JSON.stringify(value))

test('an auth request comes out of its id as it went in', () => {
  fc.assert(
    fc.property(request, (request) => {
      const id = sealRequest(vault, request)
      assert.ok(id !== undefined)
      // Written out, because a member that is undefined is as good as one that is not there.
      assert.deepEqual(written(openRequest(vault, id)), written(request))
    }),
  )
})

test('D-7: an id has at most 4 KiB, or is not issued', () => {
  const seen = { taken: 0, refused: 0 }
  fc.assert(
    fc.property(request, fc.integer({ min: 2_000, max: 4_000 }), (request, length) => {
      const state = 'x'.repeat(length)
      const id = sealRequest(vault, { ...request, ask: { ...request.ask, state } })
      seen[id === undefined ? 'refused' : 'taken'] += 1
      if (id === undefined) return
      assert.ok(id.length <= 4096)
      assert.equal(openRequest(vault, id)?.ask.state, state)
    }),
  )
  assert.ok(Math.min(seen.taken, seen.refused) > 10, JSON.stringify(seen))
})

test('values that we sealed for something else are no auth requests', () => {
  // Attack: a sealed value leaks from elsewhere, from a copy of the database for example, and is
  // shown as an auth request id.
  fc.assert(
    fc.property(purpose, request, (purpose, request) => {
      if (purpose === 'auth-request') return
      const sealed = vault.seal(purpose, Buffer.from(JSON.stringify(request)))
      assert.equal(openRequest(vault, sealed), undefined)
    }),
  )
})
