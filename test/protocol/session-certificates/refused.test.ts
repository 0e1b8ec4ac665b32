/**
 * Who gets no certificate, and what he hears: bad requests with their fault, sessions that are not complete, sessions
 * that have enough. D-40, D-45, R097, R099.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hours, minutes } from '../../../src/base/time/duration.ts'
import {
  csrPem,
  derOf,
  handMadeCsr,
  makeCsr,
  namePart,
  tlv,
} from '../../support/certificates/csr.ts'
import {
  CERTIFICATES,
  issueCertificate,
  type LiveSession,
  legacySession,
  oidcSession,
  requestCertificate,
} from '../../support/edge/live-session.ts'
import { totpPolicy } from '../../support/login/authenticator-app.ts'
import { MISSING } from '../../support/login/challenges.ts'
import { assertPartial, CLIENT_API } from '../../support/login/legacy.ts'
import { refreshed } from '../../support/login/refresh.ts'
import { administrate, assertRefused } from '../../support/management.ts'
import { startService } from '../../support/service.ts'
import { sql } from '../../support/stores/sql.ts'

const countOf = async (session: LiveSession) =>
  (await session.call(CERTIFICATES)).json().meta.pagination.totalCount

test('D-40: a request that cannot be used is 400 with its fault, and nothing is issued', async (t) => {
  const service = await startService(t)
  const session = await oidcSession(service)
  const { pem, keyPem } = await makeCsr()
  const changed = derOf(pem)
  changed[changed.length - 5] = (changed.at(-5) ?? 0) ^ 1
  const faults: Readonly<Record<string, string>> = {
    '': 'is not one PEM block CERTIFICATE REQUEST',
    garbage: 'is not one PEM block CERTIFICATE REQUEST',
    [keyPem]: 'is not one PEM block CERTIFICATE REQUEST',
    [pem + pem]: 'has more than one PEM block',
    [csrPem(Buffer.of(0x30, 0))]: 'is not a PKCS #10 request in DER',
    [csrPem(changed)]: 'is not signed by its own key',
    [(await makeCsr({ key: 'RSA 1024' })).pem]: 'has a key that has only 1024 bits of RSA',
    [(await makeCsr({ key: 'secp256k1' })).pem]:
      'has a key that is on a curve that is not accepted',
    [(await makeCsr({ subject: '/' })).pem]: 'has no subject',
    [handMadeCsr({ subject: namePart('CN', 'a\u0000b') })]: 'has a subject that cannot be read',
    [handMadeCsr({ rest: tlv(0xa0, Buffer.alloc(17 * 1024)) })]: 'is larger than 16 KiB',
  }
  for (const [csr, reason] of Object.entries(faults)) {
    const reply = await requestCertificate(session, csr)
    assertRefused(reply, 400, 'COULD_NOT_PROCESS_CSR', 'csr')
    assert.equal(reply.json().error.cause.reason, reason)
    assert.ok(reply.headers['expires-at'], 'D-39: errors included')
  }
  assert.equal(await countOf(session), 0)
})

test('D-45: a body that is not a request for a certificate is refused by its field', async (t) => {
  const service = await startService(t)
  const session = await oidcSession(service)
  for (const json of [{}, { csr: 7 }, { csr: null }, { csr: ['x'] }, { CSR: 'x' }]) {
    assertRefused(await session.call(CERTIFICATES, { json }), 400, 'COULD_NOT_VALIDATE', 'csr')
  }
  for (const json of ['text', 7, null, []]) {
    assertRefused(await session.call(CERTIFICATES, { json }), 400, 'COULD_NOT_VALIDATE', 'body')
  }
  assertRefused(
    await session.call(CERTIFICATES, { method: 'POST' }),
    400,
    'COULD_NOT_VALIDATE',
    'csr',
  )
  const broken = { body: '{"csr":', headers: { 'content-type': 'application/json' } }
  assertRefused(await session.call(CERTIFICATES, broken), 400, 'COULD_NOT_PARSE_BODY')
  const { pem } = await makeCsr()
  for (const type of ['text/plain', 'application/pkcs10', 'application/x-www-form-urlencoded']) {
    const options = { body: pem, headers: { 'content-type': type } }
    assertRefused(await session.call(CERTIFICATES, options), 415, 'UNSUPPORTED_MEDIA_TYPE')
  }
  const huge = { json: { csr: 'x'.repeat(1024 * 1024) } }
  assertRefused(await session.call(CERTIFICATES, huge), 413, 'REQUEST_ENTITY_TOO_LARGE')
  assert.equal(await countOf(session), 0)
})

test('R099: without a session there is no certificate, and the management API has none', async (t) => {
  const service = await startService(t)
  const { pem } = await makeCsr()
  const reply = await service.call(CERTIFICATES, { json: { csr: pem } })
  assertRefused(reply, 401, 'UNAUTHORIZED')
  assert.equal(reply.headers['www-authenticate'], MISSING)
  const session = await oidcSession(service)
  const elsewhere = CERTIFICATES.replace(CLIENT_API, '/edge/management/v1')
  assertRefused(await session.call(elsewhere, { json: { csr: pem } }), 404, 'NOT_FOUND')
})

test('R099, SPEC: a session whose login is not complete gets none, and reads none', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const policy = await totpPolicy(admin)
  const person = await admin.createIdentity({ password: 'half of a login', policy })
  const session = await legacySession(service, person)
  const { pem } = await makeCsr()
  assertPartial(await requestCertificate(session, pem), false)
  assertPartial(await session.call(CERTIFICATES), false)
  assertPartial(await session.call(`${CERTIFICATES}/anything`), false)
  assertPartial(await session.call(`${CERTIFICATES}/anything`, { method: 'DELETE' }), false)
  const [row] = await sql(service, 'select count(*) as n from session_certificates')
  assert.equal(Number(row?.['n']), 0)
})

test('R099: the 101st live certificate is 409, until one is deleted or has expired', async (t) => {
  const service = await startService(t)
  service.clock.hold()
  const session = await oidcSession(service)
  const { pem } = await makeCsr()
  const ids: string[] = []
  for (let i = 0; i < 100; i++) ids.push((await issueCertificate(session, pem)).id)
  const refused = await requestCertificate(session, pem)
  assertRefused(refused, 409, 'TOO_MANY_CERTIFICATES')
  assert.match(refused.json().error.message, /delete one first/)

  const deleted = await session.call(`${CERTIFICATES}/${ids[50]}`, { method: 'DELETE' })
  assert.equal(deleted.status, 200, deleted.text)
  await issueCertificate(session, pem)
  assertRefused(await requestCertificate(session, pem), 409, 'TOO_MANY_CERTIFICATES')

  // Another session of the same identity has its own hundred.
  await issueCertificate(await oidcSession(service), pem)

  service.clock.advance(hours(12))
  const { access_token } = await refreshed(service, session.refreshToken ?? '')
  const later = await service.call(CERTIFICATES, {
    json: { csr: pem },
    headers: { authorization: `Bearer ${access_token}` },
  })
  assert.equal(later.status, 201, later.text)
})

test('D-35: an expired access token issues nothing', async (t) => {
  const service = await startService(t)
  const session = await oidcSession(service)
  service.clock.advance(minutes(31))
  const reply = await requestCertificate(session, (await makeCsr()).pem)
  assertRefused(reply, 401, 'UNAUTHORIZED')
})
