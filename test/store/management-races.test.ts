/**
 * What an administrator withdraws while it changes, on PostgreSQL, where a transaction sees what others commit between
 * its statements: what counts is what is there once the identity is locked. D-49, D-114, D-117. On SQLite a transaction is
 * the only writer from its beginning.
 */
import assert from 'node:assert/strict'
import { after as afterAll, type TestContext, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { minutes } from '../../src/base/time/duration.ts'
import { auditPorts } from '../../src/domain/audit/ports.ts'
import type { Identity } from '../../src/domain/identities/identity.ts'
import { removeAuthenticator } from '../../src/domain/management/manage-authenticators.ts'
import {
  deleteIdentity,
  disableIdentity,
  enableIdentity,
} from '../../src/domain/management/manage-identities.ts'
import { updatePolicy } from '../../src/domain/management/manage-policies.ts'
import type { PolicyPorts } from '../../src/domain/policies/ports.ts'
import { replaceStores } from '../../src/domain/replace-stores.ts'
import type { Stores, Transaction } from '../../src/domain/stores.ts'
import type { Failure } from '../../src/errors/catalogue.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { ManualClock, NOON } from '../support/clocks/manual-clock.ts'
import {
  aCertificate,
  anIdentity,
  aPassword,
  aPolicy,
  CALLER,
  refusalOf,
} from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { openTwo, postgresql } from './databases.ts'
import { asFarAsPossible } from './waiting.ts'

afterAll(async () => (await startPostgres()).stop())

const PERSON = anIdentity({ isAdmin: false })
const BOSS = anIdentity({
  id: 'boss' as IdentityId,
  name: 'boss',
  externalId: undefined,
  isAdmin: true,
})
const PASSWORD = 'password' as AuthenticatorId
const CERTIFICATE = 'certificate' as AuthenticatorId

const passwordOf = ({ id, name }: Pick<Identity, 'id' | 'name'>) =>
  aPassword({
    id: id === PERSON.id ? PASSWORD : (`of ${name}` as AuthenticatorId),
    identityId: id,
    username: name,
  })

/**
 * `meanwhile.happen` is committed after the transaction has read what it is about, and before it locks anything;
 * `meanwhile.begin` once it has locked the administrators.
 */
async function world(t: TestContext) {
  const database = await postgresql.create(t)
  const [store, other] = await openTwo(database)
  await store.authPolicies.insert(aPolicy())
  for (const identity of [PERSON, BOSS]) await store.identities.insert(identity)
  for (const one of [PERSON, BOSS]) await store.authenticators.insert(passwordOf(one))
  const meanwhile = {
    happen: async (): Promise<unknown> => undefined,
    begin: async (): Promise<unknown> => undefined,
  }
  const once = async <T>(found: T): Promise<T> => {
    const { happen } = meanwhile
    meanwhile.happen = async () => undefined
    await happen()
    return found
  }
  const transaction: Transaction = (work) =>
    store.transaction((tx: Stores) =>
      work(
        replaceStores(tx, {
          identities: (stores) => ({
            ...stores,
            find: async (id) => once(await stores.find(id)),
            async holdAdministrators(...about) {
              const held = await stores.holdAdministrators(...about)
              await meanwhile.begin()
              return held
            },
          }),
        }),
      ),
    )
  const audit = auditPorts({ clock: new ManualClock(), random: systemRandom })
  const ports = { ...audit, transaction, accessTokenLife: minutes(30) }
  return { database, store, other, meanwhile, ports }
}

const WITHDRAWALS = {
  'is deleted': (ports: Parameters<typeof deleteIdentity>[0]) =>
    deleteIdentity(ports, PERSON.id, CALLER),
  'is disabled': (ports: Parameters<typeof deleteIdentity>[0]) =>
    disableIdentity(ports, PERSON.id, 0, CALLER),
  'loses its password': (ports: Parameters<typeof deleteIdentity>[0]) =>
    removeAuthenticator(ports, PASSWORD, CALLER),
}

for (const [what, withdraw] of Object.entries(WITHDRAWALS)) {
  test(`D-49: an identity that ${what} while it becomes the last administrator stays one`, async (t) => {
    const { store, other, meanwhile, ports } = await world(t)
    meanwhile.happen = () =>
      other.transaction(async (tx) => {
        await tx.identities.replace({ ...PERSON, isAdmin: true })
        await tx.identities.replace({ ...BOSS, isAdmin: false })
      })
    assert.equal((await refusalOf(withdraw(ports))).code, 'LAST_ADMINISTRATOR')
    const person = await store.identities.find(PERSON.id)
    assert.equal(person?.isAdmin, true)
    assert.equal(person.disabledAt, undefined)
    assert.notEqual(await store.authenticators.find(PASSWORD), undefined)
  })
}

test('D-49: a change of a policy does not count those who became administrators while it waited', async (t) => {
  const { database, store, other, ports } = await world(t)
  const third = await database.open()
  const [next, last] = ['next', 'last'].map((name) => {
    const policy = { authPolicyId: aPolicy({ id: `policy of ${name}` }).id }
    return { ...PERSON, id: name as IdentityId, name, externalId: undefined, ...policy }
  }) as [Identity, Identity]
  for (const identity of [next, last]) {
    const { authPolicyId } = identity
    await store.authPolicies.insert({ ...aPolicy({ id: authPolicyId }), name: authPolicyId })
    await store.identities.insert(identity)
    await store.authenticators.insert(passwordOf(identity))
  }
  const outcomeOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'done',
      (error: Failure) => error.code,
    )
  // Before the change commits, the administrator that it could have counted is disabled. That call could have counted
  // the one whose policy changes.
  const disabling: Promise<string>[] = []
  const transaction: Transaction = (work) =>
    store.transaction(async (tx) => {
      const result = await work(tx)
      const pending = outcomeOf(disableIdentity({ ...ports, ...other }, last.id, 0, CALLER))
      disabling.push(pending)
      await asFarAsPossible(database, pending)
      return result
    })
  const [change] = await other.transaction(async (tx) => {
    await tx.identities.replace({ ...BOSS, isAdmin: false })
    const pending = outcomeOf(
      updatePolicy(
        { ...ports, ...store, transaction } as unknown as PolicyPorts,
        next.authPolicyId,
        (current) => ({ ...current, primary: { cert: { allowed: true } } }),
        CALLER,
      ),
    )
    await asFarAsPossible(database, pending)
    for (const identity of [next, last]) {
      await third.identities.replace({ ...identity, isAdmin: true })
    }
    return [pending]
  })
  assert.deepEqual([await change, ...(await Promise.all(disabling))], ['LAST_ADMINISTRATOR'])
})

