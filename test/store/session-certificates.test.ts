/**
 * Session certificates on every database: each belongs to one session, live ones are counted, and however many are
 * asked for at once, there are never more than may be. D-40, D-41, R099, R100.
 */
import assert from 'node:assert/strict'
import { after as afterAll, suite, type TestContext, test } from 'node:test'
import type { ApiSessionId, SessionCertificateId } from '../../src/base/ids.ts'
import type { SessionCertificate } from '../../src/domain/certificates/session/session-certificate.ts'
import { issueSessionCertificate } from '../../src/domain/sessions/session-certificates.ts'
import type { Store } from '../../src/domain/stores.ts'
import { makeCsr } from '../support/certificates/csr.ts'
import { callOf, sessionCertificatesOn } from '../support/certificates/session-certificates.ts'
import { CALLER } from '../support/people.ts'
import { startPostgres } from '../support/stores/postgres.ts'
import { ALL, openTwo } from './databases.ts'
import { after, anIdentity, aPrimary, aSession, NOON, sessionId } from './samples.ts'

afterAll(async () => (await startPostgres()).stop())

const MINE = sessionId('session-1')
const THEIRS = sessionId('session-2')
/** A login that the rules of the test still accept (D-225). */
const BY_PASSWORD = aPrimary({ method: 'password', certificate: undefined, signerId: undefined })
const PAGE = { limit: 500, offset: 0 }
const certificateId = (text: string) => text as SessionCertificateId

function aCertificate(given: Partial<SessionCertificate> = {}): SessionCertificate {
  const { id = certificateId('certificate-1') } = given
  return {
    id,
    sessionId: MINE,
    identityId: anIdentity().id,
    subject: "CN=Zoë O'Neil 🔑",
    fingerprint: `fingerprint of ${id}`,
    certificatePem: '-----BEGIN CERTIFICATE-----\nZoë\n-----END CERTIFICATE-----\n',
    validFrom: after(-60_000),
    validTo: after(43_200_000),
    createdAt: NOON,
    ...given,
  }
}

