/**
 * What an administrator may hand in as a CA, as the proof of its key and as an authenticator: API 4.6.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  CA_EXTENSIONS,
  LEAF_EXTENSIONS,
  openOpenssl,
} from '../../../../test/support/certificates/openssl.ts'
import { systemClock } from '../../../base/time/clock.ts'
import { days } from '../../../base/time/duration.ts'
import { proveCa, readCaCertificate, readLeafCertificate } from './prove-ca.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { make, makeCa, makeLeaf } = openssl

const ca = await makeCa({ subject: '/O=Partner/CN=Partner CA' })
const leaf = await makeLeaf(ca, { subject: '/CN=alice' })

test('a CA certificate is read, and stored in one form', () => {
  const read = readCaCertificate(`Subject: whoever\r\n${ca.pem.replaceAll('\n', '\r\n')}\n\n`)
  assert.ok(typeof read === 'object')
  assert.equal(read.certPem.trim(), ca.pem.trim())
  assert.equal(read.fingerprint, ca.fingerprint)
  assert.equal(read.commonName, 'Partner CA')
  const now = systemClock.now()
  assert.ok(read.notBefore < now && now < read.notAfter)
})

test('a CA needs no root above it and no common name', async () => {
  const sub = await makeCa({ subject: '/O=Only', issuer: ca })
  const read = readCaCertificate(sub.pem)
  assert.ok(typeof read === 'object')
  assert.equal(read.commonName, undefined)
})

test('what is not a CA is not registered as one', async () => {
  const noSigner = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,digitalSignature']
  for (const made of [
    leaf,
    await make({ subject: '/CN=self-signed', extensions: LEAF_EXTENSIONS.slice(0, 4) }),
    await make({ subject: '/CN=version 1' }),
    await makeCa({ extensions: noSigner }),
  ]) {
    assert.equal(readCaCertificate(made.pem), 'CERTIFICATE_IS_NOT_CA')
  }
})

const notOneCertificate = {
  nothing: '',
  'other text': 'nothing',
  'two certificates': ca.pem + leaf.pem,
  'the same one twice': ca.pem + ca.pem,
  'a certificate with its key': ca.pem + ca.keyPem,
  'a key': ca.keyPem,
  'a certificate without its end': ca.pem.replace(/-----END.*/, ''),
  'a certificate that is damaged': ca.pem.replace(/^MII/m, 'MIA'),
  'a certificate in DER': Buffer.from(ca.der).toString('latin1'),
  'a certificate and far too much text': ca.pem + ' '.repeat(64 * 1024),
}
for (const [title, pem] of Object.entries(notOneCertificate)) {
  test(`${title} is not the one certificate that is asked for`, async () => {
    assert.equal(readCaCertificate(pem), 'INVALID_CERT_PEM')
    assert.equal(readLeafCertificate(pem), 'INVALID_CERT_PEM')
    const asked = { certPem: ca.pem, verificationToken: 'token' }
    assert.equal(await proveCa(asked, pem, systemClock.now()), 'INVALID_CERT_PEM')
  })
}

test('a certificate with a weak key is not registered', async () => {
  const weakCa = await makeCa({ key: 'rsa-1024' })
  assert.equal(readCaCertificate(weakCa.pem), 'INVALID_CERT_PEM')
  const weakLeaf = await makeLeaf(ca, { key: 'rsa-1024' })
  assert.equal(readLeafCertificate(weakLeaf.pem), 'INVALID_CERT_PEM')
})

test('reads the certificate of an authenticator, whichever CA issued it', async () => {
  const read = readLeafCertificate(leaf.pem)
  assert.ok(typeof read === 'object')
  assert.equal(read.fingerprint, leaf.fingerprint)
  assert.equal(read.commonName, 'alice')
})

const TOKEN = 'S3cret_token-of-64-characters-at-most'
const asked = { certPem: ca.pem, verificationToken: TOKEN }
const prove = (made: { readonly pem: string }, of = asked) =>
  proveCa(of, made.pem, systemClock.now())

test('the holder of the key of a CA proves it with a certificate that names the token', async () => {
  assert.equal(await prove(await makeLeaf(ca, { subject: `/O=x/CN=${TOKEN}` })), 'proven')
  // As `openssl x509 -req` makes them: version 1, without extensions.
  assert.equal(await prove(await make({ issuer: ca, subject: `/CN=${TOKEN}` })), 'proven')
})

test('a certificate that names another token, or none, proves nothing', async () => {
  for (const subject of [
    '/CN=another',
    `/CN=${TOKEN}x`,
    `/CN=${TOKEN.toLowerCase()}`,
    '/O=none',
    `/CN=another/CN=${TOKEN}`,
    `/OU=${TOKEN}/CN=another`,
  ]) {
    assert.equal(await prove(await makeLeaf(ca, { subject })), 'INVALID_COMMON_NAME', subject)
  }
  // A CA that is verified has no token any more.
  const proof = await makeLeaf(ca, { subject: `/CN=${TOKEN}` })
  const verified = { certPem: ca.pem, verificationToken: undefined }
  assert.equal(await proveCa(verified, proof.pem, systemClock.now()), 'INVALID_COMMON_NAME')
})

test('a certificate that the CA did not sign proves nothing', async () => {
  const subject = `/CN=${TOKEN}`
  const failed = 'CERT_FAILED_VALIDATION'
  const double = await makeCa({ subject: ca.subject })
  // Attack: names are free; the key is what must be proven.
  assert.equal(await prove(await makeLeaf(double, { subject })), failed)
  assert.equal(await prove(await make({ subject })), failed)
  // Attack: a customer of the CA signs with the key of their own certificate.
  assert.equal(await prove(await makeLeaf(leaf, { subject })), failed)
  const sub = await makeCa({ subject: '/CN=Sub', issuer: ca })
  assert.equal(await prove(await makeLeaf(sub, { subject })), failed)
  // Attack: an attacker registers their own customer certificate, which is not a CA, and proves its key.
  const customer = { certPem: leaf.pem, verificationToken: TOKEN }
  assert.equal(await prove(await makeLeaf(leaf, { subject }), customer), failed)
})

test('a proof out of date, or with a weak signature, proves nothing', async () => {
  const subject = `/CN=${TOKEN}`
  const failed = 'CERT_FAILED_VALIDATION'
  const past = { notBefore: days(-1.5), notAfter: days(-1) }
  assert.equal(await prove(await makeLeaf(ca, { subject, ...past })), failed)
  const future = { notBefore: days(1), notAfter: days(1.5) }
  assert.equal(await prove(await makeLeaf(ca, { subject, ...future })), failed)
  assert.equal(await prove(await makeLeaf(ca, { subject, digest: 'sha1' })), failed)
  const old = await makeCa({ subject: '/CN=Old', extensions: CA_EXTENSIONS, ...past })
  const ofOld = { certPem: old.pem, verificationToken: TOKEN }
  assert.equal(await prove(await makeLeaf(old, { subject }), ofOld), failed)
})