test('D-485: an administrator is disabled who is demoted and promoted meanwhile, while another one is', async (t) => {
  const { database, store, other, meanwhile, ports } = await world(t)
  // The first in the order of locks.
  const again = { ...BOSS, id: 'a' as IdentityId, name: 'a' }
  const { id } = again
  await store.identities.insert(again)
  await store.identities.replace({ ...PERSON, isAdmin: true })
  meanwhile.happen = () => other.identities.replace({ ...again, isAdmin: false })
  let pending: Promise<unknown> = Promise.resolve()
  meanwhile.begin = async () => {
    pending = other.identities
      .replace(again)
      .then(() => disableIdentity({ ...ports, ...other }, PERSON.id, 0, CALLER))
    await asFarAsPossible(database, pending)
  }
  await disableIdentity(ports, id, 0, CALLER)
  await pending
  for (const one of [id, PERSON.id]) {
    assert.notEqual((await store.identities.find(one))?.disabledAt, undefined, one)
  }
})

test('D-392: a router that gets hosts while it is disabled or enabled is in the rules as it is then', async (t) => {
  const hosts = ['edge.example.org']
  const { store, other, meanwhile, ports } = await world(t)
  for (const change of [
    () => disableIdentity(ports, PERSON.id, 0, CALLER),
    () => enableIdentity(ports, PERSON.id, CALLER),
  ]) {
    await store.identities.replace({ ...PERSON, type: 'Router' })
    let version = 0
    meanwhile.happen = () =>
      other.transaction(async (tx) => {
        await tx.ruleVersions.raise()
        await tx.identities.replace({ ...PERSON, type: 'Router', hosts })
        version = await tx.ruleVersions.current()
      })
    await change()
    assert.ok((await store.ruleVersions.current()) > version, 'copies read the router again')
  }
})

test('D-117: a certificate that is issued while its authenticator is removed is refused by routers too', async (t) => {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const ca = await openssl.makeCa()
  const [current, next] = [await openssl.makeLeaf(ca), await openssl.makeLeaf(ca)]
  const { store, other, meanwhile, ports } = await world(t)
  const { pem, fingerprint: before } = current
  await store.authenticators.insert(
    aCertificate({ id: CERTIFICATE, certPem: pem, fingerprint: before }),
  )
  const { pem: certPem, fingerprint } = next
  meanwhile.happen = () =>
    other.certificateRenewals.replacePending(
      CERTIFICATE,
      current.fingerprint,
      { certPem, fingerprint },
      NOON,
    )
  await removeAuthenticator(ports, CERTIFICATE, CALLER)
  const ended = (await store.sessionEndings.listAfter(0)).map(({ subject }) => subject)
  assert.deepEqual(
    ended.toSorted(),
    [`cert:${current.fingerprint}`, `cert:${fingerprint}`].toSorted(),
  )
})
