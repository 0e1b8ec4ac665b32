/**
 * Transactions that lock several rows on PostgreSQL lock them in one order, and a clean-up waits for no row: D-485. Each
 * test stops one transaction in its middle, lets another one run as far as it gets, and continues the first. Two orders
 * would be a deadlock, and one of the callers would get 503. On SQLite a transaction is the only writer.
 */
import assert from 'node:assert/strict'
import { after as afterAll, type TestContext, test } from 'node:test'
import type {
  AuthenticatorId,
  EnrollmentId,
  IdentityId,
  SessionCertificateId,
} from '../../src/base/ids.ts'
import { systemRandom } from '../../src/base/secrets/random.ts'
import { hours, minutes } from '../../src/base/time/duration.ts'
import { plus } from '../../src/base/time/instant.ts'
import { auditPorts } from '../../src/domain/audit/ports.ts'
import type { Enrollment } from '../../src/domain/enrollments/enrollment.ts'
import type { Identity } from '../../src/domain/identities/identity.ts'
import { keepSealed } from '../../src/domain/installation/keep-sealed.ts'
import { disableIdentity, removeMfa } from '../../src/domain/management/manage-identities.ts'
import { endAllSessions } from '../../src/domain/management/manage-sessions.ts'
import { createEndExpired } from '../../src/domain/sessions/ending/end-expired.ts'
import type { Store, Stores, Transaction } from '../../src/domain/stores.ts'
import { ManualClock } from '../support/clocks/manual-clock.ts'
import { CALLER } from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { openTwo, postgresql } from './databases.ts'
import { aPasskey } from './passkey-sample.ts'
import { ENABLED } from './refresh-sample.ts'
import {
  aCertAuthenticator,
  after,
  anInvitation,
  aPolicy,
  aPrimary,
  aRefreshToken,
  aSession,
  hash,
  NOON,
  sessionId,
} from './samples.ts'
import { asFarAsPossible, waitingIn } from './waiting.ts'

afterAll(async () => (await startPostgres()).stop())

const PERSON = { ...ENABLED, isAdmin: false }

type Ports = Parameters<typeof disableIdentity>[0]

const portsOf = (transaction: Transaction): Ports => ({
  ...auditPorts({ clock: new ManualClock(), random: systemRandom }),
  transaction,
  accessTokenLife: minutes(30),
})

/** The newest session has the first id, and its row is the last: others may find them in another order than that of ids. */
const IDS = 'tsrqponmlkjihgfedcba'.split('')
const MIDDLE = sessionId('k')
const AFTER_MIDDLE = IDS.filter((id) => id > MIDDLE).length

async function world(t: TestContext) {
  const database = await postgresql.create(t)
  const [store, other] = await openTwo(database)
  await store.authPolicies.insert(aPolicy())
  await store.identities.insert(PERSON)
  await store.authenticators.insert(aCertAuthenticator())
  for (const [at, id] of IDS.entries()) {
    await store.apiSessions.insert(aSession({ id: sessionId(id), createdAt: after(at) }))
    const token = { hash: hash(`token of ${id}`), expiresAt: after(1) }
    await store.refreshTokens.insert(aRefreshToken({ ...token, sessionId: sessionId(id) }))
    await store.sessionCertificates.insert({
      id: `certificate of ${id}` as SessionCertificateId,
      sessionId: sessionId(id),
      identityId: PERSON.id,
      subject: 'CN=one',
      fingerprint: id,
      certificatePem: '',
      validFrom: NOON,
      validTo: after(1),
      createdAt: NOON,
    })
  }

  /**
   * Ends all sessions; in the middle of them, the other transaction begins and gets as far as it can. Both must succeed.
   * Without `lock` it is in the middle of locking the sessions.
   */
  async function endAllBeside(
    begin: (other: Store) => Promise<unknown>,
    lock: (tx: Stores) => Promise<unknown> = (tx) => tx.apiSessions.hold(MIDDLE),
  ): Promise<void> {
    const third = await database.open()
    const pending = await third.transaction(async (tx) => {
      await lock(tx)
      const ending = endAllSessions(portsOf(store.transaction), CALLER)
      await asFarAsPossible(database, ending)
      const beside = begin(other)
      await asFarAsPossible(database, beside, 1)
      return [ending, beside]
    })
    await Promise.all(pending)
    assert.deepEqual(await store.apiSessions.listOf(PERSON.id), [])
    const ended = await store.sessionEndings.listAfter(0)
    assert.deepEqual(ended.map(({ subject }) => subject).toSorted(), IDS.toSorted())
  }

  return { database, store, other, endAllBeside }
}

