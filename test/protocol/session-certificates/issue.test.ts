/**
 * Certificates from a request, over HTTP, for both kinds of session: what comes back, what openssl thinks of it, how
 * long it lasts, and that nothing comes along that we did not put there. SPEC API Session Certificates; D-40, D-41,
 * R097, R098, R103.
 */
import assert from 'node:assert/strict'
import { createHash, createPublicKey, X509Certificate } from 'node:crypto'
import { suite, test } from 'node:test'
import { decodeJwt } from 'jose'
import { days, hours, minutes, seconds } from '../../../src/base/time/duration.ts'
import {
  CreatedSessionCertificateReply,
  SessionCertificateReply,
} from '../../../src/contract/session-certificates.ts'
import { eventsOf } from '../../support/audit.ts'
import { type KEYS, makeCsr } from '../../support/certificates/csr.ts'
import {
  assertVerifies,
  blocksOf,
  extensionsOf,
  textOf,
  validityOf,
} from '../../support/certificates/session-certificates.ts'
import {
  CERTIFICATES,
  issueCertificate,
  legacySession,
  oidcSession,
  requestCertificate,
  SESSIONS,
} from '../../support/edge/live-session.ts'
import { startService } from '../../support/service.ts'

for (const [kind, begin] of Object.entries(SESSIONS)) {
  test(`D-40, D-41: an ${kind} session gets a certificate that openssl believes, with its chain and its CAs`, async (t) => {
    const service = await startService(t)
    const session = await begin(service)
    const { pem, keyPem } = await makeCsr({ subject: '/C=CH/O=Example/CN=laptop' })
    const reply = await requestCertificate(session, pem)
    assert.equal(reply.status, 201, reply.text)
    const body = reply.json()
    assert.deepEqual(CreatedSessionCertificateReply.parse(body), body)
    const { id, certificate, cas, _links } = body.data
    assert.deepEqual(Object.keys(body.data).toSorted(), ['_links', 'cas', 'certificate', 'id'])
    assert.deepEqual(_links, { self: { href: `./current-api-session/certificates/${id}` } })
    assert.equal(reply.headers['cache-control'], 'no-store')
    assert.ok(reply.headers['expires-at'], 'D-39')
    await assertVerifies(certificate, cas)

    const [leaf = '', issuing = '', ...more] = blocksOf(certificate)
    assert.deepEqual(more, [], 'leaf, then intermediates, no root')
    assert.equal(cas, service.ca, 'the bundle that the service hands out anyway')
    assert.notEqual(new X509Certificate(issuing).subject, new X509Certificate(issuing).issuer)
    const read = new X509Certificate(leaf)
    assert.deepEqual(read.publicKey, createPublicKey(keyPem))
    assert.equal(read.subject, 'C=CH\nO=Example\nCN=laptop')
    assert.equal(
      read.subjectAltName,
      `URI:spiffe://latchkey/identity/${session.identityId}/apiSession/${session.id}/apiSessionCertificate/${id}`,
    )

    const detail = await session.call(`${CERTIFICATES}/${id}`)
    assert.equal(detail.status, 200, detail.text)
    assert.deepEqual(SessionCertificateReply.parse(detail.json()), detail.json())
    const [validFrom = 0, validTo = 0] = validityOf(leaf)
    assert.deepEqual(detail.json().data, {
      ...body.data,
      subject: 'C=CH,O=Example,CN=laptop',
      fingerprint: createHash('sha256').update(read.raw).digest('hex'),
      validFrom: new Date(validFrom).toISOString(),
      validTo: new Date(validTo).toISOString(),
    })

    // R109: who, what and which, and nothing of the request.
    assert.deepEqual(await eventsOf(service, reply), [
      {
        type: 'certificate.issued',
        reason: null,
        identityId: session.identityId,
        sessionId: session.id,
        details: { id, fingerprint: detail.json().data.fingerprint },
      },
    ])
  })
}

test('D-40: keys of every accepted kind are certified', async (t) => {
  const service = await startService(t)
  const session = await oidcSession(service)
  const keys: readonly (keyof typeof KEYS)[] = ['RSA 2048', 'RSA 3072', 'P-384', 'P-521', 'Ed25519']
  for (const key of keys) {
    const { pem, keyPem } = await makeCsr({ key })
    const { certificate, cas } = await issueCertificate(session, pem)
    await assertVerifies(certificate, cas)
    assert.deepEqual(new X509Certificate(certificate).publicKey, createPublicKey(keyPem), key)
  }
})

