/**
 * The renewal of an enrolled certificate by its holder: both work until the new one is confirmed, and then the old one
 * is refused everywhere. API 3.1; D-26, D-117, D-130; R093, R100.
 */
import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { days, minutes } from '../../../src/base/time/duration.ts'
import { eventsOf, failureOf } from '../../support/audit.ts'
import {
  certificateLogin,
  logInByCertificate,
  presenting,
  registerCa,
} from '../../support/certificates/certificate-login.ts'
import { makeCsr } from '../../support/certificates/csr.ts'
import { type MadeCertificate, openOpenssl } from '../../support/certificates/openssl.ts'
import {
  CLIENT,
  enrolledPerson,
  extend,
  extendVerify,
  renewal,
  whoLogsIn,
} from '../../support/certificates/renewal.ts'
import { assertVerifies, extensionsOf } from '../../support/certificates/session-certificates.ts'
import { openTunnel, pass, startRealEdge } from '../../support/edge/real-edge.ts'
import { eventually } from '../../support/eventually.ts'
import { bearer } from '../../support/login/login.ts'
import { refresh } from '../../support/login/refresh.ts'
import { administrate, assertRefused, logInAs } from '../../support/management.ts'
import { startService } from '../../support/service.ts'

const openssl = await openOpenssl()
after(() => openssl.close())

const OFFLINE = { scope: 'openid offline_access' }
const thumbprint = ({ der }: MadeCertificate) =>
  createHash('sha256').update(der).digest('base64url')
const traveller = ({ pem, keyPem }: MadeCertificate, token: string) => ({
  shown: { cert: pem, key: keyPem },
  headers: { authorization: `Bearer ${token}` },
})

test('a renewal from its beginning to its end', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const edge = await startRealEdge(t, service)
  const device = await enrolledPerson(service, admin, openssl)
  const { identityId, authenticatorId, certificate: old } = device
  const tokens = await logInByCertificate(presenting(service, old), OFFLINE)
  const token = tokens.access_token
  assert.equal(decodeJwt(token)['z_ice'], true, 'D-26: it can be renewed')

  const csr = await makeCsr({ subject: '/CN=device/O=Example' })
  const reply = await extend(presenting(service, old), token, authenticatorId, {
    clientCertCsr: csr.pem,
  })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(Object.keys(reply.json()), ['data', 'meta'])
  const { clientCert, ca } = reply.json().data
  const next: MadeCertificate = {
    subject: '',
    pem: clientCert,
    keyPem: csr.keyPem,
    der: new X509Certificate(clientCert).raw,
    fingerprint: createHash('sha256').update(new X509Certificate(clientCert).raw).digest('hex'),
  }

  await t.test('the new one has the profile of an enrolled certificate', async () => {
    assert.equal(ca, service.ca)
    await assertVerifies(clientCert, ca)
    const extensions = await extensionsOf(clientCert)
    const name = extensions['X509v3 Subject Alternative Name']
    assert.equal(name, `URI:spiffe://latchkey/identity/${identityId}`)
    const { validFromDate, validToDate } = new X509Certificate(clientCert)
    const lasts = validToDate.getTime() - validFromDate.getTime()
    assert.ok(Math.abs(lasts - days(365)) < 5 * 60_000)
  })

  await t.test('an event says who requested it, and names no key', async () => {
    const [event, ...more] = await eventsOf(service, reply)
    assert.deepEqual(more, [])
    assert.equal(event?.type, 'authenticator.renewal-started')
    assert.equal(event.identityId, identityId)
    assert.deepEqual(event.details, { id: authenticatorId, fingerprint: next.fingerprint })
  })

  await t.test('until it is confirmed both log in as the same and pass a router', async () => {
    for (const certificate of [old, next]) {
      assert.equal(await whoLogsIn(service, certificate), identityId)
      assert.equal((await pass(t, edge, traveller(certificate, token)))?.status, 200)
    }
  })

  const tunnel = await openTunnel(t, edge, traveller(old, token))
  assert.equal(tunnel.status, 101)

  await t.test('anything but the new certificate confirms nothing', async () => {
    const verify = (clientCert: unknown) =>
      extendVerify(presenting(service, old), token, authenticatorId, { clientCert })
    assertRefused(await verify(old.pem), 400, 'RENEWAL_NOT_PENDING')
    assertRefused(await verify(service.ca), 400, 'RENEWAL_NOT_PENDING')
    for (const garbage of ['', 'nothing', csr.pem, clientCert.slice(0, 100), 'x'.repeat(70_000)]) {
      assertRefused(await verify(garbage), 400, 'INVALID_CERT_PEM')
    }
    assertRefused(await verify(undefined), 400, 'COULD_NOT_VALIDATE', 'clientCert')
    assertRefused(await verify(7), 400, 'COULD_NOT_VALIDATE', 'clientCert')
    assert.equal(await whoLogsIn(service, old), identityId)
  })

  const confirmed = await extendVerify(presenting(service, old), token, authenticatorId, {
    clientCert,
  })
  assert.equal(confirmed.status, 200, confirmed.text)
  assert.deepEqual(confirmed.json(), { data: {}, meta: {} })

  await t.test('the event of the confirmation', async () => {
    const [event, ...more] = await eventsOf(service, confirmed)
    assert.deepEqual(more, [])
    assert.equal(event?.type, 'authenticator.renewed')
    assert.deepEqual(event.details, { id: authenticatorId, fingerprint: next.fingerprint })
  })

  await t.test('from then on the old one logs in nowhere, and the new one does', async () => {
    const refused = await certificateLogin(presenting(service, old))
    assertRefused(refused, 401, 'INVALID_AUTH')
    assert.equal((await failureOf(service, refused)).reason, 'certificate-unknown')
    assert.equal(await whoLogsIn(service, next), identityId)
  })

  await t.test('D-117: routers close what the old one has open, and refuse it', async () => {
    await tunnel.closed
    const refused = await eventually(async () => {
      const answer = await pass(t, edge, traveller(old, token))
      return answer?.status === 200 ? undefined : answer
    }, 'the router refuses the old certificate')
    assert.equal(refused?.status, 403)
    await eventually(
      () => edge.log.find(({ reason }) => reason === 'certificate-removed'),
      'the reason in the log of the gateway',
    )
    assert.equal((await pass(t, edge, traveller(next, token)))?.status, 200)
  })

  await t.test('the session goes on, and its next token names the new certificate', async () => {
    const call = await service.call(`${CLIENT}/current-api-session`, bearer(token))
    assert.equal(call.status, 200, call.text)
    const renewed = await refresh(service, tokens.refresh_token ?? '')
    assert.equal(renewed.status, 200, renewed.text)
    const claims = decodeJwt(renewed.json().access_token)
    assert.deepEqual(claims['cnf'], { 'x5t#S256': thumbprint(next) })
    assert.equal(claims['z_asid'], decodeJwt(token)['z_asid'])
    assert.equal(claims['z_ice'], true)
  })

  await t.test(
    'confirming twice is refused, and the next renewal begins with the new one',
    async () => {
      const shown = presenting(service, next)
      const again = await extendVerify(shown, token, authenticatorId, { clientCert })
      assertRefused(again, 400, 'RENEWAL_NOT_PENDING')
      const { certificate } = { certificate: next }
      const third = await renewal(service, token, { authenticatorId, certificate })
      assert.equal(await whoLogsIn(service, third), identityId)
    },
  )
})

