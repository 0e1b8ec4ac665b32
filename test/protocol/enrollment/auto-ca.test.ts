/**
 * Enrolling with nothing but a certificate of a third-party CA: POST /enroll/ca makes the identity, by the settings of
 * the CA and by nothing else. API 3.2, 4.6; D-131. And the JWT that tells where: GET /cas/{id}/jwt, D-132.
 */
import assert from 'node:assert/strict'
import type { X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import { connect } from 'node:tls'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { days } from '../../../src/base/time/duration.ts'
import { eventsOf } from '../../support/audit.ts'
import {
  certificateLogin,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import {
  LEAF_EXTENSIONS,
  type MadeCertificate,
  openOpenssl,
} from '../../support/certificates/openssl.ts'
import { ownIssuingCa } from '../../support/certificates/own-pki.ts'
import { CLIENT, whoLogsIn } from '../../support/certificates/renewal.ts'
import type { Reply } from '../../support/http-client.ts'
import { administrate, assertRefused, MANAGEMENT } from '../../support/management.ts'
import { type Service, startService } from '../../support/service.ts'
import { migratedDatabase } from '../../support/stores/migrated-database.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const AUTO = { isAutoCaEnrollmentEnabled: true }

function enroll(service: Service, leaf: MadeCertificate, ...others: readonly MadeCertificate[]) {
  return presenting(service, leaf, ...others).call(`${CLIENT}/enroll/ca`, { method: 'POST' })
}

function idOf(reply: Reply): string {
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(Object.keys(reply.json().data), ['id'])
  return reply.json().data.id
}

test('a certificate of the CA makes its own identity, with what the CA gives and no more', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await makeCa()
  const identityRoles = ['sensors', 'site-7']
  const caId = await registerCa(admin, openssl, ca, { ...AUTO, name: 'Plant', identityRoles })
  const leaf = await makeLeaf(ca, { subject: '/O=Example/CN=sensor 12' })
  const reply = await enroll(service, leaf)
  const id = idOf(reply)

  await t.test('the identity has the name and the roles of the settings', async () => {
    const identity = await admin.get(`/identities/${id}`)
    assert.equal(identity.name, 'Plant-sensor 12')
    assert.deepEqual(identity.roleAttributes, identityRoles)
    assert.equal(identity.isAdmin, false)
    assert.equal(identity.type, 'Default')
    assert.equal(identity.authPolicyId, 'default')
    assert.equal(identity.externalId, null)
  })

  await t.test('it logs in with that certificate', async () => {
    assert.equal(await whoLogsIn(service, leaf), id)
  })

  await t.test('events tell of both', async () => {
    const events = await eventsOf(service, reply)
    assert.deepEqual(
      events.map(({ type, identityId }) => [type, identityId]),
      [
        ['identity.created', id],
        ['authenticator.created', id],
      ],
    )
  })

  await t.test('the same certificate enrolls once, also of many at once', async () => {
    assertRefused(await enroll(service, leaf), 409, 'CERT_IN_USE')
    const twin = await makeLeaf(ca, { subject: '/CN=twin' })
    const replies = await Promise.all(Array.from({ length: 8 }, () => enroll(service, twin)))
    const codes = replies.map((one) => (one.status === 200 ? 'done' : one.json().error.code))
    assert.deepEqual(codes.toSorted(), [...Array(7).fill('CERT_IN_USE'), 'done'])
    const { meta } = (
      await admin.call('GET', `/identities?filter=${encodeURIComponent('name contains "twin"')}`)
    ).json()
    assert.equal(meta.pagination.totalCount, 1)
  })

  await t.test('D-131: if the name is taken, the id makes it unique', async () => {
    const second = idOf(await enroll(service, await makeLeaf(ca, { subject: '/CN=sensor 12' })))
    const { name } = await admin.get(`/identities/${second}`)
    assert.equal(name, `Plant-sensor 12-${second}`)
  })

  await t.test('also by the general address, and whatever the body says is not read', async () => {
    const other = await makeLeaf(ca, { subject: '/CN=other' })
    const path = `${CLIENT}/enroll?method=ca`
    // Attack: whoever enrolls asks for more than the CA gives.
    const json = {
      isAdmin: true,
      name: 'admin',
      roleAttributes: ['all'],
      token: 'x',
      type: 'Router',
    }
    const made = idOf(await presenting(service, other).call(path, { json }))
    const identity = await admin.get(`/identities/${made}`)
    assert.equal(identity.name, 'Plant-other')
    assert.equal(identity.isAdmin, false)
    assert.equal(identity.type, 'Default')
    assert.deepEqual(identity.roleAttributes, identityRoles)
  })

  await t.test('a deleted CA enrolls no certificates', async () => {
    await admin.act('DELETE', `/cas/${caId}`)
    const reply = await enroll(service, await makeLeaf(ca))
    assertRefused(reply, 400, 'CERT_FAILED_VALIDATION')
  })
})

test('the name follows the format, and the certificate gives text and nothing else', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const cases: readonly (readonly [string, string, (ids: Ids) => string])[] = [
    ['[caId]/[identityId]', '/CN=x', ({ caId, id }) => `${caId}/${id}`],
    ['[commonName] of [caName]', '/CN=pump', ({ caName }) => `pump of ${caName}`],
    ['[commonName]', '/CN=[caId][identityId]', () => '[caId][identityId]'],
    ['[commonName]', '/CN=admin', ({ id }) => `admin-${id}`],
    ['[commonName]', '/O=No common name', ({ id }) => id],
    ['[other]-[commonName]', '/CN= a ', () => '[other]- a'],
  ]
  for (const [i, [identityNameFormat, subject, expected]] of cases.entries()) {
    await t.test(`${identityNameFormat} with ${subject}`, async () => {
      const ca = await makeCa({ subject: `/CN=CA ${i}` })
      const caName = `ca ${i}`
      const caId = await registerCa(admin, openssl, ca, {
        ...AUTO,
        name: caName,
        identityNameFormat,
      })
      const id = idOf(await enroll(service, await makeLeaf(ca, { subject })))
      const { name } = await admin.get(`/identities/${id}`)
      assert.equal(name, expected({ id, caId, caName }))
    })
  }
})

