/**
 * External JWTs as primary and as secondary factor: SPEC Authentication 3 and 5, D-12, D-14, R105. The tokens are signed
 * and verified for real; which signatures and claims count is tested in ext-jwt/.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import {
  externalSigner,
  type IdpKey,
  newIdpKey,
  signJwt,
} from '../../../test/support/idp/external-idp.ts'
import { anIdentity, aPolicy, rulesOf } from '../../../test/support/people.ts'
import type { AuthPolicyId, ExternalJwtSignerId, IdentityId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { epochSeconds, type Instant } from '../../base/time/instant.ts'
import { formatChallenges } from '../../protocol/challenge.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import { createSignerKeys } from '../ext-jwt/signer-keys.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { checkSecondaryJwt, proveByExternalJwt } from './external-jwt.ts'
import type { FactorPorts } from './ports.ts'

const NOW = epochSeconds(NOON)
const KEY = await newIdpKey('key-1')
const OTHER_KEY = await newIdpKey('key-1')

const signerOf = (id: string, change: Partial<ExternalJwtSigner> = {}) =>
  externalSigner({
    id: id as ExternalJwtSignerId,
    issuer: `https://${id}.example/`,
    keys: { kind: 'jwks', jwksEndpoint: `https://${id}.example/jwks` },
    ...change,
  })

const ONE = signerOf('one')
const OTHER = signerOf('other')
const POLICY = aPolicy()
const ZOE = anIdentity({ externalId: 'zoe@example.org' })
const BOB = anIdentity({ id: 'identity-2' as IdentityId, externalId: 'bob@example.org' })

/** A token of the first signer for Zoë, but for the changes. */
async function jwt(claims: object = {}, key: IdpKey = KEY): Promise<Secret> {
  const usual = { iss: ONE.issuer, aud: ONE.audience, sub: 'zoe@example.org', exp: NOW + 300 }
  return new Secret(await signJwt(key, { ...usual, ...claims }))
}
const otherJwt = (claims: object = {}) => jwt({ iss: OTHER.issuer, ...claims })
const expired = { exp: NOW - 300 }
const forged = () => jwt({}, OTHER_KEY)

interface World {
  readonly signers?: readonly ExternalJwtSigner[]
  readonly policies?: readonly AuthPolicy[]
  readonly identities?: readonly Identity[]
}

/** Both signers have the same key, so that only issuers and ids tell them apart. */
function verifier() {
  const clock = new ManualClock()
  const fetched: string[] = []
  const fetchJson = async (url: string) => {
    fetched.push(url)
    return { keys: [KEY.jwk] }
  }
  const signerKeys = createSignerKeys({ fetchJson, clock })
  return { clock, fetched, signerKeys }
}

function primary({
  signers = [ONE, OTHER],
  policies = [POLICY],
  identities = [ZOE, BOB],
}: World = {}) {
  const { fetched, ...verifying } = verifier()
  const ports = fakePorts<FactorPorts>({
    ...verifying,
    brand: 'service',
    rules: rulesOf({ signers, policies }),
    identities: {
      find: async (id) => identities.find((identity) => identity.id === id),
      findByExternalId: async (id) => identities.find(({ externalId }) => externalId === id),
    },
  })
  const factor = (bearers: readonly Secret[], since?: Instant) =>
    proveByExternalJwt(ports, bearers, since)
  return { factor, fetched }
}

/** The reason of a rejection, whom it is about, and the challenges as they would be sent. */
async function rejection(world: World, ...bearers: readonly Secret[]) {
  const verdict = await primary(world).factor(bearers)
  assert.ok(verdict.verdict === 'rejected')
  const { reason, identityId, challenges } = verdict
  return { reason, identityId, challenges: challenges && formatChallenges(challenges) }
}

