/** Which second factors a login needs, and what is still outstanding: SPEC Authentication 3 to 5; D-14, D-15, D-16. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { externalSigner } from '../../../test/support/idp/external-idp.ts'
import { anIdentity, aPolicy, rulesOf, WITH_TOTP, wordsOf } from '../../../test/support/people.ts'
import { totpStores } from '../../../test/support/stores/totp-stores.ts'
import type { ExternalJwtSignerId, TotpEnrollmentId } from '../../base/ids.ts'
import { Secret } from '../../base/secrets/secret.ts'
import type { FactorChoice } from '../../protocol/factors/second-factors.ts'
import { checkSecondaryJwt } from '../factors/external-jwt.ts'
import { loginOwner } from '../factors/factor-owner.ts'
import { NO_FACTORS, NOTHING_SECONDARY } from '../factors/proven.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import {
  type Demands,
  findDemands,
  isShortOf,
  outstandingQueries,
  secondaryJwtUnmet,
  unprovenSigner,
} from './demands.ts'
import type { LoginPorts } from './ports.ts'
import type { AuthRequestKey } from './request/auth-request.ts'

const SIGNER = externalSigner({
  externalAuthUrl: 'https://idp.example/authorize',
  clientId: 'latchkey-client',
  scopes: ['openid', 'email'],
})
const GONE = 'gone' as ExternalJwtSignerId
const IDENTITY = anIdentity()
const proven = (totp: boolean, extJwt?: ExternalJwtSignerId) => ({
  factors: totp ? WITH_TOTP : NO_FACTORS,
  extJwt,
})
const OIDC = { brand: 'acme', where: 'oidc' } as const

const requireTotp = aPolicy({ secondary: { requireTotp: true } })
const requireJwt = aPolicy({ secondary: { requireExtJwt: SIGNER.id } })
const requireGone = aPolicy({ secondary: { requireExtJwt: GONE } })

/** What is demanded of a user without an enrollment, with a pending one, or with a verified one. */
async function demandsOf(
  policy: AuthPolicy,
  enrollment: 'none' | 'pending' | 'verified' = 'none',
  stepUp?: FactorChoice,
): Promise<Demands> {
  const { totpEnrollments, passkeys } = totpStores()
  if (enrollment !== 'none') {
    const pending = {
      id: 'enrollment-1' as TotpEnrollmentId,
      identityId: IDENTITY.id,
      isVerified: false,
      owner: loginOwner({ key: 'login-1' as AuthRequestKey }),
      sealedSecret: '',
      createdAt: NOON,
    }
    await totpEnrollments.replacePending(pending, [])
    if (enrollment === 'verified') await totpEnrollments.markVerified(pending, NOON)
  }
  const rules = rulesOf({ signers: [SIGNER] })
  const ports = fakePorts<LoginPorts>({ totpEnrollments, passkeys, rules })
  return findDemands(ports, IDENTITY, policy, stepUp)
}

const TOTP: readonly (readonly [
  policy: AuthPolicy,
  enrollment: 'none' | 'pending' | 'verified',
  isDemanded: boolean,
  isEnrolled: boolean,
])[] = [
  [aPolicy(), 'none', false, false],
  [aPolicy(), 'pending', false, false],
  [aPolicy(), 'verified', true, true],
  [requireTotp, 'none', true, false],
  [requireTotp, 'pending', true, false],
  [requireTotp, 'verified', true, true],
]

for (const [policy, enrollment, isDemanded, isEnrolled] of TOTP) {
  const says = policy === requireTotp ? 'demands' : 'does not demand'
  const then = isDemanded ? 'a code is asked for' : 'none is asked for'
  test(`D-16: where the policy ${says} a code and the enrollment is ${enrollment}, ${then}`, async () => {
    const { choices, enrolled } = await demandsOf(policy, enrollment)
    assert.deepEqual(choices, isDemanded ? [['totp']] : [])
    assert.equal(enrolled.has('totp'), isEnrolled)
  })
}

for (const [policy, enrollment, stepUp, expected] of [
  [aPolicy(), 'none', ['totp'], [['totp']]],
  [aPolicy(), 'none', ['totp', 'passkey'], [['totp', 'passkey']]],
  // Attack: with a stolen password, enroll the other factor instead of proving the one that is there.
  [aPolicy(), 'verified', ['totp', 'passkey'], [['totp']]],
  [aPolicy(), 'verified', ['passkey'], [['totp'], ['passkey']]],
  [requireTotp, 'none', ['totp', 'passkey'], [['totp']]],
  [requireTotp, 'none', ['passkey'], [['totp'], ['passkey']]],
] as const) {
  const says = policy === requireTotp ? 'that demands a code' : 'that demands nothing'
  test(`D-460: a client that asks for ${stepUp.join(' or ')} under a policy ${says}, with the enrollment ${enrollment}`, async () => {
    assert.deepEqual((await demandsOf(policy, enrollment, stepUp)).choices, expected)
  })
}

test('a policy that demands an external JWT names its signer, also when it is gone or disabled', async () => {
  assert.equal((await demandsOf(aPolicy())).extJwt, undefined)
  assert.deepEqual((await demandsOf(requireJwt)).extJwt, { id: SIGNER.id, signer: SIGNER })
  assert.deepEqual((await demandsOf(requireGone)).extJwt, { id: GONE, signer: undefined })
})

