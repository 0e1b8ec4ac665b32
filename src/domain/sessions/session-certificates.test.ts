/**
 * Issuing, listing and removing session certificates: how long they live, how many there may be, and whose they are.
 * SPEC API Session Certificates; D-40, D-41, R098 – R100.
 */
import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'
import { makeCsr } from '../../../test/support/certificates/csr.ts'
import {
  blocksOf,
  callOf,
  sessionCertificatesOn,
  validityOf,
} from '../../../test/support/certificates/session-certificates.ts'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import {
  aLegacySession,
  anOidcSession,
  CALLER,
  refusalOf,
  wordsOf,
} from '../../../test/support/people.ts'
import type { ApiSessionId } from '../../base/ids.ts'
import { type Duration, hours, milliseconds, minutes, seconds } from '../../base/time/duration.ts'
import { type Instant, plus } from '../../base/time/instant.ts'
import { openStore } from '../../store/open.ts'
import { MOST_LIVE_CERTIFICATES } from '../certificates/session/session-certificate.ts'
import type { ApiSession } from './api-session.ts'
import {
  findSessionCertificate,
  issueSessionCertificate,
  listSessionCertificates,
  removeSessionCertificate,
} from './session-certificates.ts'

const { pem: CSR } = await makeCsr({ subject: '/C=CH/O=Example, Inc./CN=laptop \\+ "7" ' })
const ALL = { limit: 500, offset: 0 }

/** Longer than any certificate, unless a test says otherwise. */
const OFFLINE = anOidcSession({
  scopes: ['openid', 'offline_access'],
  expiresAt: plus(NOON, hours(24)),
})
const OTHER = { ...OFFLINE, id: 'session-2' as ApiSessionId }

async function world(t: TestContext, options: { readonly duration?: Duration } = {}) {
  const store = await openStore({ kind: 'sqlite', path: ':memory:' })
  t.after(() => store.close())
  const clock = new ManualClock()
  const made = await sessionCertificatesOn(store, clock, options)
  const issue = (session: ApiSession, expiresAt: Instant = session.expiresAt) =>
    issueSessionCertificate(made.ports, callOf(session, { expiresAt }), CSR, CALLER)
  return { ...made, store, clock, issue }
}

async function worldWith(t: TestContext, ...sessions: readonly ApiSession[]) {
  const all = await world(t)
  for (const session of sessions) await all.store.apiSessions.insert(session)
  return all
}

suite('the life of a certificate', () => {
  for (const [what, session, credential, end] of [
    ['twelve hours', OFFLINE, minutes(30), hours(12)],
    [
      'the absolute end of its session',
      { ...OFFLINE, endsAt: plus(NOON, hours(3)) },
      hours(1),
      hours(3),
    ],
    ['the access token, where there is no refresh', anOidcSession(), minutes(20), minutes(20)],
    [
      'the absolute end, where the access token lives longer',
      anOidcSession({ endsAt: plus(NOON, minutes(5)) }),
      minutes(20),
      minutes(5),
    ],
    [
      'twelve hours, whatever the idle end of a legacy session is',
      aLegacySession(),
      minutes(30),
      hours(12),
    ],
    [
      'the absolute end of a legacy session',
      aLegacySession({ endsAt: plus(NOON, hours(2)) }),
      minutes(30),
      hours(2),
    ],
  ] as const) {
    test(`D-40, R098: it lasts to ${what}, and begins a minute ago`, async (t) => {
      const { issue } = await worldWith(t, session)
      const certificate = await issue(session, plus(NOON, credential))
      const expected = [NOON - minutes(1), plus(NOON, end)]
      assert.deepEqual(validityOf(certificate.certificatePem), expected)
      assert.deepEqual([certificate.validFrom, certificate.validTo], expected)
    })
  }

  test('D-40: it lasts as long as is configured', async (t) => {
    const { store, issue } = await world(t, { duration: minutes(7) })
    await store.apiSessions.insert(OFFLINE)
    const { certificatePem } = await issue(OFFLINE)
    assert.equal(validityOf(certificatePem)[1], plus(NOON, minutes(7)))
  })

  test('what is said about it is what stands in it, to the second, and never more', async (t) => {
    const { clock, issue } = await worldWith(t, OFFLINE)
    clock.pass(milliseconds(999))
    const { certificatePem, validFrom, validTo } = await issue(OFFLINE)
    assert.deepEqual(validityOf(certificatePem), [validFrom, validTo])
    assert.equal(validTo, plus(NOON, hours(12)), 'not rounded up')
  })
})

