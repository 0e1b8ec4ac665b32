/** Instances, samples, counts and the ends of enrolled certificates, on every database: D-361, D-367 to D-369. */
import assert from 'node:assert/strict'
import { after as afterAll, suite, test } from 'node:test'
import type { AuthenticatorId, IdentityId } from '../../src/base/ids.ts'
import { days } from '../../src/base/time/duration.ts'
import { instant } from '../../src/base/time/instant.ts'
import type { Instance } from '../../src/domain/overview/instance.ts'
import { positionOf } from '../../src/domain/sessions/confirming/position.ts'
import { openOpenssl } from '../support/certificates/openssl.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL } from './databases.ts'
import {
  aCertAuthenticator,
  after,
  aLegacySession,
  anAuthenticator,
  anIdentity,
  aPolicy,
  aSession,
  NOON,
  sessionId,
} from './samples.ts'

const openssl = await openOpenssl()
afterAll(async () => {
  await openssl.close()
  await (await startPostgres()).stop()
})
const leaf = await openssl.makeLeaf(await openssl.makeCa(), { notAfter: days(20) })
const later = await openssl.makeLeaf(await openssl.makeCa(), { notAfter: days(90) })

/** Certificates of openssl are valid from now on, whatever the samples say. */
const NOON_OF_OPENSSL = instant(0)

const INSTANCE: Instance = {
  id: 'one',
  place: 'home-1',
  host: 'node-1',
  version: '1.2.3',
  revision: 'source',
  startedAt: NOON,
  seenAt: NOON,
  failing: ['store'],
  warnings: ['notifications'],
  serverCertificates: [{ listener: 'default', endsAt: after(9), isOwn: true }],
  steps: [],
}