test('a client that lost the response can repeat the call: the second renewal replaces the first', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const edge = await startRealEdge(t, service)
  const device = await enrolledPerson(service, admin, openssl)
  const { access_token: token } = await logInByCertificate(presenting(service, device.certificate))
  const lost = await renewal(service, token, device)
  assert.equal((await pass(t, edge, traveller(lost, token)))?.status, 200)
  const kept = await renewal(service, token, device)
  assertRefused(await certificateLogin(presenting(service, lost)), 401, 'INVALID_AUTH')
  assert.equal(await whoLogsIn(service, kept), device.identityId)
  // It was signed by our CA and names the identity: only the feed tells a router that it never counted.
  await eventually(async () => {
    const answer = await pass(t, edge, traveller(lost, token))
    return answer?.status === 403 ? answer : undefined
  }, 'the router refuses the one that was replaced')
  const verify = (pem: string) =>
    extendVerify(presenting(service, kept), token, device.authenticatorId, { clientCert: pem })
  assertRefused(await verify(lost.pem), 400, 'RENEWAL_NOT_PENDING')
})

// R099: each renewal that is given up is remembered by every instance and router for a year.
test('limits how often a certificate can be renewed', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const device = await enrolledPerson(service, admin, openssl)
  const shown = presenting(service, device.certificate)
  const { access_token: token } = await logInByCertificate(shown)
  const { pem: clientCertCsr } = await makeCsr()
  const again = () => extend(shown, token, device.authenticatorId, { clientCertCsr })
  for (let i = 0; i < 10; i++) assert.equal((await again()).status, 200)
  const reply = await again()
  assertRefused(reply, 429, 'RATE_LIMITED')
  assert.ok(Number(reply.headers['retry-after']) > 3_000)
  assert.equal(await whoLogsIn(service, device.certificate), device.identityId)
})