const query = (isTotpEnrolled: boolean, httpUrl = '/oidc/login/totp') => ({
  typeId: 'MFA',
  format: 'alphaNumeric',
  httpMethod: 'POST',
  httpUrl,
  minLength: 6,
  maxLength: 6,
  provider: 'acme',
  isTotpEnrolled,
})
const JWT_QUERY = {
  typeId: 'EXT-JWT',
  provider: 'url',
  httpMethod: 'GET',
  httpUrl: 'https://idp.example/authorize',
  id: SIGNER.id,
  issuer: SIGNER.issuer,
  clientId: 'latchkey-client',
  scopes: ['openid', 'email'],
}

test('D-15: the query of a code says where it goes, and whether there is something to make one with', async () => {
  const open = async (enrollment: 'none' | 'verified', where: 'oidc' | 'legacy') =>
    outstandingQueries(await demandsOf(requireTotp, enrollment), NOTHING_SECONDARY, {
      brand: 'acme',
      where,
    })
  assert.deepEqual(await open('none', 'oidc'), [query(false)])
  assert.deepEqual(await open('verified', 'oidc'), [query(true)])
  assert.deepEqual(await open('verified', 'legacy'), [query(true, './authenticate/mfa')])
})

test('D-14: the query of an external JWT names its signer and where to get one', async () => {
  const queries = outstandingQueries(await demandsOf(requireJwt), NOTHING_SECONDARY, OIDC)
  assert.deepEqual(queries, [JWT_QUERY])
})

test('what is proven is not queried, and nothing is when nothing is outstanding', async () => {
  const both = aPolicy({ secondary: { requireTotp: true, requireExtJwt: SIGNER.id } })
  const demands = await demandsOf(both)
  const open = (totp: boolean, extJwt?: ExternalJwtSignerId) =>
    outstandingQueries(demands, proven(totp, extJwt), OIDC).map(({ typeId }) => typeId)
  assert.deepEqual(open(false), ['MFA', 'EXT-JWT'])
  assert.deepEqual(open(true), ['EXT-JWT'])
  assert.deepEqual(open(false, SIGNER.id), ['MFA'])
  assert.deepEqual(open(true, SIGNER.id), [])
  assert.deepEqual(open(true, GONE), ['EXT-JWT'], 'the token of another signer proves nothing')
  assert.deepEqual(outstandingQueries(await demandsOf(aPolicy()), NOTHING_SECONDARY, OIDC), [])
})

test('a deleted signer that is demanded has no query, and still counts as unproven', async () => {
  // Attack: the deletion of a signer must not open what it guarded.
  const demands = await demandsOf(requireGone)
  assert.deepEqual(outstandingQueries(demands, NOTHING_SECONDARY, OIDC), [])
  assert.equal(unprovenSigner(demands, NOTHING_SECONDARY)?.id, GONE)
  assert.equal(unprovenSigner(demands, proven(true, SIGNER.id))?.id, GONE)
  assert.ok(demands.extJwt)
  const verdict = await checkSecondaryJwt(
    fakePorts<LoginPorts>({ signerKeys: { keyFor: () => assert.fail('no key can satisfy it') } }),
    demands.extJwt.signer,
    { identityId: IDENTITY.id, externalId: IDENTITY.externalId },
    [new Secret('a-jwt')],
  )
  assert.equal(verdict, 'missing')
})

test('D-14: what is unmet is UNAUTHORIZED with the challenge of the signer and the queries', () => {
  const demanded = { id: SIGNER.id, signer: SIGNER }
  for (const [fault, text] of [
    ['missing', 'no matching token was provided'],
    ['expired', 'token expired'],
    ['invalid', 'token is invalid'],
  ] as const) {
    const failure = secondaryJwtUnmet('acme', demanded, fault, [])
    assert.equal(
      wordsOf(failure),
      `UNAUTHORIZED: Bearer realm="acme-secondary-ext-jwt", error="${fault}", error_description="${text}", id="${SIGNER.id}", issuer="${SIGNER.issuer}"`,
    )
    assert.deepEqual(failure.authQueries, [])
  }
})

test('D-37: for a signer that is gone there is no challenge of its own', () => {
  const failure = secondaryJwtUnmet('acme', { id: GONE, signer: undefined }, 'missing', [])
  assert.equal(wordsOf(failure), 'UNAUTHORIZED')
})

test('D-27, D-52: a finished login is short of what its policy demands by now and it never proved', () => {
  const both = aPolicy({ secondary: { requireTotp: true, requireExtJwt: SIGNER.id } })
  assert.equal(isShortOf(aPolicy(), NOTHING_SECONDARY), false)
  assert.equal(isShortOf(requireTotp, proven(false, SIGNER.id)), true)
  assert.equal(isShortOf(requireTotp, proven(true)), false)
  assert.equal(isShortOf(requireJwt, proven(true)), true)
  assert.equal(isShortOf(requireJwt, proven(false, GONE)), true)
  assert.equal(isShortOf(requireJwt, proven(false, SIGNER.id)), false)
  assert.equal(isShortOf(both, proven(true)), true)
  assert.equal(isShortOf(both, proven(false, SIGNER.id)), true)
  assert.equal(isShortOf(both, proven(true, SIGNER.id)), false)
})