for (const database of ALL) {
  suite(database.name, () => {
    test('an instance has one row, the newest first; old ones are removed', async (t) => {
      const { instances } = await (await database.create(t)).open()
      await instances.replace(INSTANCE)
      const steps = [{ position: positionOf(4, [6]), at: after(5) }]
      const again = { ...INSTANCE, version: '1.2.4', seenAt: after(5), failing: [], steps }
      await instances.replace(again)
      const other = { ...INSTANCE, id: 'two', place: 'home-2', startedAt: after(1) }
      await instances.replace(other)
      assert.deepEqual(await instances.list(), [other, again])
      assert.equal(await instances.removeExpired(after(1), 10), 1)
      assert.deepEqual(await instances.list(), [again])
      await instances.replace({ ...other, place: again.place })
      await instances.remove('one')
      assert.deepEqual(
        (await instances.list()).map(({ id }) => id),
        ['two'],
      )
      await instances.removeAt(again.place)
      assert.deepEqual(await instances.list(), [])
    })

    test('one instance counts the live sessions of a time, and days have their highest', async (t) => {
      const { sessionSamples } = await (await database.create(t)).open()
      const midnight = instant(NOON - (NOON % days(1)))
      const at = (days: number, quarters: number) =>
        instant(midnight + days * 86_400_000 + quarters * 900_000)
      const samples = [
        { at: at(0, 0), oidc: 3, legacy: 1 },
        { at: at(0, 95), oidc: 5, legacy: 4 },
        { at: at(1, 0), oidc: 2, legacy: 0 },
      ]
      for (const sample of samples) await sessionSamples.insert(sample)
      await sessionSamples.insert({ at: at(0, 0), oidc: 99, legacy: 99 })
      assert.equal(await sessionSamples.has(at(0, 0)), true)
      assert.equal(await sessionSamples.has(at(0, 1)), false)
      assert.deepEqual(await sessionSamples.list(at(0, 1)), samples.slice(1))
      assert.deepEqual(await sessionSamples.listHighest(at(0, 0)), [
        { from: at(0, 0), highest: 9 },
        { from: at(1, 0), highest: 2 },
      ])
      assert.equal(await sessionSamples.removeExpired(at(1, 0), 10), 2)
      assert.deepEqual(await sessionSamples.list(at(0, 0)), samples.slice(2))
    })

    test('events are counted by type and time, and repeats count each', async (t) => {
      const { events, statistics } = await (await database.create(t)).open()
      const failed = {
        type: 'login.failed',
        reason: 'wrong-password',
        identityId: undefined,
        details: { method: 'password' },
        caller: undefined,
      } as const
      const removed = {
        type: 'mfa.removed',
        identityId: 'i' as IdentityId,
        caller: undefined,
        details: {},
      } as const
      for (const [id, at] of [
        ['a', NOON],
        ['b', after(9)],
        ['too late', after(10)],
      ] as const) {
        await events.insert({ ...removed, id: id as never, at })
      }
      const { type } = removed
      for (const id of ['c', 'd', 'e']) {
        const fold = { key: 'same' }
        await events.insert({ ...failed, id: id as never, at: NOON, fold })
      }
      const counts = await statistics.countEvents([type, 'login.failed'], NOON, after(10))
      assert.equal(counts.get('login.failed'), 3)
      assert.equal(counts.get(type), 2)
      assert.equal((await statistics.countEvents(['login.locked'], NOON, after(10))).size, 0)
    })

    test('live sessions are counted by what they have proven', async (t) => {
      const { apiSessions, statistics } = await (await database.create(t)).open()
      const live = { expiresAt: after(10) }
      await apiSessions.insert(aSession({ ...live, id: sessionId('a'), amr: ['pwd'] }))
      await apiSessions.insert(aLegacySession({ ...live, id: sessionId('b'), amr: ['pwd', 'otp'] }))
      await apiSessions.insert(aSession({ ...live, id: sessionId('c'), amr: ['pwd'] }))
      await apiSessions.insert(aSession({ id: sessionId('d'), expiresAt: NOON, amr: ['swk'] }))
      const counts = await statistics.countSessionsByProof(NOON)
      assert.deepEqual(
        counts.toSorted((a, b) => b.sessions - a.sessions),
        [
          { kind: 'oidc', amr: ['pwd'], sessions: 2 },
          { kind: 'legacy', amr: ['pwd', 'otp'], sessions: 1 },
        ],
      )
    })

    test('enrolled certificates are listed by their end, which follows a renewal', async (t) => {
      const store = await (await database.create(t)).open()
      const { statistics } = store
      await store.authPolicies.insert(aPolicy())
      const identity = anIdentity({ authPolicyId: aPolicy().id })
      await store.identities.insert(identity)
      await store.authenticators.insert(anAuthenticator({ identityId: identity.id }))
      const { fingerprint, pem: certPem } = leaf
      const certificate = aCertAuthenticator({ identityId: identity.id, certPem, fingerprint })
      await store.authenticators.insert(certificate)
      const from = (await statistics.listCertificateEnds(NOON_OF_OPENSSL, 10))[0]
      assert.ok(from !== undefined)
      assert.deepEqual(
        { ...from, endsAt: 0 },
        {
          id: certificate.id,
          identity: { id: identity.id, name: identity.name },
          endsAt: 0,
        },
      )
      assert.equal(await statistics.countCertificateEnds(NOON_OF_OPENSSL, from.endsAt), 0)
      const renewal = { certPem: later.pem, fingerprint: later.fingerprint }
      const { certificateRenewals } = store
      await certificateRenewals.replacePending(certificate.id, fingerprint, renewal, NOON)
      await certificateRenewals.takePending(certificate.id, later.fingerprint, NOON)
      const [renewed] = await statistics.listCertificateEnds(NOON_OF_OPENSSL, 10)
      assert.ok(renewed !== undefined && renewed.endsAt > from.endsAt)
      assert.deepEqual(await statistics.listCertificateEnds(after(1e12), 10), [])
    })

    test('locked passwords are counted', async (t) => {
      const store = await (await database.create(t)).open()
      assert.equal(await store.statistics.countLocked(NOON), 0)
      await store.authPolicies.insert(aPolicy())
      for (const name of ['a', 'b']) {
        const id = `identity-${name}` as IdentityId
        await store.identities.insert(
          anIdentity({ id, name, externalId: name, authPolicyId: aPolicy().id }),
        )
        await store.authenticators.insert(
          anAuthenticator({ id: name as AuthenticatorId, identityId: id, username: name }),
        )
      }
      const rule = {
        maxAttempts: 1,
        ceiling: 100,
        lockUntil: () => after(60),
        keepNetwork: days(1),
        keepDevice: days(1),
      }
      const origin = { network: '192.0.2.0/24', device: undefined }
      await store.passwordFailures.add('a' as AuthenticatorId, origin, rule, NOON)
      assert.equal(await store.statistics.countLocked(NOON), 1)
      assert.equal(await store.statistics.countLocked(after(60)), 0)
    })
  })
}