test('a confirmation may come over the new certificate, which proves that it has arrived', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const device = await enrolledPerson(service, admin, openssl)
  const { access_token: token } = await logInByCertificate(presenting(service, device.certificate))
  const next = await renewal(service, token, device, '/edge/management/v1')
  const [leaf = ''] = next.pem.split(/(?<=-----END CERTIFICATE-----\n)/)
  const reply = await extendVerify(
    presenting(service, next),
    token,
    device.authenticatorId,
    { clientCert: leaf },
    '/edge/management/v1',
  )
  assert.equal(reply.status, 200, reply.text)
  assert.equal(await whoLogsIn(service, next), device.identityId)
  assertRefused(
    await certificateLogin(presenting(service, device.certificate)),
    401,
    'INVALID_AUTH',
  )
})

test('of many confirmations and renewals at once exactly one certificate remains', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const device = await enrolledPerson(service, admin, openssl)
  const { certificate, authenticatorId } = device
  const { access_token: token } = await logInByCertificate(presenting(service, certificate))
  const next = await renewal(service, token, device)
  const replies = await Promise.all(
    Array.from({ length: 8 }, () =>
      extendVerify(presenting(service, next), token, authenticatorId, { clientCert: next.pem }),
    ),
  )
  const codes = replies.map((reply) => (reply.status === 200 ? 200 : reply.json().error.code))
  assert.deepEqual(codes.toSorted(), [200, ...Array(7).fill('RENEWAL_NOT_PENDING')])
  const csr = await makeCsr()
  const renewals = await Promise.all(
    Array.from({ length: 5 }, () =>
      extend(presenting(service, next), token, authenticatorId, { clientCertCsr: csr.pem }),
    ),
  )
  const working: string[] = []
  for (const reply of renewals) {
    assert.equal(reply.status, 200, reply.text)
    const made = { ...next, pem: reply.json().data.clientCert, keyPem: csr.keyPem }
    const login = await certificateLogin(presenting(service, made))
    if (login.status === 302) working.push(made.pem)
  }
  assert.equal(working.length, 1)
  assert.equal(await whoLogsIn(service, next), device.identityId)
})

test('callers that may not renew', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const device = await enrolledPerson(service, admin, openssl)
  const other = await enrolledPerson(service, admin, openssl)
  const { certificate, authenticatorId } = device
  const shown = presenting(service, certificate)
  const { access_token: token } = await logInByCertificate(shown)
  const { pem: clientCertCsr } = await makeCsr()
  const asked = { clientCertCsr }

  // A stolen token must not become a certificate that outlives it by a year (R093).
  await t.test('a token without the certificate, or with another one, is forbidden', async () => {
    assertRefused(await extend(service, token, authenticatorId, asked), 403, 'FORBIDDEN')
    const stranger = await openssl.makeLeaf(await openssl.makeCa())
    for (const leaf of [other.certificate, stranger]) {
      const reply = await extend(presenting(service, leaf), token, authenticatorId, asked)
      assertRefused(reply, 403, 'FORBIDDEN')
    }
    // His own certificate beside somebody else's in the chain proves nothing about that one.
    const both = presenting(service, other.certificate, certificate)
    assertRefused(await extend(both, token, authenticatorId, asked), 403, 'FORBIDDEN')
    const verify = await extendVerify(service, token, authenticatorId, { clientCert: '' })
    assertRefused(verify, 403, 'FORBIDDEN')
  })

  await t.test('R100: the authenticator of another identity is 404', async () => {
    for (const id of [other.authenticatorId, 'nothing', '..', '%00']) {
      assertRefused(await extend(shown, token, id, asked), 404, 'NOT_FOUND')
      const verify = await extendVerify(shown, token, id, { clientCert: certificate.pem })
      assertRefused(verify, 404, 'NOT_FOUND')
    }
  })

  await t.test('without a token it is 401, whatever the connection shows', async () => {
    const reply = await extend(shown, 'nonsense', authenticatorId, asked)
    assertRefused(reply, 401, 'UNAUTHORIZED')
  })

  await t.test('an invalid request is named, and changes nothing', async () => {
    for (const csr of ['', 'nothing', certificate.pem, 'x'.repeat(20_000)]) {
      const reply = await extend(shown, token, authenticatorId, { clientCertCsr: csr })
      assertRefused(reply, 400, 'COULD_NOT_PROCESS_CSR', 'clientCertCsr')
    }
    for (const csr of [undefined, 7, null]) {
      const reply = await extend(shown, token, authenticatorId, { clientCertCsr: csr })
      assertRefused(reply, 400, 'COULD_NOT_VALIDATE', 'clientCertCsr')
    }
    const weak = await makeCsr({ key: 'RSA 1024' })
    const reply = await extend(shown, token, authenticatorId, { clientCertCsr: weak.pem })
    assertRefused(reply, 400, 'COULD_NOT_PROCESS_CSR', 'clientCertCsr')
  })

  await t.test('a password has no certificate to renew', async () => {
    const password = 'a long enough passphrase'
    const person = await admin.createIdentity({ password })
    const tokens = await logInAs(service, person)
    const { data } = (await admin.call('GET', `/identities/${person.id}/authenticators`)).json()
    const reply = await extend(service, tokens.access_token, data[0].id, asked)
    assertRefused(reply, 409, 'CAN_NOT_RENEW_CERTIFICATE')
  })

  await t.test('D-26: what a third-party CA has issued is renewed there', async () => {
    const ca = await openssl.makeCa()
    await registerCa(admin, openssl, ca)
    const leaf = await openssl.makeLeaf(ca)
    const person = await admin.createIdentity({ certPem: leaf.pem })
    const tokens = await logInByCertificate(presenting(service, leaf))
    assert.equal(decodeJwt(tokens.access_token)['z_ice'], false)
    const { data } = (await admin.call('GET', `/identities/${person.id}/authenticators`)).json()
    const reply = await extend(presenting(service, leaf), tokens.access_token, data[0].id, asked)
    assertRefused(reply, 409, 'CAN_NOT_RENEW_CERTIFICATE')
  })
})

