/**
 * The bytes of a client certificate, read by openssl and Node: the profile of D-40, whatever the random serial, the
 * times and the names are. R098.
 */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { derOf, pemOf, runOpenssl, spkiOf } from '../../../test/support/certificates/csr.ts'
import { openOpenssl } from '../../../test/support/certificates/openssl.ts'
import {
  assertVerifies,
  extensionsOf,
  sessionCertificatesOn,
  textOf,
} from '../../../test/support/certificates/session-certificates.ts'
import { systemClock } from '../../base/time/clock.ts'
import { hours } from '../../base/time/duration.ts'
import { instant, plus } from '../../base/time/instant.ts'
import { openStore } from '../../store/open.ts'
import { type ClientCertificate, signClientCertificate } from './write-certificate.ts'

const store = await openStore({ kind: 'sqlite', path: ':memory:' })
const { authorities } = await sessionCertificatesOn(store, systemClock)
await store.close()

const NOW = instant(Math.floor(systemClock.now() / 1_000) * 1_000)
const URI = 'spiffe://latchkey/identity/i1/apiSession/s2/apiSessionCertificate/c3'

function client(changes: Partial<ClientCertificate> = {}): ClientCertificate {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return {
    serial: Buffer.from('0123456789abcdef0123456789abcdef', 'hex'),
    subject: [{ name: 'CN', value: 'laptop' }],
    publicKey: spkiOf(privateKey),
    uri: URI,
    notBefore: NOW,
    notAfter: plus(NOW, hours(12)),
    ...changes,
  }
}

function sign(changes: Partial<ClientCertificate> = {}): string {
  return pemOf('CERTIFICATE', authorities.signClientCertificate(client(changes)))
}

/** The lines of `openssl asn1parse` that fit. */
async function asn1(certificate: string, fits: RegExp): Promise<readonly string[]> {
  const { text } = await runOpenssl(['asn1parse', '-in', 'crt'], { crt: certificate })
  return text.split('\n').filter((line) => fits.test(line))
}

test('R098: openssl believes it as a client certificate, with all its rules, and as nothing else', async () => {
  await assertVerifies(sign() + authorities.issuingPem, authorities.caBundlePem)
})

test('D-40: it is a version 3 certificate of our issuing CA with what was handed in', async () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  const pem = sign({ publicKey: spki })
  const certificate = new X509Certificate(pem)
  const issuing = new X509Certificate(authorities.issuingPem)
  assert.equal(certificate.serialNumber, '0123456789ABCDEF0123456789ABCDEF')
  assert.equal(certificate.subject, 'CN=laptop')
  assert.equal(certificate.issuer, issuing.subject)
  assert.equal(certificate.checkIssued(issuing), true)
  assert.equal(certificate.validFromDate.getTime(), NOW)
  assert.equal(certificate.validToDate.getTime(), plus(NOW, hours(12)))
  assert.deepEqual(certificate.publicKey.export({ format: 'der', type: 'spki' }), spki)
  assert.match(await textOf(pem), /Version: 3 \(0x2\)/)
})

test('D-40, R098: it has the extensions of the profile and no other', async () => {
  const pem = sign()
  const issuing = await extensionsOf(authorities.issuingPem)
  const extensions = await extensionsOf(pem)
  const { 'X509v3 Subject Key Identifier': own, ...others } = extensions
  assert.match(own ?? '', /^([0-9A-F]{2}:){19}[0-9A-F]{2}$/)
  assert.deepEqual(others, {
    'X509v3 Basic Constraints: critical': 'CA:FALSE',
    'X509v3 Key Usage: critical': 'Digital Signature',
    'X509v3 Extended Key Usage': 'TLS Web Client Authentication',
    'X509v3 Authority Key Identifier': issuing['X509v3 Subject Key Identifier'],
    'X509v3 Subject Alternative Name': `URI:${URI}`,
  })
})

