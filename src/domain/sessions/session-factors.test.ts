/**
 * D-437, D-489: no second factor is added around another one, or by a login whose proof is withdrawn, not even at the
 * same moment. On the real store, in memory.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { TOTP, URI } from 'otpauth'
import { aPartialRequest } from '../../../test/store/samples.ts'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts, storePorts } from '../../../test/support/fake-ports.ts'
import {
  aLegacySession,
  anIdentity,
  aPassword,
  aPolicy,
  CALLER,
  proven,
  refusalOf,
  rulesOf,
} from '../../../test/support/people.ts'
import type { AuthenticatorId } from '../../base/ids.ts'
import { systemRandom } from '../../base/secrets/random.ts'
import { createVault } from '../../base/secrets/vault.ts'
import { hours } from '../../base/time/duration.ts'
import { Failure } from '../../errors/catalogue.ts'
import { openStore } from '../../store/open.ts'
import { auditPorts } from '../audit/ports.ts'
import type { Passkey } from '../factors/passkey/passkey.ts'
import { NOTHING_SECONDARY } from '../factors/proven.ts'
import { startEnrollmentInLogin, verifyEnrollmentInLogin } from '../login/enroll-second-factor.ts'
import type { Store } from '../stores.ts'
import type { CallSession } from './call-session.ts'
import type { SessionPorts } from './ports.ts'
import { startEnrollmentInSession, verifyEnrollmentInSession } from './session-factors.ts'

const IDENTITY = anIdentity()
const HOST = { hostname: 'id.example.org' }
const SESSION = aLegacySession({ demanded: new Set(['totp']) })
const PASSWORD = proven().authenticatorId as AuthenticatorId

const KEY_OF_THE_OWNER: Passkey = {
  id: 'passkey-1' as AuthenticatorId,
  identityId: IDENTITY.id,
  name: 'of the owner',
  credentialId: 'credential-1',
  rpId: 'id.example.org',
  publicKey: 'key',
  signCount: 0,
  transports: [],
  aaguid: '',
  isBackupEligible: false,
  isBackedUp: false,
  createdAt: NOON,
  lastUsedAt: undefined,
}

async function world(t: TestContext) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(IDENTITY)
  await store.authenticators.insert(aPassword({ id: PASSWORD }))
  await store.apiSessions.insert(SESSION)
  const clock = new ManualClock()
  /** What happens after the checks, and before the transaction that adds the factor. */
  const meanwhile = { happen: async (): Promise<unknown> => undefined }
  const ports = fakePorts<SessionPorts>({
    ...storePorts(store),
    ...auditPorts({ clock, random: systemRandom }),
    brand: 'service',
    vault: createVault(randomBytes(32), systemRandom),
    rules: rulesOf({ policies: [aPolicy()] }),
    async transaction(work) {
      await meanwhile.happen()
      return store.transaction(work)
    },
    legacySessionCache: { forget: async () => {} },
  })
  const hasApp = async () => (await store.totpEnrollments.find(IDENTITY.id))?.isVerified === true
  const addKey = async () => {
    meanwhile.happen = async () => undefined
    assert.equal(await store.passkeys.insert(KEY_OF_THE_OWNER), true)
  }
  const codeOf = (url: string) => {
    const app = URI.parse(url)
    assert.ok(app instanceof TOTP)
    return app.generate({ timestamp: clock.now() })
  }
  return { store, clock, ports, meanwhile, hasApp, addKey, codeOf }
}

const REQUEST = aPartialRequest({
  primary: proven(),
  secondary: NOTHING_SECONDARY,
  reusedSession: undefined,
})

test('a login adds no authenticator app around a passkey that is added at the same moment', async (t) => {
  // Attack: somebody with the password sets up an app while the owner adds a passkey. Each alone would be refused after
  // the other; at once, both had a factor of their own.
  const { store, ports, meanwhile, hasApp, addKey, codeOf } = await world(t)
  const login = { factor: 'totp', request: REQUEST } as const
  await store.authRequests.insert(REQUEST)
  const { setup } = await startEnrollmentInLogin(ports, { ...login, ...HOST })
  meanwhile.happen = addKey
  const answer = codeOf(setup.provisioningUrl)
  const verified = verifyEnrollmentInLogin(ports, { ...login, answer, caller: CALLER })
  assert.equal((await refusalOf(verified)).code, 'FACTOR_NOT_PROVEN')
  assert.equal(await hasApp(), false)
})

const WITHDRAWALS: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  'all its sessions end': ({ identities }) => identities.voidLogins(IDENTITY.id),
  'it is disabled': ({ identities }) =>
    identities.replaceDisablement(IDENTITY.id, { at: NOON, until: undefined }, NOON),
  'its password is deleted': ({ authenticators }) => authenticators.remove(PASSWORD),
  'the session ends that its login reuses': ({ apiSessions }) => apiSessions.remove(SESSION.id),
}

for (const [what, withdraw] of Object.entries(WITHDRAWALS)) {
  test(`D-489: a login adds no factor to an identity if at the same moment ${what}`, async (t) => {
    const { store, ports, meanwhile, hasApp, codeOf } = await world(t)
    const request = { ...REQUEST, reusedSession: SESSION.id }
    await store.authRequests.insert(request)
    const login = { factor: 'totp', request } as const
    const { setup } = await startEnrollmentInLogin(ports, { ...login, ...HOST })
    meanwhile.happen = () => withdraw(store)
    const answer = codeOf(setup.provisioningUrl)
    const verified = verifyEnrollmentInLogin(ports, { ...login, answer, caller: CALLER })
    assert.equal((await refusalOf(verified)).code, 'INVALID_AUTH_REQUEST')
    assert.equal(await hasApp(), false)
  })
}

for (const [kind, isPartial, code] of [
  ['partial', true, 'FACTOR_NOT_PROVEN'],
  ['full but old', false, 'LOGIN_TOO_OLD'],
] as const) {
  test(`a ${kind} session adds no authenticator app around a passkey that is added at the same moment`, async (t) => {
    const { clock, ports, meanwhile, hasApp, addKey, codeOf } = await world(t)
    if (!isPartial) clock.pass(hours(1))
    const session = {
      kind: 'legacy',
      sessionId: SESSION.id,
      identityId: IDENTITY.id,
      isPartial: isPartial ? new Failure('UNAUTHORIZED') : undefined,
    } as CallSession
    const one = { factor: 'totp', session } as const
    const { setup } = await startEnrollmentInSession(ports, { ...one, ...HOST })
    meanwhile.happen = addKey
    const answer = codeOf(setup.provisioningUrl)
    const verified = verifyEnrollmentInSession(ports, one, { answer, caller: CALLER })
    assert.equal((await refusalOf(verified)).code, code)
    assert.equal(await hasApp(), false)
  })
}
