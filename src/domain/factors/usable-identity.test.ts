/** Whether the owner of a valid credential may log in with it now: D-12, D-16. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { anIdentity, aPolicy, rulesOf } from '../../../test/support/people.ts'
import { instant } from '../../base/time/instant.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { usableIdentity } from './usable-identity.ts'

const POLICY = aPolicy()
const IDENTITY = anIdentity()
const clock = new ManualClock()

const judge = (
  identity: Identity | undefined,
  isAllowed = true,
  policies: readonly AuthPolicy[] = [POLICY],
) => usableIdentity(identity, () => isAllowed, { rules: rulesOf({ policies }), clock })

test('an identity whose policy allows the method is usable, and comes with that policy', () => {
  const others = [aPolicy({ id: 'policy-0' }), POLICY]
  assert.deepEqual(judge(IDENTITY, true, others), { identity: IDENTITY, policy: POLICY })
})

test('the policy that is asked is that of the identity', () => {
  const asked: AuthPolicy[] = []
  const allows = (policy: AuthPolicy) => asked.push(policy) > 0
  const rules = rulesOf({ policies: [aPolicy({ id: 'policy-0' }), POLICY] })
  usableIdentity(IDENTITY, allows, { rules, clock })
  assert.deepEqual(asked, [POLICY])
})

const REFUSED: Readonly<Record<string, readonly [reason: string, ...Parameters<typeof judge>]>> = {
  'an identity that is gone': ['identity-missing', undefined],
  'an identity that is disabled': ['identity-disabled', anIdentity({ disabledAt: NOON })],
  'an identity that is disabled for another moment': [
    'identity-disabled',
    anIdentity({ disabledAt: instant(NOON - 1), disabledUntil: instant(NOON + 1) }),
  ],
  'a disabled identity whose policy forbids the method': [
    'identity-disabled',
    anIdentity({ disabledAt: NOON }),
    false,
  ],
  'a policy that forbids the method': ['method-not-allowed', IDENTITY, false],
  'a policy that is gone': ['method-not-allowed', IDENTITY, true, []],
}

for (const [what, [refusal, ...given]] of Object.entries(REFUSED)) {
  test(`${what} is refused as ${refusal}`, () => {
    assert.deepEqual(judge(...given), { refusal })
  })
}

test('a disablement that has ended has no effect', () => {
  const identity = anIdentity({ disabledAt: instant(NOON - 1), disabledUntil: NOON })
  assert.deepEqual(judge(identity), { identity, policy: POLICY })
})
