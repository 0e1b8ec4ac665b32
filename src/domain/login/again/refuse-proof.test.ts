/** Whether what a login proved is still accepted by the current rules: D-119, D-122, D-225, D-227. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOON } from '../../../../test/support/clocks/manual-clock.ts'
import { externalSigner } from '../../../../test/support/idp/external-idp.ts'
import { aCa, aPolicy, proven, rulesOf } from '../../../../test/support/people.ts'
import type { CaId, ExternalJwtSignerId } from '../../../base/ids.ts'
import { milliseconds } from '../../../base/time/duration.ts'
import { minus, plus } from '../../../base/time/instant.ts'
import type { Ca } from '../../certificates/third-party/ca.ts'
import type { ProvenCertificate, ProvenPrimary } from '../../factors/proven.ts'
import type { AuthPolicy } from '../../policies/auth-policy.ts'
import { allowsPrimary, refuseProof } from './refuse-proof.ts'

const ONE = 'signer-1' as ExternalJwtSignerId
const OTHER = 'signer-2' as ExternalJwtSignerId

const byJwt = (signerId: ExternalJwtSignerId | undefined) =>
  proven({ method: 'ext-jwt', authenticatorId: undefined, signerId })

const ALLOWED: Readonly<Record<string, readonly [boolean, AuthPolicy, ProvenPrimary]>> = {
  'a password where passwords are allowed': [true, aPolicy(), proven()],
  'a password where they are not': [false, aPolicy({ updb: { allowed: false } }), proven()],
  'a certificate where certificates are allowed': [true, aPolicy(), proven({ method: 'cert' })],
  'a certificate where they are not': [
    false,
    aPolicy({ cert: { allowed: false } }),
    proven({ method: 'cert' }),
  ],
  'a JWT of any signer where none is listed': [true, aPolicy(), byJwt(ONE)],
  'a JWT where none is allowed': [false, aPolicy({ extJwt: { allowed: false } }), byJwt(ONE)],
  'a JWT of a listed signer': [
    true,
    aPolicy({ extJwt: { allowedSigners: [OTHER, ONE] } }),
    byJwt(ONE),
  ],
  'a JWT of a signer that is not listed': [
    false,
    aPolicy({ extJwt: { allowedSigners: [OTHER] } }),
    byJwt(ONE),
  ],
  'a JWT of a listed signer where none is allowed': [
    false,
    aPolicy({ extJwt: { allowed: false, allowedSigners: [ONE] } }),
    byJwt(ONE),
  ],
  'a JWT of an unknown signer': [false, aPolicy(), byJwt(undefined)],
}

for (const [what, [isAllowed, policy, primary]] of Object.entries(ALLOWED)) {
  test(`${what} is ${isAllowed ? 'allowed' : 'not allowed'}`, () => {
    assert.equal(allowsPrimary(policy, primary), isAllowed)
  })
}

const SIGNER = externalSigner()

test('a JWT counts while its signer exists and is enabled', () => {
  const refusal = (signers: Parameters<typeof rulesOf>[0]['signers'] = []) =>
    refuseProof(byJwt(SIGNER.id), aPolicy(), rulesOf({ signers }), NOON)
  assert.equal(refusal([SIGNER]), undefined)
  assert.equal(refusal([{ ...SIGNER, enabled: false }]), 'signer-disabled')
  assert.equal(refusal(), 'signer-disabled')
})

const caId = (text: string) => text as CaId
const MOMENT = milliseconds(1)

/** A registered certificate of a third-party CA. It expires now, and so does its CA. */
const byCertificate = (
  changes: Partial<ProvenCertificate> = {},
  rest: Partial<ProvenPrimary> = {},
) =>
  proven({
    method: 'cert',
    certificate: {
      fingerprint: 'ab'.repeat(32),
      isIssuedByNetwork: false,
      notAfter: NOON,
      trust: { caId: caId('ca-1'), throughCaIds: [caId('ca-2')], casEndAt: NOON },
      ...changes,
    },
    ...rest,
  })

const ROOT = aCa({ id: caId('ca-1') })
const MIDDLE = aCa({ id: caId('ca-2') })
const judge = (
  primary: ProvenPrimary,
  cas: readonly Ca[] = [ROOT, MIDDLE],
  { policy = aPolicy(), now = NOON } = {},
) => refuseProof(primary, policy, rulesOf({ cas }), now)

test('a certificate counts until the moment it expires, and so does its CA', () => {
  assert.equal(judge(byCertificate()), undefined)
  const trust = { caId: caId('ca-1'), throughCaIds: [], casEndAt: minus(NOON, MOMENT) }
  assert.equal(judge(byCertificate({ trust })), 'certificate-untrusted')
  assert.equal(judge(byCertificate({ notAfter: minus(NOON, MOMENT) })), 'certificate-expired')
})

test('D-227: a policy that accepts expired certificates accepts no expired CA', () => {
  const policy = aPolicy({ cert: { allowExpiredCerts: true } })
  const expired = byCertificate({ notAfter: minus(NOON, MOMENT) })
  assert.equal(judge(expired, undefined, { policy }), undefined)
  const later = { policy, now: plus(NOON, MOMENT) }
  assert.equal(judge(expired, undefined, later), 'certificate-untrusted')
})

const CA_STATES: Readonly<Record<string, readonly [readonly Ca[], string | undefined]>> = {
  'the CA that it leads to is gone': [[MIDDLE], 'ca-disabled'],
  'the CA that it leads to is off': [[{ ...ROOT, isAuthEnabled: false }, MIDDLE], 'ca-disabled'],
  'the CA that it leads to is unverified': [
    [{ ...ROOT, isVerified: false }, MIDDLE],
    'ca-disabled',
  ],
  'a CA on the way is off': [[ROOT, { ...MIDDLE, isAuthEnabled: false }], 'ca-disabled'],
  'a CA on the way is gone': [[ROOT], undefined],
  'another CA is off': [[ROOT, MIDDLE, aCa({ id: caId('ca-3'), isAuthEnabled: false })], undefined],
}

for (const [what, [cas, expected]] of Object.entries(CA_STATES)) {
  test(`D-225: where ${what}, a certificate is ${expected ?? 'accepted'}`, () => {
    assert.equal(judge(byCertificate(), cas), expected)
  })
}

test('a certificate of our own PKI needs no CA, and is checked for its expiry', () => {
  const ours = { isIssuedByNetwork: true, trust: undefined }
  assert.equal(judge(byCertificate(ours), []), undefined)
  const expired = { ...ours, notAfter: minus(NOON, MOMENT) }
  assert.equal(judge(byCertificate(expired), []), 'certificate-expired')
})

test('a certificate that belongs to an identity only by the claim of its CA needs that claim', () => {
  const unregistered = byCertificate({}, { authenticatorId: undefined })
  assert.equal(judge(unregistered), 'certificate-unknown')
  const externalIdClaim = {
    location: 'COMMON_NAME',
    matcher: 'ALL',
    matcherCriteria: '',
    parser: 'NONE',
    parserCriteria: '',
    index: 0,
  } as const
  assert.equal(judge(unregistered, [{ ...ROOT, externalIdClaim }]), undefined)
})

test('refuses a login with incomplete information', () => {
  const unknown = { notAfter: undefined, trust: undefined }
  assert.equal(judge(byCertificate(unknown)), 'ca-disabled')
  assert.equal(judge(byCertificate({ ...unknown, isIssuedByNetwork: true })), 'certificate-expired')
  assert.equal(judge(proven({ method: 'cert' })), 'certificate-untrusted')
})
