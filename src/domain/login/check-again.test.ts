/** The current state of the identity behind a login: changes since its primary factor count. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { anIdentity, aPolicy, proven, rulesOf } from '../../../test/support/people.ts'
import type { ExternalJwtSignerId } from '../../base/ids.ts'
import type { ProvenPrimary } from '../factors/proven.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { checkAgain } from './check-again.ts'
import type { LoginPorts } from './ports.ts'

const ONE = 'signer-1' as ExternalJwtSignerId

function check(
  identity: Identity | undefined,
  policy: AuthPolicy,
  primary: ProvenPrimary = proven(),
  of?: 'session',
) {
  const ports = fakePorts<LoginPorts>({
    identities: { find: async (id) => (id === identity?.id ? identity : undefined) },
    authenticators: { find: () => assert.fail('a login that has every field needs no look-up') },
    rules: rulesOf({ policies: [policy] }),
    clock: new ManualClock(),
  })
  return checkAgain(ports, primary, of)
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

test('D-226: a login is over when all sessions of its identity were ended, and a session that was not ended goes on', async () => {
  const identity = anIdentity({ voidedLogins: 3 })
  for (const voidedLogins of [undefined, 0, 2, 4]) {
    const primary = proven({ voidedLogins })
    assert.deepEqual(await check(identity, aPolicy(), primary), { refusal: 'login-voided' })
    assert.ok('identity' in (await check(identity, aPolicy(), primary, 'session')))
  }
  assert.ok('identity' in (await check(identity, aPolicy(), proven({ voidedLogins: 3 }))))
})

test('D-226: a login that is older than the number continues until it is incremented', async () => {
  const primary = proven({ voidedLogins: undefined })
  assert.ok('identity' in (await check(anIdentity(), aPolicy(), primary)))
})

test('a login by a signer that is gone or disabled by now is refused', async () => {
  const primary = proven({ method: 'ext-jwt', authenticatorId: undefined, signerId: ONE })
  for (const stage of [undefined, 'session'] as const) {
    assert.deepEqual(await check(anIdentity(), aPolicy(), primary, stage), {
      refusal: 'signer-disabled',
    })
  }
})