for (const [what, serial, expected] of [
  ['with its first bit set', 'ff'.repeat(16), 'FF'.repeat(16)],
  ['with zeros in front', `0000${'01'.repeat(14)}`, '01'.repeat(14)],
  ['with zeros in front of a set bit', `0000${'81'.repeat(14)}`, '81'.repeat(14)],
  ['of nothing but zeros and a one', `${'00'.repeat(15)}01`, '01'],
] as const) {
  test(`R098: a serial ${what} is a positive number in its shortest form`, async () => {
    const pem = sign({ serial: Buffer.from(serial, 'hex') })
    // openssl prints the number; a wrong sign shows as a minus.
    const [version, number] = await asn1(pem, /prim: INTEGER/)
    assert.match(version ?? '', /:02$/)
    assert.ok(number?.endsWith(`:${expected}`), String(number))
    await assertVerifies(pem + authorities.issuingPem, authorities.caBundlePem)
  })
}

test('RFC 5280 §4.1.2.5: years to 2049 are written with two digits, later ones with four', async () => {
  const pem = sign({
    notBefore: instant(Date.UTC(2049, 11, 31, 23, 59, 59)),
    notAfter: instant(Date.UTC(2050, 0, 1)),
  })
  const [before, after] = await asn1(pem, /UTCTIME|GENERALIZEDTIME/)
  assert.match(before ?? '', /UTCTIME +:491231235959Z$/)
  assert.match(after ?? '', /GENERALIZEDTIME +:20500101000000Z$/)
})

test('D-40: the subject keeps its order, its repeats and every character', async () => {
  const value = 'Zoë "O\'Neil", Inc. + 🔑; <x>=\\#'
  const pem = sign({
    subject: [
      { name: 'C', value: 'CH' },
      { name: 'ST', value: 'Bern' },
      { name: 'L', value: 'Thun' },
      { name: 'O', value },
      { name: 'OU', value: 'Door' },
      { name: 'OU', value: 'Window' },
      { name: 'CN', value: 'laptop' },
    ],
  })
  const { text } = await runOpenssl(
    ['x509', '-in', 'crt', '-noout', '-subject', '-nameopt', 'sep_multiline,sname,utf8,show_type'],
    { crt: pem },
  )
  // RFC 5280 appendix A.1: a country is a PrintableString; UTF8String does for all the others.
  assert.deepEqual(
    text
      .split('\n')
      .map((line) => line.trim())
      .slice(1, -1),
    [
      'C=PRINTABLESTRING:CH',
      'ST=UTF8STRING:Bern',
      'L=UTF8STRING:Thun',
      `O=UTF8STRING:${value}`,
      'OU=UTF8STRING:Door',
      'OU=UTF8STRING:Window',
      'CN=UTF8STRING:laptop',
    ],
  )
})

test('RFC 7093 §2: the key identifier is that of the key, the same for the same key', async () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  const publicKey = spkiOf(privateKey)
  const identifier = async (pem: string) =>
    (await extensionsOf(pem))['X509v3 Subject Key Identifier']
  assert.equal(await identifier(sign({ publicKey })), await identifier(sign({ publicKey })))
  assert.notEqual(await identifier(sign({ publicKey })), await identifier(sign()))
})

test('a CA whose certificate has no key identifier signs nothing', async () => {
  const openssl = await openOpenssl()
  try {
    const { pem, keyPem } = await openssl.makeCa({
      extensions: ['basicConstraints=critical,CA:TRUE', 'subjectKeyIdentifier=none'],
    })
    const issuer = {
      certificate: new X509Certificate(pem),
      privateKey: createPrivateKey(keyPem),
    }
    assert.throws(() => signClientCertificate(client(), issuer), /no key identifier/)
  } finally {
    await openssl.close()
  }
})

test('what is signed is what is inside, byte for byte', () => {
  const pem = sign()
  const issuing = new X509Certificate(authorities.issuingPem)
  assert.equal(new X509Certificate(pem).verify(issuing.publicKey), true)
  const changed = derOf(pem)
  changed.write('tablet', changed.indexOf('laptop'))
  assert.equal(new X509Certificate(changed).verify(issuing.publicKey), false)
})