const WORDS = {
  missing: 'no matching token was provided',
  expired: 'token expired',
  invalid: 'token is invalid',
} as const
const challenge = (fault: keyof typeof WORDS, ...signers: readonly ExternalJwtSigner[]) =>
  signers
    .map(
      ({ id, issuer }) =>
        `Bearer realm="service-primary-ext-jwt", error="${fault}", error_description="${WORDS[fault]}", id="${id}", issuer="${issuer}"`,
    )
    .join(', ')

test('a good JWT names its identity, by the external id', async () => {
  assert.deepEqual(await primary().factor([await jwt()]), {
    verdict: 'accepted',
    identity: ZOE,
    policy: POLICY,
    primary: {
      method: 'ext-jwt',
      identityId: ZOE.id,
      authenticatorId: undefined,
      credentialVersion: undefined,
      certificate: undefined,
      signerId: ONE.id,
      voidedLogins: 0,
      at: NOON,
    },
  })
})

test('API 4.5: where the signer says so, the claim is the id of the identity and nothing else', async () => {
  // Attack: an external id of the attacker's choice that is another's identity id, or the other way round.
  const signers = [signerOf('one', { useExternalId: false })]
  const accepted = await primary({ signers }).factor([await jwt({ sub: BOB.id })])
  assert.ok(accepted.verdict === 'accepted')
  assert.equal(accepted.identity, BOB)
  const byExternalId = await rejection({ signers }, await jwt())
  assert.equal(byExternalId.reason, 'identity-unknown')
  const byId = await rejection({}, await jwt({ sub: ZOE.id }))
  assert.equal(byId.reason, 'identity-unknown')
})

test('API 4.1: external ids are compared exactly', async () => {
  for (const sub of ['ZOE@example.org', 'zoe@example.org ', 'zoe@example.or']) {
    assert.equal((await rejection({}, await jwt({ sub }))).reason, 'identity-unknown', sub)
  }
})

test('D-12: without a token every enabled signer is challenged for', async () => {
  const signers = [ONE, signerOf('off', { enabled: false }), OTHER]
  assert.deepEqual(await rejection({ signers }), {
    reason: 'jwt-missing',
    identityId: undefined,
    challenges: challenge('missing', ONE, OTHER),
  })
})

test('D-12: eight challenges are the most', async () => {
  const signers = Array.from({ length: 9 }, (_, i) => signerOf(`s${i}`))
  const { challenges } = await rejection({ signers })
  assert.equal(challenges, challenge('missing', ...signers.slice(0, 8)))
})

test('D-37: without a signer there is no challenge', async () => {
  assert.deepEqual(await rejection({ signers: [] }), {
    reason: 'jwt-missing',
    identityId: undefined,
    challenges: '',
  })
})

const BAD: Readonly<
  Record<string, readonly [reason: string, fault: keyof typeof WORDS, () => Promise<Secret>]>
> = {
  'an expired token': ['jwt-expired', 'expired', () => jwt(expired)],
  'a forged token': ['jwt-invalid', 'invalid', forged],
  'a forged token that has expired': ['jwt-invalid', 'invalid', () => jwt(expired, OTHER_KEY)],
  'a token for another audience': ['jwt-invalid', 'invalid', () => jwt({ aud: 'another' })],
  'a token without a subject': ['jwt-invalid', 'invalid', () => jwt({ sub: undefined })],
}

for (const [what, [reason, fault, token]] of Object.entries(BAD)) {
  test(`D-12: ${what} is ${reason}, with the challenge of its signer alone`, async () => {
    assert.deepEqual(await rejection({}, await token()), {
      reason,
      identityId: undefined,
      challenges: challenge(fault, ONE),
    })
  })
}

test('a token of an unknown issuer is refused with the challenges of all, and nothing is fetched for it', async () => {
  // Attack: an attacker makes the service fetch from an address of their choice.
  for (const token of [
    await jwt({ iss: 'https://evil.example/' }),
    await jwt({ iss: 'https://one.example' }),
    await jwt({ iss: ['https://one.example/'] }),
    await jwt({ iss: undefined }),
    new Secret('junk'),
    new Secret(''),
  ]) {
    assert.deepEqual(await rejection({}, token), {
      reason: 'signer-unknown',
      identityId: undefined,
      challenges: challenge('invalid', ONE, OTHER),
    })
    const { factor, fetched } = primary()
    await factor([token])
    assert.deepEqual(fetched, [])
  }
})