interface Ids {
  readonly id: string
  readonly caId: string
  readonly caName: string
}

test('the claim of the CA sets the external id', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await makeCa()
  const externalIdClaim = {
    location: 'SAN_EMAIL',
    matcher: 'SUFFIX',
    matcherCriteria: '@example.com',
  }
  await registerCa(admin, openssl, ca, { ...AUTO, externalIdClaim })
  const withEmail = (email: string) =>
    makeLeaf(ca, { extensions: [...LEAF_EXTENSIONS, `subjectAltName=email:${email}`] })

  const first = await withEmail('ada@example.com')
  const id = idOf(await enroll(service, first))
  assert.equal((await admin.get(`/identities/${id}`)).externalId, 'ada')
  assert.equal(await whoLogsIn(service, first), id)

  // Another certificate of the same person is his already, by the claim; it does not make a second one.
  const second = await withEmail('ada@example.com')
  assertRefused(await enroll(service, second), 409, 'ENTITY_NAME_IN_USE', 'externalId')
  assert.equal(await whoLogsIn(service, second), id)

  for (const leaf of [await withEmail('ada@elsewhere.example'), await makeLeaf(ca)]) {
    const reply = await enroll(service, leaf)
    assertRefused(reply, 400, 'CERT_FAILED_VALIDATION')
    assert.equal((await eventsOf(service, reply))[0]?.reason, 'external-id-missing')
  }
})

