/** Who can log in, as far as one can see from what is registered: D-49. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { externalSigner } from '../../../test/support/idp/external-idp.ts'
import { aCa, aPolicy } from '../../../test/support/people.ts'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import type { ExternalJwtSigner } from '../ext-jwt/signer.ts'
import type { AuthPolicy } from './auth-policy.ts'
import { canLogIn } from './last-administrator.ts'

interface World {
  readonly policy?: AuthPolicy
  readonly externalId?: string
  readonly has?: readonly ('updb' | 'cert')[]
  readonly signers?: readonly ExternalJwtSigner[]
  readonly cas?: readonly Ca[]
}

const can = ({ policy = aPolicy(), externalId, has = [], signers = [], cas = [] }: World) =>
  canLogIn(
    { externalId },
    policy,
    has.map((method) => ({ method })),
    { signers, cas },
  )

const SIGNER = externalSigner()
const OTHER = externalSigner({ id: 'signer-2' as ExternalJwtSignerId })

const CA = aCa({
  externalIdClaim: {
    location: 'COMMON_NAME',
    matcher: 'ALL',
    matcherCriteria: '',
    parser: 'NONE',
    parserCriteria: '',
    index: 0,
  },
})

const ABLE: Readonly<Record<string, World>> = {
  'a password': { has: ['updb'] },
  'a certificate': { has: ['cert'] },
  'an external id and a signer': { externalId: 'x', signers: [SIGNER] },
  'an external id and a signer of the list': {
    externalId: 'x',
    signers: [SIGNER, OTHER],
    policy: aPolicy({ extJwt: { allowedSigners: [OTHER.id] } }),
  },
  'a signer that names identities by their own id': {
    signers: [externalSigner({ useExternalId: false })],
  },
  'an external id and a CA that names it': { externalId: 'x', cas: [CA] },
  'a password and the second signer': {
    has: ['updb'],
    signers: [SIGNER],
    policy: aPolicy({ secondary: { requireExtJwt: SIGNER.id } }),
  },
  'a password where TOTP is wanted, which he can still enroll': {
    has: ['updb'],
    policy: aPolicy({ secondary: { requireTotp: true } }),
  },
}

const UNABLE: Readonly<Record<string, World>> = {
  nothing: {},
  'a password that the policy does not take': {
    has: ['updb'],
    policy: aPolicy({ updb: { allowed: false } }),
  },
  'a certificate that the policy does not take': {
    has: ['cert'],
    policy: aPolicy({ cert: { allowed: false } }),
  },
  'an external id and no signer': { externalId: 'x' },
  'a signer and no external id': { signers: [SIGNER] },
  'a signer that is disabled': { externalId: 'x', signers: [externalSigner({ enabled: false })] },
  'a signer that the policy does not list': {
    externalId: 'x',
    signers: [SIGNER],
    policy: aPolicy({ extJwt: { allowedSigners: [OTHER.id] } }),
  },
  'a signer where none is allowed': {
    externalId: 'x',
    signers: [SIGNER],
    policy: aPolicy({ extJwt: { allowed: false } }),
  },
  'a CA that is not verified': { externalId: 'x', cas: [{ ...CA, isVerified: false }] },
  'a CA that is not for logins': { externalId: 'x', cas: [{ ...CA, isAuthEnabled: false }] },
  'a CA that names no identity': { externalId: 'x', cas: [{ ...CA, externalIdClaim: undefined }] },
  'a password, and a second signer that is disabled': {
    has: ['updb'],
    signers: [externalSigner({ enabled: false })],
    policy: aPolicy({ secondary: { requireExtJwt: SIGNER.id } }),
  },
}

for (const [what, world] of Object.entries(ABLE)) {
  test(`an identity with ${what} can log in`, () => assert.equal(can(world), true))
}

for (const [what, world] of Object.entries(UNABLE)) {
  test(`an identity with ${what} cannot log in`, () => assert.equal(can(world), false))
}