test('all sessions end while their identity is disabled', async (t) => {
  const { endAllBeside, store } = await world(t)
  await endAllBeside((other) => disableIdentity(portsOf(other.transaction), PERSON.id, 0, CALLER))
  assert.notEqual((await store.identities.find(PERSON.id))?.disabledAt, undefined)
})

test('all sessions end while those that have expired are ended', async (t) => {
  const { endAllBeside } = await world(t)
  await endAllBeside(async (other) => {
    const past = () => plus(NOON, hours(24))
    const { apiSessions, transaction } = other
    const expired = createEndExpired({ ...portsOf(transaction), transaction, apiSessions, past })
    assert.equal(await expired.round(), AFTER_MIDDLE, 'all but those that are locked')
  })
})

test('all sessions end while their expired refresh tokens are removed', async (t) => {
  const { endAllBeside } = await world(t)
  await endAllBeside(
    async (other) => {
      assert.equal(await other.refreshTokens.removeExpired(after(2), 500), AFTER_MIDDLE)
    },
    (tx) => tx.refreshTokens.removeOf(MIDDLE),
  )
})

test('all sessions end while their expired certificates are removed', async (t) => {
  const { endAllBeside } = await world(t)
  await endAllBeside(
    async (other) => {
      assert.equal(await other.sessionCertificates.removeExpired(after(2), 500), AFTER_MIDDLE)
    },
    (tx) => tx.sessionCertificates.removeOf(MIDDLE),
  )
})

test('all sessions end while an administrator removes the passkeys that began some of them', async (t) => {
  const { endAllBeside, store } = await world(t)
  for (const [at, id] of ['t', 'a'].entries()) {
    const authenticatorId = `passkey-${at}` as AuthenticatorId
    await store.passkeys.insert(
      aPasskey({ id: authenticatorId, credentialId: `${at}`, createdAt: after(at) }),
    )
    await store.apiSessions.remove(sessionId(id))
    const primary = aPrimary({ method: 'passkey', authenticatorId })
    const createdAt = after(IDS.indexOf(id))
    await store.apiSessions.insert(aSession({ id: sessionId(id), primary, createdAt }))
  }
  await endAllBeside((other) => removeMfa(portsOf(other.transaction), PERSON.id, CALLER))
  assert.deepEqual(await store.passkeys.listOf(PERSON.id), [])
})

test('all sessions end while a renewed certificate is confirmed', async (t) => {
  const { endAllBeside, store } = await world(t)
  const { id: authenticatorId } = aCertAuthenticator()
  const primary = aPrimary({ method: 'cert', authenticatorId })
  const { fingerprint = '' } = primary.certificate ?? {}
  for (const id of IDS) {
    await store.apiSessions.remove(sessionId(id))
    const createdAt = after(IDS.indexOf(id))
    await store.apiSessions.insert(aSession({ id: sessionId(id), primary, createdAt }))
  }
  await endAllBeside((other) =>
    other.transaction(async (tx) => {
      await tx.identities.hold(PERSON.id)
      const to = { fingerprint: 'next', notAfter: after(9) }
      await tx.certificateRenewals.rebindSessions(authenticatorId, fingerprint, to)
    }),
  )
})

test('the logins of many identities are voided in the order of their ids', async (t) => {
  const { database, store, other } = await world(t)
  const names = ['3', '2', '1']
  for (const name of names) {
    const named = { id: name as IdentityId, name, externalId: name }
    await store.identities.insert({ ...PERSON, ...named })
  }
  const [first, second, third] = names.toSorted() as [IdentityId, IdentityId, IdentityId]
  const pending = await store.transaction(async (tx) => {
    await tx.identities.hold(second)
    const voided = other.transaction((beside) =>
      beside.identities.voidLoginsAfter(undefined, { isAdmin: false, limit: 500 }),
    )
    await waitingIn(database)
    // The other one has locked the first, and not the last: so this does not wait for it.
    assert.notEqual(await tx.identities.hold(third), undefined)
    return [voided]
  })
  assert.equal(await pending[0], PERSON.id)
  for (const id of [first, second, third]) {
    assert.equal((await store.identities.find(id))?.voidedLogins, 1)
  }
})