test('a token of a disabled signer is refused, and nothing is fetched for it', async () => {
  const signers = [signerOf('one', { enabled: false }), OTHER]
  assert.deepEqual(await rejection({ signers }, await jwt()), {
    reason: 'signer-disabled',
    identityId: undefined,
    challenges: challenge('invalid', OTHER),
  })
  const { factor, fetched } = primary({ signers })
  await factor([await jwt()])
  assert.deepEqual(fetched, [])
})

const disabled = anIdentity({ disabledAt: NOON })
const anotherPolicy = anIdentity({ authPolicyId: 'policy-2' as AuthPolicyId })
const REFUSED: Readonly<
  Record<string, readonly [reason: string, world: World, identityId: IdentityId | undefined]>
> = {
  'no identity with the claim': ['identity-unknown', { identities: [BOB] }, undefined],
  'a disabled identity': ['identity-disabled', { identities: [disabled] }, ZOE.id],
  'a policy that forbids external JWTs': [
    'method-not-allowed',
    { policies: [aPolicy({ extJwt: { allowed: false } })] },
    ZOE.id,
  ],
  'a policy that is gone': ['method-not-allowed', { identities: [anotherPolicy] }, ZOE.id],
  'a policy that lists other signers': [
    'signer-not-allowed',
    { policies: [aPolicy({ extJwt: { allowedSigners: [OTHER.id] } })] },
    ZOE.id,
  ],
}

for (const [what, [reason, world, identityId]] of Object.entries(REFUSED)) {
  test(`D-12: ${what} is ${reason}, and gets no challenge: another token would not help`, async () => {
    assert.deepEqual(await rejection(world, await jwt()), {
      reason,
      identityId,
      challenges: undefined,
    })
  })
}

test('a policy that lists the signer takes it', async () => {
  const policies = [aPolicy({ extJwt: { allowedSigners: [OTHER.id, ONE.id] } })]
  assert.equal((await primary({ policies }).factor([await jwt()])).verdict, 'accepted')
})

test('D-14: of several tokens, the first valid one is the primary one', async () => {
  const policies = [aPolicy({ extJwt: { allowedSigners: [OTHER.id] } })]
  const unknown = await jwt({ iss: 'https://evil.example/' })
  for (const [what, bearers] of Object.entries({
    'after one of an unknown issuer': [unknown, await otherJwt()],
    'after one that is not allowed': [await jwt(), await otherJwt()],
    'after an expired one': [await jwt(expired), await otherJwt()],
    'before one of another identity': [await otherJwt(), await jwt({ sub: BOB.externalId })],
  })) {
    const verdict = await primary({ policies }).factor(bearers)
    assert.ok(verdict.verdict === 'accepted', what)
    assert.equal(verdict.primary.signerId, OTHER.id, what)
    assert.equal(verdict.identity, ZOE, what)
  }
})

test('D-14: the token that the policy demands as the secondary one is the primary one only for want of another', async () => {
  const policies = [aPolicy({ secondary: { requireExtJwt: ONE.id } })]
  const signerOfPrimary = async (...bearers: readonly Secret[]) => {
    const verdict = await primary({ policies }).factor(bearers)
    assert.ok(verdict.verdict === 'accepted')
    assert.equal(verdict.identity, ZOE)
    return verdict.primary.signerId
  }
  assert.equal(await signerOfPrimary(await jwt(), await otherJwt()), OTHER.id)
  assert.equal(await signerOfPrimary(await otherJwt(), await jwt()), OTHER.id)
  assert.equal(await signerOfPrimary(await jwt()), ONE.id)
  assert.equal(await signerOfPrimary(await jwt(), await otherJwt(expired)), ONE.id)
  // Who it is does not change with what comes behind.
  assert.equal(await signerOfPrimary(await jwt(), await otherJwt({ sub: BOB.externalId })), ONE.id)
})