for (const database of ALL) {
  suite(database.name, () => {
    const open = async (t: TestContext): Promise<Store> => (await database.create(t)).open()

    test('a certificate comes back as it was stored, to its own session', async (t) => {
      const { sessionCertificates } = await open(t)
      await sessionCertificates.insert(aCertificate())
      assert.deepEqual(await sessionCertificates.find(aCertificate().id, MINE), aCertificate())
    })

    test('the valid ones of several sessions are listed, newest first', async (t) => {
      const { sessionCertificates } = await open(t)
      const named = (name: string, given: Partial<SessionCertificate> = {}) =>
        sessionCertificates.insert(
          aCertificate({ id: certificateId(name), fingerprint: name, ...given }),
        )
      await named('old', { createdAt: after(-1) })
      await named('expired', { validTo: NOON })
      await named('new', { sessionId: THEIRS, createdAt: after(1) })
      await named('foreign', { sessionId: sessionId('another') })
      const listed = async (sessions: readonly ApiSessionId[], limit: number) =>
        (await sessionCertificates.listLive(sessions, NOON, limit)).map(({ id }) => id)
      assert.deepEqual(await listed([MINE, THEIRS], 10), ['new', 'old'])
      assert.deepEqual(await listed([MINE, THEIRS], 1), ['new'])
      assert.deepEqual(await listed([], 10), [])
      assert.equal((await sessionCertificates.findByFingerprint('new'))?.id, 'new')
      for (const odd of ['a\0', '\ud800']) {
        assert.equal(await sessionCertificates.findByFingerprint(odd), undefined)
      }
    })

    test('R100: no session finds or removes what is not its own', async (t) => {
      const { sessionCertificates } = await open(t)
      await sessionCertificates.insert(aCertificate())
      const { id } = aCertificate()
      for (const stranger of [THEIRS, sessionId(''), sessionId('%')]) {
        assert.equal(await sessionCertificates.find(id, stranger), undefined)
        assert.equal(await sessionCertificates.remove(id, stranger), false)
        assert.deepEqual(await sessionCertificates.list(stranger, PAGE), {
          rows: [],
          totalCount: 0,
        })
      }
      for (const odd of ['', 'another', 'certificate-1\u0000', '\ud800', '%'].map(certificateId)) {
        assert.equal(await sessionCertificates.find(odd, MINE), undefined)
        assert.equal(await sessionCertificates.remove(odd, MINE), false)
      }
      assert.deepEqual(await sessionCertificates.find(id, MINE), aCertificate())
    })

    test('two certificates have neither the same id nor the same fingerprint', async (t) => {
      const { sessionCertificates } = await open(t)
      await sessionCertificates.insert(aCertificate())
      const { fingerprint } = aCertificate()
      for (const twin of [
        aCertificate({ sessionId: THEIRS, fingerprint: 'another' }),
        aCertificate({ id: certificateId('certificate-2'), fingerprint }),
      ]) {
        await assert.rejects(sessionCertificates.insert(twin), /unique/i)
      }
    })

    test('they are listed oldest first, a page at a time, with how many there are', async (t) => {
      const { sessionCertificates } = await open(t)
      const made = [3, 1, 2, 0].map((i) =>
        aCertificate({ id: certificateId(`certificate-${i}`), createdAt: after(i) }),
      )
      // Of one moment: by their id, so that pages neither repeat nor leave out.
      made.push(aCertificate({ id: certificateId('certificate-0b'), createdAt: after(0) }))
      for (const one of made) await sessionCertificates.insert(one)
      await sessionCertificates.insert(
        aCertificate({ id: certificateId('theirs'), sessionId: THEIRS }),
      )
      const page = async (limit: number, offset: number) => {
        const { rows, totalCount } = await sessionCertificates.list(MINE, { limit, offset })
        assert.equal(totalCount, 5)
        return rows.map(({ id }) => id.replace('certificate-', ''))
      }
      assert.deepEqual(await page(500, 0), ['0', '0b', '1', '2', '3'])
      assert.deepEqual(await page(2, 1), ['0b', '1'])
      assert.deepEqual(await page(2, 4), ['3'])
      assert.deepEqual(await page(2, 5), [])
    })

    test('those that end at this moment, or ended before, are not counted', async (t) => {
      const { sessionCertificates } = await open(t)
      for (const i of [1, 2, 3]) {
        const id = certificateId(`certificate-${i}`)
        await sessionCertificates.insert(aCertificate({ id, validTo: after(i) }))
      }
      const counts = [0, 1, 2, 3].map((i) => sessionCertificates.countLive(MINE, after(i)))
      assert.deepEqual(await Promise.all(counts), [3, 2, 1, 0])
      assert.equal(await sessionCertificates.countLive(THEIRS, after(0)), 0)
    })

    test('of twenty that remove one certificate, one does', async (t) => {
      const stores = await openTwo(await database.create(t))
      await stores[0].sessionCertificates.insert(aCertificate())
      const removed = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          stores[i % 2 ? 0 : 1].sessionCertificates.remove(aCertificate().id, MINE),
        ),
      )
      assert.equal(removed.filter(Boolean).length, 1)
    })

    test('all of a session are removed with it, and no others', async (t) => {
      const { sessionCertificates } = await open(t)
      const theirs = aCertificate({ id: certificateId('theirs'), sessionId: THEIRS })
      await sessionCertificates.insert(aCertificate())
      await sessionCertificates.insert(aCertificate({ id: certificateId('certificate-2') }))
      await sessionCertificates.insert(theirs)
      await sessionCertificates.removeOf(MINE)
      assert.equal((await sessionCertificates.list(MINE, PAGE)).totalCount, 0)
      assert.deepEqual((await sessionCertificates.list(THEIRS, PAGE)).rows, [theirs])
    })

    test('what has expired is removed a little at a time, oldest first', async (t) => {
      const { sessionCertificates } = await open(t)
      for (const i of [2, 3, 1, 4, 0]) {
        const id = certificateId(`certificate-${i}`)
        await sessionCertificates.insert(
          aCertificate({ id, validTo: after(i), createdAt: after(i) }),
        )
      }
      const left = async () =>
        (await sessionCertificates.list(MINE, PAGE)).rows.map(({ validTo }) => validTo - NOON)
      assert.equal(await sessionCertificates.removeExpired(after(3), 2), 2)
      assert.deepEqual(await left(), [2, 3, 4])
      assert.equal(await sessionCertificates.removeExpired(after(3), 2), 1)
      assert.equal(await sessionCertificates.removeExpired(after(3), 2), 0)
      assert.deepEqual(await left(), [3, 4])
    })

    test('R099: 60 issues at once for a session that has 90, on two connections, leave exactly 100', async (t) => {
      // Attack: all of them count before one of them is written.
      const stores = await openTwo(await database.create(t))
      const clock = { now: () => NOON, uptime: () => 0 as never }
      const session = aSession({ id: MINE, primary: BY_PASSWORD })
      await stores[0].apiSessions.insert(session)
      const first = await sessionCertificatesOn(stores[0], clock)
      const second = await sessionCertificatesOn(stores[1], clock, first)
      const { pem } = await makeCsr()
      for (let i = 0; i < 90; i++) {
        const id = certificateId(`certificate-${i}`)
        await stores[0].sessionCertificates.insert(aCertificate({ id }))
      }
      const outcomes = await Promise.allSettled(
        Array.from({ length: 60 }, (_, i) =>
          issueSessionCertificate((i % 2 ? first : second).ports, callOf(session), pem, CALLER),
        ),
      )
      const refused = outcomes.flatMap((one) =>
        one.status === 'rejected' ? [one.reason.code ?? one.reason] : [],
      )
      assert.deepEqual(refused, Array(50).fill('TOO_MANY_CERTIFICATES'))
      assert.equal(await stores[0].sessionCertificates.countLive(MINE, NOON), 100)
    })

    test('R101: a session that ends while certificates are issued leaves none behind', async (t) => {
      // Attack: a certificate that is written after those of the ended session were removed would be live for ever.
      const stores = await openTwo(await database.create(t))
      const clock = { now: () => NOON, uptime: () => 0 as never }
      const session = aSession({ id: MINE, primary: BY_PASSWORD })
      await stores[0].apiSessions.insert(session)
      const first = await sessionCertificatesOn(stores[0], clock)
      const { pem } = await makeCsr()
      const issues = Array.from({ length: 30 }, () =>
        issueSessionCertificate(first.ports, callOf(session), pem, CALLER),
      )
      const settled = Promise.allSettled(issues)
      await issues[0]
      await stores[1].transaction(async (tx) => {
        await tx.apiSessions.remove(MINE)
        await tx.sessionCertificates.removeOf(MINE)
      })
      const outcomes = await settled
      assert.equal(await stores[0].sessionCertificates.countLive(MINE, NOON), 0)
      for (const one of outcomes) {
        if (one.status === 'rejected') assert.equal(one.reason.code, 'UNAUTHORIZED')
      }
    })
  })
}