test('an invitation replaces an expired one while the installation secret is replaced', async (t) => {
  const { database, store, other } = await world(t)
  const secretFingerprint = hash('secret')
  await store.installation.insert({
    secretFingerprint,
    sealedHashingSecret: 'sealed',
    createdAt: NOON,
  })
  const sealing = keepSealed(store, secretFingerprint)
  const invited = { identityId: PERSON.id, sealedJwt: 'sealed', usedAt: undefined }
  const expired = anInvitation({ ...invited, expiresAt: NOON })
  await sealing.enrollments.insert(expired)
  const next = { id: 'next' as EnrollmentId, tokenHash: hash('next'), expiresAt: after(9) }
  const [pending] = await sealing.transaction(async (tx) => {
    await tx.identities.hold(PERSON.id)
    const enrollment = anInvitation({ ...invited, ...next })
    assert.equal((await tx.enrollments.removeExpiredLike(enrollment, after(1))).length, 1)
    const rotation = other.transaction(async (beside) => {
      assert.equal(await beside.installation.holdSecret(secretFingerprint), true)
      return beside.sealedValues.replace(await beside.sealedValues.list())
    })
    await waitingIn(database)
    assert.equal(await tx.enrollments.insert(enrollment), 'inserted')
    return [rotation]
  })
  assert.equal(await pending, 1, 'the new one is sealed again')
})

test('expired invitations that are in the way of another one are deleted in the order of their ids', async (t) => {
  // Two people are invited anew, each with the username of the other one.
  const { database, store, other } = await world(t)
  const rows = ['2', '1'].map((name) => {
    const id = name as EnrollmentId
    const identityId = `person ${3 - Number(name)}` as IdentityId
    const expired = { id, tokenHash: hash(name), identityId, usedAt: undefined, expiresAt: NOON }
    return anInvitation(expired, { method: 'updb', username: `name ${name}` })
  })
  for (const row of rows) {
    const named = { id: row.identityId, name: row.identityId, externalId: row.identityId }
    await store.identities.insert({ ...PERSON, ...named })
    await store.enrollments.insert(row)
  }
  const [last, first] = rows as [Enrollment, Enrollment]
  const next = anInvitation(
    { id: 'next' as EnrollmentId, tokenHash: hash('next'), identityId: last.identityId },
    { method: 'updb', username: 'name 1' },
  )
  const [pending] = await store.transaction(async (tx) => {
    assert.equal(await tx.enrollments.remove(first.id), true)
    const removal = other.transaction((beside) => beside.enrollments.removeExpiredLike(next, NOON))
    await waitingIn(database)
    // The other one waits for the first, and has not locked the last: so this does not wait for it.
    assert.equal(await tx.enrollments.remove(last.id), true)
    return [removal]
  })
  assert.deepEqual(await pending, [])
})

test('an administrator who is disabled already is disabled again while another call enables it', async (t) => {
  const { database, store, other } = await world(t)
  const [disabled, enabled] = ['a', 'b'].map((name) => {
    const named = { id: name as IdentityId, name, externalId: name }
    return { ...ENABLED, ...named }
  }) as [Identity, Identity]
  await store.identities.insert({ ...disabled, disabledAt: NOON })
  await store.identities.insert(enabled)
  const [pending] = await store.transaction(async (tx) => {
    assert.ok((await tx.identities.holdAdministrators(disabled.id, NOON)).includes(enabled.id))
    const others = (async () => {
      await other.identities.replaceDisablement(disabled.id, undefined, NOON)
      await other.transaction((beside) => beside.identities.holdAdministrators(enabled.id, NOON))
    })()
    await asFarAsPossible(database, others)
    assert.notEqual(await tx.identities.hold(disabled.id), undefined)
    return [others]
  })
  await pending
})
