/**
 * The dry run of a signer never disagrees with a login: for generated tokens, `check` passes exactly when the factor
 * accepts. API 3.3, D-136, R104.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { base64url } from '../../src/base/encoding.ts'
import type { ExternalJwtSignerId, IdentityId } from '../../src/base/ids.ts'
import { Secret } from '../../src/base/secrets/secret.ts'
import { epochSeconds } from '../../src/base/time/instant.ts'
import type { ExternalJwtSigner } from '../../src/domain/ext-jwt/signer.ts'
import { createSignerKeys } from '../../src/domain/ext-jwt/signer-keys.ts'
import { proveByExternalJwt } from '../../src/domain/factors/external-jwt.ts'
import type { FactorPorts } from '../../src/domain/factors/ports.ts'
import type { Identity } from '../../src/domain/identities/identity.ts'
import { checkSigner } from '../../src/domain/management/check-signer.ts'
import { rounds } from '../support/chance/rounds.ts'
import { ManualClock } from '../support/clocks/manual-clock.ts'
import { fakePorts } from '../support/fake-ports.ts'
import { externalSigner, type IdpKey, newIdpKey } from '../support/idp/external-idp.ts'
import { anIdentity, aPolicy, rulesOf } from '../support/people.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const clock = new ManualClock()
const NOW = epochSeconds(clock.now())
const OTHER = 'signer-2' as ExternalJwtSignerId
const SUBJECT = anIdentity().externalId ?? ''

const genuine = await newIdpKey('k')
const strange = await newIdpKey('k')
const unnamed = await newIdpKey('other')

/** Small numbers around every bound, and what is no time at all. */
const time = fc.oneof(
  fc.constantFrom(-601, -61, -60, -59, 0, 59, 60, 61, 600).map((offset) => NOW + offset),
  fc.constantFrom(0.5, 1e21, null, 'soon', true),
)

/** What can be wrong, each good in most of the runs. */
const mostly = <T>(good: T, other: fc.Arbitrary<T | undefined>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: other })

const token = fc.record({
  key: mostly(genuine, fc.constantFrom(strange, unnamed)),
  header: mostly<Record<string, unknown>>(
    { alg: 'ES256', kid: 'k' },
    fc.constantFrom<Record<string, unknown>[]>(
      { alg: 'ES256' },
      { alg: 'ES256', kid: 'nobody' },
      { alg: 'ES256', kid: 7 },
      { alg: 'none', kid: 'k' },
      { alg: 'RS256', kid: 'k' },
      { alg: 'ES256', kid: 'k', crit: ['x'], x: 1 },
    ),
  ),
  iss: mostly<unknown>('https://idp.example/', fc.constantFrom('https://idp.example', '', 7, null)),
  aud: mostly<unknown>(
    'latchkey',
    fc.oneof(
      fc.constantFrom<unknown[]>(['latchkey'], ['a', 'latchkey'], [], ['a'], 'other', 7, null),
      fc.constant(undefined),
    ),
  ),
  exp: mostly<unknown>(NOW + 600, fc.option(time, { nil: undefined })),
  nbf: mostly<unknown>(undefined, time),
  iat: mostly<unknown>(NOW, fc.option(time, { nil: undefined })),
  sub: mostly<unknown>(SUBJECT, fc.constantFrom('somebody else', '', 7, 'a\u0000b', undefined)),
  /** Numbers that JSON can hold and JavaScript cannot. */
  text: fc.constantFrom('', '', '', ',"exp":1e999', ',"nbf":-1e999', ',"iss":"twice"'),
})

const world = fc.record({
  enabled: fc.constantFrom(true, true, true, false),
  identity: mostly<Partial<Identity>>(
    {},
    fc.constantFrom<Partial<Identity>[]>(
      { disabledAt: clock.now() },
      { externalId: undefined },
      { authPolicyId: 'gone' as Identity['authPolicyId'] },
    ),
  ),
  extJwt: mostly<object>(
    {},
    fc.constantFrom<object[]>(
      { allowed: false },
      { allowedSigners: [OTHER] },
      { allowedSigners: [OTHER, externalSigner().id] },
    ),
  ),
})

/** Signed as it is: what a library would refuse to sign is wanted too. */
async function sign(key: IdpKey, header: object, claims: string): Promise<string> {
  const part = (text: string) => base64url(new TextEncoder().encode(text))
  const signed = `${part(JSON.stringify(header))}.${part(claims)}`
  const signature = await crypto.subtle.sign(
    { name: 'ECDSA', hash: 'SHA-256' },
    key.privateKey,
    new TextEncoder().encode(signed),
  )
  return `${signed}.${base64url(new Uint8Array(signature))}`
}

function surroundings(given: {
  readonly enabled: boolean
  readonly identity: Partial<Identity> | undefined
  readonly extJwt: object | undefined
}) {
  const signer: ExternalJwtSigner = externalSigner({ enabled: given.enabled })
  const identity = anIdentity(given.identity)
  const rules = {
    ...rulesOf({ policies: [aPolicy({ extJwt: given.extJwt ?? {} })], signers: [signer] }),
    refresh: async () => {},
  }
  const signerKeys = createSignerKeys({ fetchJson: async () => ({ keys: [genuine.jwk] }), clock })
  const identities = {
    find: async (id: IdentityId) => (id === identity.id ? identity : undefined),
    findByExternalId: async (id: string) => (id === identity.externalId ? identity : undefined),
  }
  const deps = {
    brand: 'service',
    rules,
    identities,
    clock,
    signerKeys,
  }
  return {
    signer,
    ports: deps,
    factor: (bearers: readonly Secret[]) =>
      proveByExternalJwt(fakePorts<FactorPorts>(deps), bearers),
  }
}

test('D-136: check passes exactly for those tokens that a login accepts', async () => {
  const counts = { accepted: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(token, world, async (made, given) => {
      const { key, header, text, ...claims } = made
      const json = `${JSON.stringify(claims).slice(0, -1)}${text}}`
      const jwt = new Secret(await sign(key ?? genuine, header ?? {}, json))
      const { signer, ports, factor } = surroundings(given)
      const verdict = await factor([jwt])
      const { passed, steps } = await checkSigner(ports, signer, jwt)
      const isAccepted = verdict.verdict === 'accepted'
      counts[isAccepted ? 'accepted' : 'refused'] += 1
      assert.equal(passed, isAccepted, JSON.stringify({ verdict, steps }))
      assert.equal(
        passed,
        steps.every((step) => step.passed === true),
      )
    }),
  )
  // Both kinds were among them, or it would say nothing.
  assert.ok(counts.accepted > 20 && counts.refused > 20, JSON.stringify(counts))
})

test('R059: no text makes the check throw, and none that is not a JWT passes', async () => {
  const { signer, ports } = surroundings({ enabled: true, identity: {}, extJwt: {} })
  const part = fc.jsonValue({ maxDepth: 2 }).map((value) => {
    return base64url(new TextEncoder().encode(JSON.stringify(value)))
  })
  const text = fc.oneof(
    fc.string(),
    fc.tuple(part, part, fc.base64String({ maxLength: 100 })).map((parts) => parts.join('.')),
  )
  await fc.assert(
    fc.asyncProperty(text, async (jwt) => {
      assert.equal((await checkSigner(ports, signer, new Secret(jwt))).passed, false)
    }),
  )
})
