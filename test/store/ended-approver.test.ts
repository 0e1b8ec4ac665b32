/**
 * What a session proved begins another one: of a device that its user approves (D-443), or of an application by single
 * sign-on (D-345). A session that ends at that moment begins none. On PostgreSQL, where both run at the same time; on
 * SQLite a transaction is the only writer.
 */
import assert from 'node:assert/strict'
import { after as afterAll, type TestContext, test } from 'node:test'
import type { AuthenticatorId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { minutes } from '../../src/base/time/duration.ts'
import { reuseSession } from '../../src/domain/account/single-sign-on.ts'
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
import type { Store, Transaction } from '../../src/domain/stores.ts'
import { ManualClock, NOON } from '../support/clocks/manual-clock.ts'
import {
  anIdentity,
  anOidcSession,
  aPolicy,
  CALLER,
  proven,
  refusalOf,
  rulesOf,
} from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { openTwo, postgresql } from './databases.ts'
import { aPartialRequest, hash } from './samples.ts'
import { asFarAsPossible } from './waiting.ts'

afterAll(async () => (await startPostgres()).stop())

const USER_CODE = 'BCDFGHJK' as UserCode
const SESSION = anOidcSession()
const vault = { hash: (_: string, text: string) => hash(text) }
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
  } as unknown as DevicePorts
}

/** Begins to end the session in one transaction, which commits when the work of the other store cannot go on. */
async function whileItEnds<T>(t: TestContext, work: (ports: DevicePorts) => Promise<T>) {
  const database = await postgresql.create(t)
  const [store, other] = await openTwo(database)
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(anIdentity())
  await store.authenticators.insert({
    id: proven().authenticatorId as AuthenticatorId,
    identityId: anIdentity().id,
    method: 'updb',
    username: 'zoe',
    passwordHash: 'hash',
    lockedUntil: undefined,
    tags: {},
    createdAt: NOON,
    updatedAt: NOON,
  })
  await store.apiSessions.insert(SESSION)
  await store.deviceCodes.insert(DEVICE)
  let pending: Promise<T> | undefined
  const transaction: Transaction = (end) =>
    store.transaction((tx) =>
      end(
        replaceStores(tx, {
          sessionEndings: (stores) => ({
            ...stores,
            async insert(ending) {
              pending = work(portsOf(other))
              await asFarAsPossible(database, pending)
              return stores.insert(ending)
            },
          }),
        }),
      ),
    )
  const ending = { ...portsOf(store), transaction, accessTokenLife: minutes(30) }
  await endSessionById(ending, SESSION.id, CALLER)
  assert.ok(pending !== undefined)
  return { store, outcome: pending }
}

test('D-443: a session that ends at this moment approves no device', async (t) => {
  const { id: sessionId, identityId } = SESSION
  const session = { sessionId, identityId } as CallSession
  const { store, outcome } = await whileItEnds(t, (ports) =>
    answerDevice(ports, { userCode: USER_CODE, session, caller: CALLER, answer: 'approved' }),
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