test('D-41: a certificate is stored with what users ask about, and comes back the same', async (t) => {
  const { ports, authorities, issue } = await worldWith(t, OFFLINE)
  const certificate = await issue(OFFLINE)
  const [leaf = '', ...chain] = blocksOf(certificate.certificatePem)
  assert.deepEqual(chain, [authorities.issuingPem], 'leaf, then intermediates, no root')
  const { raw, serialNumber, subjectAltName } = new X509Certificate(leaf)
  assert.equal(certificate.fingerprint, createHash('sha256').update(raw).digest('hex'))
  assert.ok(serialNumber.length > 24, 'R098: random, of 128 bits')
  assert.equal(
    subjectAltName,
    `URI:spiffe://latchkey/identity/${OFFLINE.identityId}/apiSession/${OFFLINE.id}/apiSessionCertificate/${certificate.id}`,
  )
  // RFC 4514 §2.4: what would part the text is escaped.
  assert.equal(certificate.subject, 'C=CH,O=Example\\, Inc.,CN=laptop \\+ \\"7\\"\\ ')
  assert.deepEqual(
    await findSessionCertificate(ports, callOf(OFFLINE), certificate.id),
    certificate,
  )
  assert.deepEqual(await listSessionCertificates(ports, callOf(OFFLINE), ALL), {
    rows: [certificate],
    totalCount: 1,
  })
  assert.equal(
    ports.authorities.caBundlePem,
    `${authorities.anchorPems[0]}${authorities.issuingPem}`,
  )
})

test('R098: two certificates of one request differ in serial and name', async (t) => {
  const { issue } = await worldWith(t, OFFLINE)
  const [one, other] = [await issue(OFFLINE), await issue(OFFLINE)]
  const serial = (pem: string) => new X509Certificate(pem).serialNumber
  assert.notEqual(serial(one.certificatePem), serial(other.certificatePem))
  assert.notEqual(one.id, other.id)
})

test('D-40: a bad request is refused by its fault, and nothing is issued', async (t) => {
  const { ports } = await worldWith(t, OFFLINE)
  const refusal = await refusalOf(
    issueSessionCertificate(ports, callOf(OFFLINE), 'garbage', CALLER),
  )
  assert.equal(refusal.code, 'COULD_NOT_PROCESS_CSR')
  assert.deepEqual(refusal.field, {
    field: 'csr',
    reason: 'is not one PEM block CERTIFICATE REQUEST',
  })
  assert.equal((await listSessionCertificates(ports, callOf(OFFLINE), ALL)).totalCount, 0)
})

test('D-35: a session that ended a moment ago gets none, and the error of its kind', async (t) => {
  const { issue } = await world(t)
  const bearer =
    'Bearer realm="service-oidc", error="invalid", error_description="token is invalid"'
  const legacy =
    'zt-session realm="zt-session", error="invalid", error_description="token is invalid"'
  assert.equal(wordsOf(await refusalOf(issue(OFFLINE))), `UNAUTHORIZED: ${bearer}`)
  assert.equal(wordsOf(await refusalOf(issue(aLegacySession()))), `UNAUTHORIZED: ${legacy}`)
})

