/** The identity behind a login that is under way, as it is now: what changed since its primary factor counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { anIdentity, aPolicy, proven, rulesOf } from '../../../test/support/people.ts'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { allowsPrimary, createCheckAgain } from './check-again.ts'
import type { ProvenPrimary } from './proven.ts'

const ONE = 'signer-1' as ExternalJwtSignerId
const OTHER = 'signer-2' as ExternalJwtSignerId

function check(
  identity: Identity | undefined,
  policy: AuthPolicy,
  primary: ProvenPrimary = proven(),
) {
  const checkAgain = createCheckAgain({
    identities: { find: async (id) => (id === identity?.id ? identity : undefined) },
    rules: rulesOf({ policies: [policy] }),
    clock: new ManualClock(),
  })
  return checkAgain(primary)
}

test('where nothing has changed, the identity and its policy are answered', async () => {
  const [identity, policy] = [anIdentity(), aPolicy()]
  assert.deepEqual(await check(identity, policy), { identity, policy })
})

test('an identity that was deleted or disabled meanwhile is refused', async () => {
  assert.deepEqual(await check(undefined, aPolicy()), { refusal: 'identity-missing' })
  const disabled = anIdentity({ disabledAt: NOON })
  assert.deepEqual(await check(disabled, aPolicy()), { refusal: 'identity-disabled' })
})

test('a policy that forbids the method by now is obeyed', async () => {
  const policy = aPolicy({ updb: { allowed: false } })
  assert.deepEqual(await check(anIdentity(), policy), { refusal: 'method-not-allowed' })
})

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
  'a JWT of nobody knows whom': [false, aPolicy(), byJwt(undefined)],
}

for (const [what, [isAllowed, policy, primary]] of Object.entries(ALLOWED)) {
  test(`${what} is ${isAllowed ? 'allowed' : 'not allowed'}`, () => {
    assert.equal(allowsPrimary(policy, primary), isAllowed)
  })
}

test('a login by a signer that is gone or disabled by now is refused', async () => {
  assert.deepEqual(await check(anIdentity(), aPolicy(), byJwt(ONE)), { refusal: 'signer-disabled' })
})
