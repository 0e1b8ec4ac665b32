/** D-18, D-427: which codes count as wrong ones. On the real store, in memory. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { aPartialRequest } from '../../../test/store/samples.ts'
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts, storePorts } from '../../../test/support/fake-ports.ts'
import {
  anIdentity,
  aPolicy,
  CALLER,
  proven,
  refusalOf,
  rulesOf,
} from '../../../test/support/people.ts'
import type { IdentityId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { createVault } from '../../base/secrets/vault.ts'
import { openStore } from '../../store/open.ts'
import { auditPorts } from '../audit/ports.ts'
import { NOTHING_SECONDARY } from '../factors/proven.ts'
import type { SecondFactorStepPorts } from './ports.ts'
import { acceptFactor, acceptPrimary, type PartiallyAuthenticated } from './request/auth-request.ts'
import { submitSecondFactor } from './submit-second-factor.ts'

const REQUEST = aPartialRequest({
  primary: proven(),
  secondary: NOTHING_SECONDARY,
  reusedSession: undefined,
})
const OTHER = anIdentity({ id: 'another' as IdentityId, name: 'another' })
const again = (primary = proven()) => acceptPrimary(REQUEST, primary, undefined, [])

// Attack: somebody who knows the password sends it again with every burst of guesses, to keep them out of the audit log.
const FASTER: Readonly<Record<string, [PartiallyAuthenticated, string, number]>> = {
  'the same password again': [again(), 'MFA_INVALID_TOKEN', 1],
  'the login of another identity': [
    acceptFactor(again({ ...proven(), identityId: OTHER.id }), 'totp'),
    'MFA_INVALID_TOKEN',
    1,
  ],
  'the code of the same form': [acceptFactor(REQUEST, 'totp'), 'INVALID_AUTH_REQUEST', 0],
}

for (const [what, [next, code, recorded]] of Object.entries(FASTER)) {
  test(`a wrong code while a faster step takes ${what}: ${code}`, async (t) => {
    const store = await openStore({ kind: 'sqlite', path: ':memory:' })
    t.after(() => store.close())
    await store.authPolicies.insert(aPolicy())
    for (const identity of [anIdentity(), OTHER]) await store.identities.insert(identity)
    const ports = fakePorts<SecondFactorStepPorts>({
      ...storePorts(store),
      ...auditPorts({ clock: new ManualClock(), random: systemRandom }),
      vault: createVault(randomBytes(32), systemRandom),
      rules: rulesOf({ policies: [aPolicy()] }),
      transaction: store.transaction,
    })
    await store.authRequests.insert(REQUEST)
    assert.equal(await store.authRequests.replace(REQUEST.revision, next), true)

    const guess = { factor: 'totp', request: REQUEST, code: '000000', caller: CALLER } as const
    assert.equal((await refusalOf(submitSecondFactor(ports, guess))).code, code)
    const failed = await store.events.list({ limit: 10, offset: 0 })
    assert.equal(failed.rows.filter(({ type }) => type === 'login.failed').length, recorded)
  })
}