suite('R099: at most 100 live certificates a session', () => {
  async function full(t: TestContext) {
    const all = await worldWith(t, OFFLINE, OTHER)
    const issued = []
    for (let i = 0; i < MOST_LIVE_CERTIFICATES; i++) issued.push(await all.issue(OFFLINE))
    return { ...all, issued }
  }

  test('the 101st is refused, and another session is not affected', async (t) => {
    assert.equal(MOST_LIVE_CERTIFICATES, 100)
    const { issue } = await full(t)
    assert.equal((await refusalOf(issue(OFFLINE))).code, 'TOO_MANY_CERTIFICATES')
    await issue(OTHER)
  })

  test('one may be issued again for each that is removed', async (t) => {
    const { ports, issue, issued } = await full(t)
    await removeSessionCertificate(ports, callOf(OFFLINE), issued[0]?.id ?? '', CALLER)
    await issue(OFFLINE)
    assert.equal((await refusalOf(issue(OFFLINE))).code, 'TOO_MANY_CERTIFICATES')
  })

  test('those that have expired do not count', async (t) => {
    const { clock, issue } = await full(t)
    clock.pass(milliseconds(hours(12) - 1))
    assert.equal((await refusalOf(issue(OFFLINE))).code, 'TOO_MANY_CERTIFICATES')
    clock.pass(seconds(1))
    await issue(OFFLINE)
  })

  test('150 at once are never more than 100', async (t) => {
    // Attack: all of them count before one of them is written.
    const { ports, issue } = await worldWith(t, OFFLINE)
    const outcomes = await Promise.allSettled(Array.from({ length: 150 }, () => issue(OFFLINE)))
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    assert.deepEqual(refused, Array(50).fill('TOO_MANY_CERTIFICATES'))
    assert.equal((await listSessionCertificates(ports, callOf(OFFLINE), ALL)).totalCount, 100)
  })
})

suite('R100: a session sees and removes its own certificates alone', () => {
  test('another session, also of the same identity, finds nothing and removes nothing', async (t) => {
    const { ports, issue } = await worldWith(t, OFFLINE, OTHER)
    const certificate = await issue(OFFLINE)
    const stranger = callOf(OTHER)
    assert.equal(
      (await refusalOf(findSessionCertificate(ports, stranger, certificate.id))).code,
      'NOT_FOUND',
    )
    const removing = removeSessionCertificate(ports, stranger, certificate.id, CALLER)
    assert.equal((await refusalOf(removing)).code, 'NOT_FOUND')
    assert.deepEqual(await listSessionCertificates(ports, stranger, ALL), {
      rows: [],
      totalCount: 0,
    })
    assert.deepEqual(
      await findSessionCertificate(ports, callOf(OFFLINE), certificate.id),
      certificate,
    )
  })

  test('ids that nothing has are not found, whatever they are', async (t) => {
    const { ports } = await worldWith(t, OFFLINE)
    for (const id of ['', 'nothing', '\u0000', OFFLINE.id, "' or 1=1 --", '\ud800']) {
      assert.equal(
        (await refusalOf(findSessionCertificate(ports, callOf(OFFLINE), id))).code,
        'NOT_FOUND',
      )
      const removing = removeSessionCertificate(ports, callOf(OFFLINE), id, CALLER)
      assert.equal((await refusalOf(removing)).code, 'NOT_FOUND')
    }
  })
})

suite('D-41: a removed certificate', () => {
  test('is gone, and routers are notified until it would have expired', async (t) => {
    const { ports, store, felt, issue } = await worldWith(t, OFFLINE)
    const certificate = await issue(OFFLINE)
    await removeSessionCertificate(ports, callOf(OFFLINE), certificate.id, CALLER)
    const refusal = await refusalOf(findSessionCertificate(ports, callOf(OFFLINE), certificate.id))
    assert.equal(refusal.code, 'NOT_FOUND')
    const ending = {
      subject: certificate.id,
      at: NOON,
      keepUntil: plus(certificate.validTo, minutes(15)),
    }
    const stored = await store.sessionEndings.listAfter(0)
    assert.deepEqual(
      stored.map(({ sequence, ...told }) => told),
      [ending],
    )
    assert.deepEqual(felt, stored)
  })

  test('is removed once, also by many at once', async (t) => {
    const { ports, felt, issue } = await worldWith(t, OFFLINE)
    const { id } = await issue(OFFLINE)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () =>
        removeSessionCertificate(ports, callOf(OFFLINE), id, CALLER),
      ),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
    assert.deepEqual(refused, Array(9).fill('NOT_FOUND'))
    assert.equal(felt.length, 1)
  })
})