test('D-14: of several tokens that fail the first is the one that is answered', async () => {
  const { reason } = await rejection({}, await jwt(expired), await otherJwt({ sub: 'nobody' }))
  assert.equal(reason, 'jwt-expired')
})

test('D-14: more than three tokens are refused, also when a good one is among them', async () => {
  const { factor, fetched } = primary()
  const good = await jwt()
  const verdict = await factor([good, good, good, good])
  assert.ok(verdict.verdict === 'rejected')
  assert.equal(verdict.reason, 'jwt-invalid')
  assert.deepEqual(fetched, [])
  assert.equal((await factor([good, good, good])).verdict, 'accepted')
})

const OWNER = { identityId: ZOE.id, externalId: ZOE.externalId }

function checkSecondary(signer: ExternalJwtSigner, bearers: readonly Secret[], owner = OWNER) {
  return checkSecondaryJwt(verifier(), signer, owner, bearers)
}

const SECONDARY: Readonly<Record<string, readonly [string, () => Promise<Secret[]>]>> = {
  'a good token of the signer': ['satisfied', async () => [await jwt()]],
  'no token': ['missing', async () => []],
  'only a token of another signer': ['missing', async () => [await otherJwt()]],
  // R065: a credential that is present is never called missing.
  'only something that is not a JWT': ['invalid', async () => [new Secret('junk')]],
  'an expired token': ['expired', async () => [await jwt(expired)]],
  'a forged token': ['invalid', async () => [await forged()]],
  'a token for an unknown audience': ['invalid', async () => [await jwt({ aud: 'x' })]],
  // R105: the token of another user proves nothing about the caller.
  'a good token of another identity': ['invalid', async () => [await jwt({ sub: BOB.externalId })]],
  'a good token behind an expired one': [
    'satisfied',
    async () => [await jwt(expired), await jwt()],
  ],
  'a good token behind a forged one': ['satisfied', async () => [await forged(), await jwt()]],
  'a good token between those of others': [
    'satisfied',
    async () => [await otherJwt(), await jwt(), new Secret('junk')],
  ],
  'an expired and a forged one': ['expired', async () => [await jwt(expired), await forged()]],
  'a forged and an expired one': ['expired', async () => [await forged(), await jwt(expired)]],
  'a good one behind three others': [
    'invalid',
    async () => [await otherJwt(), await otherJwt(), await otherJwt(), await jwt()],
  ],
  'a good one before three others': [
    'invalid',
    async () => [await jwt(), await otherJwt(), await otherJwt(), await otherJwt()],
  ],
}

for (const [what, [verdict, bearers]] of Object.entries(SECONDARY)) {
  test(`D-14: ${what}: the secondary factor is ${verdict}`, async () => {
    assert.equal(await checkSecondary(ONE, await bearers()), verdict)
  })
}

test('D-14: a disabled signer satisfies no demand', async () => {
  const off = signerOf('one', { enabled: false })
  assert.equal(await checkSecondary(off, [await jwt()]), 'invalid')
  assert.equal(await checkSecondary(off, []), 'missing')
})

test('D-14: the claim must be that of the identity, in the way of the signer', async () => {
  const byId = signerOf('one', { useExternalId: false })
  assert.equal(await checkSecondary(byId, [await jwt({ sub: ZOE.id })]), 'satisfied')
  assert.equal(await checkSecondary(byId, [await jwt()]), 'invalid')
  assert.equal(await checkSecondary(ONE, [await jwt({ sub: ZOE.id })]), 'invalid')
})

test('D-14: an identity without an external id is not the subject of any token', async () => {
  const owner = { identityId: ZOE.id, externalId: undefined }
  for (const sub of ['undefined', '', 'zoe@example.org']) {
    const verdict = await checkSecondaryJwt(verifier(), ONE, owner, [await jwt({ sub })])
    assert.equal(verdict, 'invalid', sub)
  }
})
