/**
 * A session that ends at this moment begins no other session, of a device that its user approves (D-443) or of an
 * application by single sign-on (D-345), ends none, and changes no credential. On PostgreSQL, where both run at the same
 * time; on SQLite a transaction is the only writer.
 */
import assert from 'node:assert/strict'
import { after as afterAll, type TestContext, test } from 'node:test'
import { TOTP, URI } from 'otpauth'
import type { ApiSessionId, AuthenticatorId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { createVault, INSTALLATION_SECRET_BYTES } from '../../src/base/secrets/vault.ts'
import { minutes } from '../../src/base/time/duration.ts'
import {
  type OwnChange,
  updateOwnAuthenticator,
} from '../../src/domain/account/own-authenticators.ts'
import { reuseSession } from '../../src/domain/account/single-sign-on.ts'
import type { Caller } from '../../src/domain/audit/events.ts'
import { auditPorts } from '../../src/domain/audit/ports.ts'
import { answerDevice } from '../../src/domain/device/answer-device.ts'
import { type DeviceCode, userCodeHash } from '../../src/domain/device/device-code.ts'
import type { DevicePorts } from '../../src/domain/device/ports.ts'
import type { UserCode } from '../../src/domain/device/user-code.ts'
import { createAddressFailures } from '../../src/domain/factors/guessing/failures.ts'
import type { OpenRequest } from '../../src/domain/login/request/find-request.ts'
import { endSessionById } from '../../src/domain/management/manage-sessions.ts'
import { replaceStores } from '../../src/domain/replace-stores.ts'
import type { CallSession } from '../../src/domain/sessions/call-session.ts'
import { endOtherSessions, endOwnSession } from '../../src/domain/sessions/own-sessions.ts'
import {
  proveInSession,
  removeEnrollmentInSession,
  renewRecoveryCodes,
  startEnrollmentInSession,
  verifyEnrollmentInSession,
} from '../../src/domain/sessions/session-factors.ts'
import { removeOwnPasskey, renameOwnPasskey } from '../../src/domain/sessions/session-passkeys.ts'
import type { Store, Transaction } from '../../src/domain/stores.ts'
import { ManualClock, NOON } from '../support/clocks/manual-clock.ts'
import {
  anIdentity,
  anOidcSession,
  aPassword,
  aPolicy,
  CALLER,
  proven,
  refusalOf,
  rulesOf,
} from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { openTwo, postgresql } from './databases.ts'
import { aPasskey } from './passkey-sample.ts'
import { aPartialRequest, hash } from './samples.ts'
import { asFarAsPossible } from './waiting.ts'

afterAll(async () => (await startPostgres()).stop())

const USER_CODE = 'BCDFGHJK' as UserCode
const SESSION = anOidcSession()
const OTHER = anOidcSession({ id: 'session-0' as ApiSessionId })
const { id: sessionId, identityId } = SESSION
const CALL = { sessionId, identityId, kind: 'oidc', isPartial: undefined } as CallSession
const vault = createVault(systemRandom.bytes(INSTALLATION_SECRET_BYTES), systemRandom)
const PASSWORD = proven().authenticatorId as AuthenticatorId
const clock = new ManualClock()

const DEVICE: DeviceCode = {
  hash: hash('device'),
  userCodeHash: userCodeHash(vault, USER_CODE),
  clientId: 'service',
  issuer: SESSION.issuer,
  scopes: ['openid'],
  address: CALLER.address,
  userAgent: undefined,
  requestedAt: NOON,
  expiresAt: SESSION.expiresAt,
  interval: minutes(1),
  polledAt: undefined,
  answer: 'pending',
}

const AWAITING = {
  ...aPartialRequest(),
  state: 'awaiting-primary',
  ask: { ...aPartialRequest().ask, stepUp: undefined },
} as unknown as OpenRequest

function portsOf(store: Store): DevicePorts {
  return {
    ...store,
    ...auditPorts({ clock, random: systemRandom }),
    vault,
    rules: rulesOf({ policies: [aPolicy()] }),
    userCodeFailures: createAddressFailures({ limit: 10, clock }),
    allUserCodeFailures: createAddressFailures({ limit: 10, clock }),
    accessTokenLife: minutes(30),
    legacySessionCache: { forget: async () => {} },
  } as unknown as DevicePorts
}

/** Begins to end the session in one transaction, which commits when the work of the other store cannot go on. */
async function whileItEnds<T, Prepared>(
  t: TestContext,
  work: (ports: DevicePorts, prepared: Prepared) => Promise<T>,
  prepare: (ports: DevicePorts) => Promise<Prepared> = async () => undefined as Prepared,
) {
  const database = await postgresql.create(t)
  const [store, other] = await openTwo(database)
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(anIdentity())
  await store.authenticators.insert(aPassword({ id: PASSWORD, identityId }))
  for (const session of [SESSION, OTHER]) await store.apiSessions.insert(session)
  await store.deviceCodes.insert(DEVICE)
  const prepared = await prepare(portsOf(other))
  let pending: Promise<T> | undefined
  const transaction: Transaction = (end) =>
    store.transaction((tx) =>
      end(
        replaceStores(tx, {
          sessionEndings: (stores) => ({
            ...stores,
            async insert(ending) {
              pending = work(portsOf(other), prepared)
              await asFarAsPossible(database, pending)
              return stores.insert(ending)
            },
          }),
        }),
      ),
    )
  const ending = { ...portsOf(store), transaction }
  await endSessionById(ending, SESSION.id, CALLER)
  assert.ok(pending !== undefined)
  return { store, outcome: pending }
}

const APP = { factor: 'totp', session: CALL, hostname: 'localhost' } as const

function verifyApp(ports: DevicePorts, setup: string) {
  const app = URI.parse(setup)
  assert.ok(app instanceof TOTP)
  const answer = app.generate({ timestamp: clock.now() })
  return verifyEnrollmentInSession(ports, APP, { answer, caller: CALLER })
}

/** With an app and a passkey. Returns a recovery code, which answers for both. */
async function withFactors(ports: DevicePorts): Promise<string> {
  const { setup, recoveryCodes } = await startEnrollmentInSession(ports, APP)
  await verifyApp(ports, setup.provisioningUrl)
  await ports.passkeys.insert(aPasskey({ identityId }))
  return recoveryCodes[0] ?? ''
}

test('D-443: a session that ends at this moment approves no device', async (t) => {
  const { store, outcome } = await whileItEnds(t, (ports) =>
    answerDevice(ports, { userCode: USER_CODE, session: CALL, caller: CALLER, answer: 'approved' }),
  )
  assert.equal((await refusalOf(outcome)).code, 'UNAUTHORIZED')
  assert.equal((await store.deviceCodes.find(DEVICE.hash))?.answer, 'pending')
  assert.equal(await store.authRequests.findByCode(DEVICE.hash), undefined)
})

test('D-345: a session that ends at this moment signs its user in nowhere', async (t) => {
  const { store, outcome } = await whileItEnds(t, (ports) =>
    reuseSession(ports, AWAITING, { session: SESSION, identityId: SESSION.identityId }, CALLER),
  )
  assert.equal(await outcome, undefined)
  const { rows } = await store.events.list({ limit: 10, offset: 0 })
  assert.deepEqual(
    rows.map(({ type }) => type),
    ['session.ended'],
  )
})

test('a session that ends at this moment ends no other one', async (t) => {
  for (const end of [
    (ports: DevicePorts) => endOwnSession(ports, CALL, OTHER.id, CALLER),
    (ports: DevicePorts) => endOtherSessions(ports, CALL, CALLER),
  ]) {
    const { store, outcome } = await whileItEnds(t, end)
    assert.equal((await refusalOf(outcome)).code, 'UNAUTHORIZED')
    assert.notEqual(await store.apiSessions.find(OTHER.id), undefined)
    assert.equal((await store.identities.find(identityId))?.voidedLogins, 0, 'nor a login')
  }
})

test('a session that ends at this moment changes no authenticator', async (t) => {
  const change = (): OwnChange => ({
    method: 'updb',
    username: 'zoe',
    password: undefined,
    currentPassword: undefined,
    tags: { desk: 7 },
  })
  const { store, outcome } = await whileItEnds(t, (ports) =>
    updateOwnAuthenticator(ports, CALL, PASSWORD, change, CALLER),
  )
  assert.equal((await refusalOf(outcome)).code, 'UNAUTHORIZED')
  assert.deepEqual((await store.authenticators.find(PASSWORD))?.tags, {})
})

test('D-437: a session that ends at this moment adds no second factor', async (t) => {
  const { store, outcome } = await whileItEnds(
    t,
    (ports, setup: string) => verifyApp(ports, setup),
    async (ports) => (await startEnrollmentInSession(ports, APP)).setup.provisioningUrl,
  )
  assert.equal((await refusalOf(outcome)).code, 'UNAUTHORIZED')
  assert.equal((await store.totpEnrollments.find(identityId))?.isVerified, false)
})

test('a session that ends at this moment renames no passkey', async (t) => {
  const passkey = aPasskey({ identityId })
  const { store, outcome } = await whileItEnds(
    t,
    (ports) => renameOwnPasskey(ports, { session: CALL }, passkey.id, 'another name'),
    (ports) => ports.passkeys.insert(passkey),
  )
  assert.equal((await refusalOf(outcome)).code, 'UNAUTHORIZED')
  assert.equal((await store.passkeys.find(passkey.id))?.name, passkey.name)
})

test('a session that ends at this moment takes no second factor away, and spends no code', async (t) => {
  type Work = (ports: DevicePorts, given: { answer: string; caller: Caller }) => Promise<unknown>
  const works: Readonly<Record<string, Work>> = {
    'removes the app': (ports, given) => removeEnrollmentInSession(ports, APP, given),
    'renews the recovery codes': (ports, given) => renewRecoveryCodes(ports, APP, given),
    'proves a factor': (ports, given) => proveInSession(ports, APP, given),
    'removes a passkey': (ports, given) =>
      removeOwnPasskey(ports, { session: CALL }, aPasskey().id, given),
  }
  for (const [name, work] of Object.entries(works)) {
    const { store, outcome } = await whileItEnds(
      t,
      (ports, answer: string) => work(ports, { answer, caller: CALLER }),
      withFactors,
    )
    assert.equal((await refusalOf(outcome)).code, 'UNAUTHORIZED', name)
    assert.equal((await store.totpEnrollments.find(identityId))?.isVerified, true, name)
    assert.equal((await store.passkeys.listOf(identityId)).length, 1, name)
    assert.equal(await store.recoveryCodes.count(identityId), 20, name)
  }
})