test('R097, SPEC: nothing that the request asks for reaches the certificate but its key and its name', async (t) => {
  // Attack: a request for a CA, a server, another identity and another session, with more in its name than is taken.
  const service = await startService(t)
  const session = await oidcSession(service)
  const { pem } = await makeCsr({
    subject: '/serialNumber=smuggled-1/CN=laptop/emailAddress=smuggled-2@example.org/DC=smuggled-3',
    config: [
      'req_extensions=wanted',
      'attributes=more',
      '[more]',
      'challengePassword_default=smuggled-4',
      'unstructuredName_default=smuggled-5',
      '[wanted]',
      'basicConstraints=critical,CA:TRUE,pathlen:9',
      'keyUsage=critical,keyCertSign,cRLSign,keyEncipherment',
      'extendedKeyUsage=serverAuth,emailProtection,codeSigning',
      'subjectAltName=DNS:smuggled.example,email:smuggled@example.org,IP:192.0.2.1,' +
        'URI:spiffe://latchkey/identity/smuggled',
      'subjectKeyIdentifier=00112233445566778899AABBCCDDEEFF00112233',
      'nsComment=smuggled-6',
      'certificatePolicies=1.2.3.4',
      '1.2.3.4.5=critical,DER:04:02:05:00',
    ],
    options: ['-batch'],
  })
  const { id, certificate, cas } = await issueCertificate(session, pem)
  await assertVerifies(certificate, cas)
  const text = await textOf(certificate)
  assert.doesNotMatch(
    text,
    /smuggled|CA:TRUE|Server|E-mail|DNS:|IP Address|1\.2\.3\.4|pathlen|00:11:22:33/i,
  )
  assert.match(text, /Subject: CN=laptop$/m)
  const {
    'X509v3 Subject Key Identifier': own,
    'X509v3 Authority Key Identifier': ca,
    ...rest
  } = await extensionsOf(certificate)
  assert.ok(own && ca)
  assert.deepEqual(rest, {
    'X509v3 Basic Constraints: critical': 'CA:FALSE',
    'X509v3 Key Usage: critical': 'Digital Signature',
    'X509v3 Extended Key Usage': 'TLS Web Client Authentication',
    'X509v3 Subject Alternative Name': `URI:spiffe://latchkey/identity/${session.identityId}/apiSession/${session.id}/apiSessionCertificate/${id}`,
  })
})

test('R098: serials are random: a hundred certificates, a hundred of 128 bits', async (t) => {
  const service = await startService(t)
  const session = await oidcSession(service)
  const { pem } = await makeCsr()
  const serials = new Set<string>()
  for (let i = 0; i < 100; i++) {
    const { certificate } = await issueCertificate(session, pem)
    serials.add(new X509Certificate(certificate).serialNumber)
  }
  assert.equal(serials.size, 100)
  // Of a hundred numbers of 128 bits, none is likely to be shorter than 100 bits, and one is above 2^120.
  for (const serial of serials) assert.ok(serial.length >= 25, serial)
  assert.ok([...serials].some((serial) => serial.length === 32))
})

suite('D-40: how long a certificate lasts', () => {
  const csr = async () => (await makeCsr()).pem

  test('twelve hours from a minute ago, for a session that can be refreshed', async (t) => {
    const service = await startService(t)
    service.clock.hold()
    const now = Math.floor(service.clock.now() / 1_000) * 1_000
    const { certificate } = await issueCertificate(await oidcSession(service), await csr())
    assert.deepEqual(validityOf(certificate), [now - minutes(1), now + hours(12)])
  })

  test('to the end of the access token, for one that cannot', async (t) => {
    const service = await startService(t)
    service.clock.hold()
    const session = await oidcSession(service, undefined, 'openid')
    service.clock.advance(minutes(10))
    const { certificate } = await issueCertificate(session, await csr())
    const { exp = 0, iat = 0 } = decodeJwt(session.token)
    assert.equal(exp - iat, 30 * 60)
    assert.equal(validityOf(certificate)[1], exp * 1_000)
  })

  test('to the absolute end of the session, whichever kind it is', async (t) => {
    const config = { edge: { oidc: { maxSessionDuration: '2h' } } }
    const service = await startService(t, { config })
    service.clock.hold()
    const begun = service.clock.now()
    const sessions = [await oidcSession(service), await legacySession(service)]
    for (const session of sessions) {
      service.clock.advance(minutes(5))
      const { certificate } = await issueCertificate(session, await csr())
      const end = Math.floor((begun + hours(2)) / 1_000) * 1_000
      assert.equal(validityOf(certificate)[1], end, session.kind)
    }
  })

  test('twelve hours for a legacy session, whose idle end moves with every call', async (t) => {
    const service = await startService(t)
    service.clock.hold()
    const now = Math.floor(service.clock.now() / 1_000) * 1_000
    const { certificate } = await issueCertificate(await legacySession(service), await csr())
    assert.deepEqual(validityOf(certificate), [now - minutes(1), now + hours(12)])
  })

  test('as long as is configured', async (t) => {
    const config = { edge: { api: { sessionCertificateDuration: '7d' } } }
    const service = await startService(t, { config })
    service.clock.hold()
    const now = Math.floor(service.clock.now() / 1_000) * 1_000
    const { certificate } = await issueCertificate(await oidcSession(service), await csr())
    assert.equal(validityOf(certificate)[1], now + days(7))
  })

  test('not a second longer than the session in its last minute', async (t) => {
    const config = { edge: { oidc: { maxSessionDuration: '30m' } } }
    const service = await startService(t, { config })
    service.clock.hold()
    const session = await legacySession(service)
    const end = service.clock.now() + minutes(30)
    service.clock.advance(minutes(29))
    service.clock.advance(seconds(58))
    const { certificate } = await issueCertificate(session, await csr())
    assert.ok(validityOf(certificate)[1] <= end)
  })
})

test('the trust domain is the configured one', async (t) => {
  const service = await startService(t, { config: { trustDomain: 'door.example.org' } })
  const { certificate } = await issueCertificate(await oidcSession(service), (await makeCsr()).pem)
  assert.match(
    new X509Certificate(certificate).subjectAltName ?? '',
    /^URI:spiffe:\/\/door\.example\.org\/identity\//,
  )
})