test('R095: certificates that cannot enroll', async (t) => {
  const service = await startService(t, { config: { edge: { limits: { failuresPerAddress: 0 } } } })
  const admin = await administrate(service)
  const good = await makeCa({ subject: '/CN=Good' })
  await registerCa(admin, openssl, good, AUTO)
  const loginsOnly = await makeCa({ subject: '/CN=Logins only' })
  await registerCa(admin, openssl, loginsOnly, { isOttCaEnrollmentEnabled: true })
  const unverified = await makeCa({ subject: '/CN=Unverified' })
  await admin.createCa({ ...AUTO, certPem: unverified.pem })
  const below = await makeCa({ subject: '/CN=Below the good one', issuer: good })
  await registerCa(admin, openssl, below)
  const holder = await makeLeaf(good)

  const cases: Readonly<
    Record<string, readonly [string, () => Promise<readonly MadeCertificate[]>]>
  > = {
    'a CA that nobody knows': [
      'certificate-untrusted',
      async () => [await makeLeaf(await makeCa())],
    ],
    'a CA without auto enrollment': ['ca-disabled', async () => [await makeLeaf(loginsOnly)]],
    'a CA that is not verified': ['ca-unverified', async () => [await makeLeaf(unverified)]],
    'a CA below, which is not enabled itself': [
      'ca-disabled',
      async () => [await makeLeaf(below), below],
    ],
    'our own PKI': [
      'certificate-untrusted',
      async () => [await makeLeaf(await ownIssuingCa(service))],
    ],
    'somebody with a certificate of the CA': [
      'certificate-untrusted',
      async () => [await makeLeaf(holder), holder],
    ],
    'last year': [
      'certificate-expired',
      async () => [await makeLeaf(good, { notBefore: days(-9), notAfter: days(-1) })],
    ],
    'the CA itself': ['certificate-is-ca', async () => [good]],
  }
  for (const [who, [reason, make]] of Object.entries(cases)) {
    await t.test(`a certificate of ${who}`, async () => {
      const [leaf, ...others] = await make()
      assert.ok(leaf)
      const reply = await enroll(service, leaf, ...others)
      assertRefused(reply, 400, 'CERT_FAILED_VALIDATION')
      const [event] = await eventsOf(service, reply)
      assert.equal(event?.type, 'enrollment.refused')
      assert.equal(event.reason, reason)
      assert.equal(event.details.method, 'ca')
    })
  }

  await t.test('nobody at all', async () => {
    const reply = await service.call(`${CLIENT}/enroll/ca`, { method: 'POST' })
    assertRefused(reply, 400, 'CERT_FAILED_VALIDATION', 'certificate')
  })

  await t.test(
    'a CA that may enroll and not log in: its certificate enrolls and waits',
    async () => {
      const ca = await makeCa({ subject: '/CN=Enrolls only' })
      await registerCa(admin, openssl, ca, { ...AUTO, isAuthEnabled: false })
      const leaf = await makeLeaf(ca)
      idOf(await enroll(service, leaf))
      assertRefused(await certificateLogin(presenting(service, leaf)), 401, 'INVALID_AUTH')
    },
  )
})

test('on PostgreSQL one certificate creates one identity, even with concurrent calls', async (t) => {
  const db = await migratedDatabase()
  const service = await startService(t, { config: { db } })
  const admin = await administrate(service)
  const ca = await makeCa()
  await registerCa(admin, openssl, ca, { ...AUTO, identityNameFormat: 'same name' })
  const [one, other] = [await makeLeaf(ca), await makeLeaf(ca)]
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, i) => enroll(service, i % 2 === 0 ? one : other)),
  )
  const codes = replies.map((reply) => (reply.status === 200 ? 'done' : reply.json().error.code))
  assert.deepEqual(codes.toSorted(), [...Array(10).fill('CERT_IN_USE'), 'done', 'done'])
  const { meta } = (
    await admin.call('GET', `/identities?filter=${encodeURIComponent('name contains "same name"')}`)
  ).json()
  assert.equal(meta.pagination.totalCount, 2)
})

test('D-132: the JWT of a CA says where to enroll, and authenticates the server', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const ca = await makeCa()
  const id = await admin.createCa({ ...AUTO, certPem: ca.pem })
  const path = `/cas/${id}/jwt`
  assertRefused(await admin.call('GET', path), 400, 'COULD_NOT_VALIDATE', 'isVerified')
  assertRefused(await admin.call('GET', '/cas/nothing/jwt'), 404, 'NOT_FOUND')

  const other = await makeCa()
  const caId = await registerCa(admin, openssl, other, AUTO)
  const reply = await admin.call('GET', `/cas/${caId}/jwt`)
  assert.equal(reply.status, 200, reply.text)
  assert.equal(reply.headers['content-type'], 'application/jwt')
  const shown = await certificateOf(service)
  const { payload } = await jwtVerify(reply.text, shown.publicKey)
  assert.deepEqual(payload, { em: 'ca', iss: service.baseUrl, sub: caId })
  assert.equal(decodeProtectedHeader(reply.text).typ, 'JWT')

  const closed = await makeCa()
  const closedId = await registerCa(admin, openssl, closed)
  assertRefused(
    await admin.call('GET', `/cas/${closedId}/jwt`),
    400,
    'COULD_NOT_VALIDATE',
    'isAutoCaEnrollmentEnabled',
  )
  const anonymous = await service.call(`${MANAGEMENT}/cas/${caId}/jwt`)
  assertRefused(anonymous, 401, 'UNAUTHORIZED')
})

/** What the server shows to anybody. */
function certificateOf({ baseUrl }: Service): Promise<X509Certificate> {
  const { hostname, port } = new URL(baseUrl)
  return new Promise((resolve, reject) => {
    const socket = connect(
      { host: hostname, port: Number(port), rejectUnauthorized: false },
      () => {
        const certificate = socket.getPeerX509Certificate()
        socket.destroy()
        if (certificate === undefined) reject(new Error('no certificate'))
        else resolve(certificate)
      },
    )
    socket.on('error', reject)
  })
}
