/** What an issued server certificate contains, and when the next one is due. */
import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { readCertificates } from '../../../base/certificates.ts'
import { systemRandom } from '../../../base/secrets/random.ts'
import { Secret } from '../../../base/secrets/secret.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { type Duration, days, hours, minutes, seconds } from '../../../base/time/duration.ts'
import { epochSeconds, minus, plus } from '../../../base/time/instant.ts'
import { type Issuer, newKeyPair, signCertificate } from '../write-certificate.ts'
import { issueServerCertificate, needsRenewal } from './server-certificate.ts'

const now = systemClock.now()
const NAMES = ['localhost', '127.0.0.1', '::1']

async function anIssuer(lifetime: Duration = days(365)): Promise<Issuer> {
  const { publicKey, privateKey } = await newKeyPair()
  const certificate = signCertificate(
    {
      commonName: 'Issuing',
      publicKey,
      notBefore: minus(now, hours(1)),
      notAfter: plus(now, lifetime),
      profile: { kind: 'authority', pathLength: 0 },
    },
    { privateKey },
    systemRandom,
  )
  return { certificate, privateKey }
}

const deps = { random: systemRandom, clock: { now: () => now } }

test('a server certificate lives for 90 days and begins a minute back', async () => {
  const issued = await issueServerCertificate({ names: NAMES }, await anIssuer(), deps)
  assert.equal(epochSeconds(issued.notBefore), epochSeconds(minus(now, minutes(1))))
  assert.equal(epochSeconds(issued.notAfter), epochSeconds(plus(now, days(90))))
  const leaf = new X509Certificate(issued.certificatePem)
  assert.equal(leaf.validFromDate.getTime(), issued.notBefore)
  assert.equal(leaf.validToDate.getTime(), issued.notAfter)
})

test('a server certificate never outlives its issuing CA', async () => {
  const issuer = await anIssuer(days(30))
  const issued = await issueServerCertificate({ names: NAMES }, issuer, deps)
  assert.equal(issued.notAfter, issuer.certificate.validToDate.getTime())
})

test('the chain is the leaf and then the issuing CA, and the key is that of the leaf', async () => {
  const issuer = await anIssuer()
  const issued = await issueServerCertificate({ names: NAMES }, issuer, deps)
  const [leaf, issuing, ...more] = readCertificates(issued.certificatePem)
  assert.equal(more.length, 0)
  assert.ok(leaf)
  assert.ok(leaf.checkPrivateKey(createPrivateKey(issued.keyPem.reveal())))
  assert.equal(issuing?.fingerprint256, issuer.certificate.fingerprint256)
  assert.ok(leaf.verify(issuer.certificate.publicKey))
})

test('every certificate has a key and a serial number of its own', async () => {
  const issuer = await anIssuer()
  const [a, b] = await Promise.all(
    [1, 2].map(() => issueServerCertificate({ names: NAMES }, issuer, deps)),
  )
  assert.ok(a && b)
  assert.notEqual(a.keyPem.reveal(), b.keyPem.reveal())
  const serial = (pem: string) => new X509Certificate(pem).serialNumber
  assert.notEqual(serial(a.certificatePem), serial(b.certificatePem))
})

test('a name that is given twice, in whatever form, is carried once', async () => {
  const names = ['LOCALHOST', 'localhost', '[::1]', '0:0::1', '::1']
  const { certificatePem } = await issueServerCertificate({ names }, await anIssuer(), deps)
  assert.equal(
    new X509Certificate(certificatePem).subjectAltName,
    'DNS:localhost, IP Address:0:0:0:0:0:0:0:1',
  )
})

test('the common name is the first name of at most 64 characters', async () => {
  const long = `${'a'.repeat(60)}.example.org`
  const issuer = await anIssuer()
  const subject = async (names: string[]) =>
    new X509Certificate((await issueServerCertificate({ names }, issuer, deps)).certificatePem)
      .subject
  assert.equal(await subject([long, 'door.example']), 'CN=door.example')
  assert.equal(await subject([long]), 'CN=Latchkey')
})

test('a text that is not a name is not certified', async () => {
  const issuer = await anIssuer()
  await assert.rejects(issueServerCertificate({ names: ['a b'] }, issuer, deps), {
    message: '"a b" is neither a host name nor an IP address',
  })
  await assert.rejects(issueServerCertificate({ names: [] }, issuer, deps), {
    message: 'a server certificate needs at least one name',
  })
})

const issuer = await anIssuer()
const held = await issueServerCertificate({ names: NAMES }, issuer, deps)
const wanted = { names: NAMES, issuingPem: issuer.certificate.toString() }

test('a fresh certificate for the wanted names stays', () => {
  assert.equal(needsRenewal(held, wanted, now), false)
})

test('a certificate with names beyond the wanted ones stays', () => {
  assert.equal(needsRenewal(held, { ...wanted, names: ['LocalHost', '[::1]'] }, now), false)
})

test('a certificate is renewed when under a third of its life remains', () => {
  const third = ((held.notAfter - held.notBefore) / 3) as Duration
  const due = minus(held.notAfter, third)
  assert.equal(needsRenewal(held, wanted, minus(due, seconds(1))), false)
  assert.equal(needsRenewal(held, wanted, plus(due, seconds(1))), 'near-its-end')
  assert.equal(needsRenewal(held, wanted, plus(held.notAfter, days(1))), 'near-its-end')
})

test('a certificate from the future is renewed', () => {
  assert.equal(needsRenewal(held, wanted, minus(held.notBefore, seconds(1))), 'not-yet-valid')
})

test('a certificate that lacks a wanted name is renewed', () => {
  for (const name of ['door.example', '192.0.2.1', '::2']) {
    const names = [...NAMES, name]
    assert.equal(needsRenewal(held, { ...wanted, names }, now), 'other-names')
  }
})

test('a certificate of another issuing CA is renewed, even when that has the same name', async () => {
  const other = await anIssuer()
  const issuingPem = other.certificate.toString()
  assert.equal(needsRenewal(held, { ...wanted, issuingPem }, now), 'other-issuer')
  const [leaf] = readCertificates(held.certificatePem)
  const mixed = { ...held, certificatePem: `${leaf}${issuingPem}` }
  assert.equal(needsRenewal(mixed, { ...wanted, issuingPem }, now), 'other-issuer')
})

test('a file that lacks the issuing CA is renewed', () => {
  const [leaf] = readCertificates(held.certificatePem)
  assert.equal(needsRenewal({ ...held, certificatePem: `${leaf}` }, wanted, now), 'other-issuer')
})

test('a certificate or key that cannot be read, or that do not belong together, are renewed', async () => {
  const other = await issueServerCertificate({ names: NAMES }, issuer, deps)
  const cut = held.certificatePem.slice(0, 300)
  assert.equal(needsRenewal({ ...held, certificatePem: '' }, wanted, now), 'unreadable')
  assert.equal(needsRenewal({ ...held, certificatePem: cut }, wanted, now), 'unreadable')
  assert.equal(needsRenewal({ ...held, keyPem: new Secret('') }, wanted, now), 'unreadable')
  assert.equal(needsRenewal({ ...held, keyPem: other.keyPem }, wanted, now), 'unreadable')
})