test('D-130: an expired certificate is renewed only where the policy lets it log in', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const cert = { allowed: true, allowExpiredCerts: true }
  const policy = await admin.createPolicy({ primary: { cert } })
  const life = { notBefore: days(-1), notAfter: minutes(10) }
  const lenient = await enrolledPerson(service, admin, openssl, { policy, life })
  const strict = await enrolledPerson(service, admin, openssl, { life })
  const before = await logInByCertificate(presenting(service, strict.certificate))
  service.clock.advance(minutes(11))

  const { pem } = await makeCsr()
  const reply = await extend(
    presenting(service, strict.certificate),
    before.access_token,
    strict.authenticatorId,
    { clientCertCsr: pem },
  )
  assertRefused(reply, 409, 'CAN_NOT_RENEW_CERTIFICATE')
  const { access_token } = await logInByCertificate(presenting(service, lenient.certificate))
  const next = await renewal(service, access_token, lenient)
  assert.equal(await whoLogsIn(service, next), lenient.identityId)
})

test('D-24: with bound tokens a renewal is confirmed over the old certificate, and goes on with the new one', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const cert = { allowed: true, bindTokens: true }
  const policy = await admin.createPolicy({ primary: { cert } })
  const device = await enrolledPerson(service, admin, openssl, { policy })
  const tokens = await logInByCertificate(presenting(service, device.certificate), OFFLINE)
  const { access_token: token } = tokens
  const next = await renewal(service, token, device)
  const verify = (certificate: MadeCertificate) =>
    extendVerify(presenting(service, certificate), token, device.authenticatorId, {
      clientCert: next.pem,
    })
  assertRefused(await verify(next), 401, 'UNAUTHORIZED')
  assert.equal((await verify(device.certificate)).status, 200)
  const renewed = await refresh(presenting(service, next), tokens.refresh_token ?? '')
  assert.equal(renewed.status, 200, renewed.text)
  const path = `${CLIENT}/current-identity`
  const fresh = bearer(renewed.json().access_token)
  assert.equal((await presenting(service, next).call(path, fresh)).status, 200)
  assertRefused(
    await presenting(service, device.certificate).call(path, fresh),
    401,
    'UNAUTHORIZED',
  )
})

test('D-117: an authenticator that is removed takes its pending certificate with it', async (t) => {
  const service = await startService(t)
  const admin = await administrate(service)
  const edge = await startRealEdge(t, service)
  const device = await enrolledPerson(service, admin, openssl)
  const { access_token: token } = await logInByCertificate(presenting(service, device.certificate))
  const next = await renewal(service, token, device)
  // Another session of the same identity stays, so that the certificate alone decides.
  await admin.create('/authenticators', {
    method: 'updb',
    identityId: device.identityId,
    username: 'device',
    password: 'a long enough passphrase',
  })
  const other = await logInAs(service, { username: 'device', password: 'a long enough passphrase' })
  assert.equal((await pass(t, edge, traveller(next, other.access_token)))?.status, 200)
  await admin.act('DELETE', `/authenticators/${device.authenticatorId}`)
  await eventually(async () => {
    const answer = await pass(t, edge, traveller(next, other.access_token))
    return answer?.status === 403 ? answer : undefined
  }, 'the router refuses the pending certificate')
  assertRefused(await certificateLogin(presenting(service, next)), 401, 'INVALID_AUTH')
})
