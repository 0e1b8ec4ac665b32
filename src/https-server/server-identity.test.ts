/** The files an operator gives for a listener: what is accepted, what is noted, what is refused and how. */
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { systemRandom } from '../base/secrets/random.ts'
import { Secret } from '../base/secrets/secret.ts'
import { systemClock } from '../base/time/clock.ts'
import { days, minutes } from '../base/time/duration.ts'
import { type Instant, minus, plus } from '../base/time/instant.ts'
import {
  type CertificateProfile,
  type Issuer,
  newKeyPair,
  signCertificate,
} from '../domain/certificates/write-certificate.ts'
import { readServerIdentity } from './server-identity.ts'

const now = systemClock.now()
const AUTHORITY: CertificateProfile = { kind: 'authority' }
const SERVER: CertificateProfile = {
  kind: 'server',
  names: [{ type: 'dns', value: 'door.example' }],
}

interface Wish {
  commonName: string
  profile: CertificateProfile
  parent?: Issuer
  notAfter?: Instant
  keys?: { publicKey: KeyObject; privateKey: KeyObject }
}

async function issue(wish: Wish): Promise<Issuer> {
  const { publicKey, privateKey } = wish.keys ?? (await newKeyPair())
  const certificate = signCertificate(
    {
      commonName: wish.commonName,
      publicKey,
      notBefore: minus(now, days(10)),
      notAfter: wish.notAfter ?? plus(now, days(80)),
      profile: wish.profile,
    },
    wish.parent ?? { privateKey },
    systemRandom,
  )
  return { certificate, privateKey }
}

const root = await issue({ commonName: 'Root', profile: AUTHORITY })
const middle = await issue({ commonName: 'Middle', profile: AUTHORITY, parent: root })
const server = await issue({ commonName: 'door.example', profile: SERVER, parent: middle })

const pkcs8 = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs8' }).toString()
const pem = (...issuers: Issuer[]) => issuers.map((issuer) => issuer.certificate).join('')

function read(certificatePem: string, key: string, at = now) {
  return readServerIdentity({ certificatePem, keyPem: new Secret(key) }, at)
}

function problemsOf(certificatePem: string, key = pkcs8(server.privateKey), at = now) {
  const reading = read(certificatePem, key, at)
  assert.equal(reading.state, 'unusable')
  return reading.problems
}

test('a chain in order with the key of its leaf is usable', () => {
  for (const chain of [pem(server), pem(server, middle), pem(server, middle, root)]) {
    const reading = read(chain, pkcs8(server.privateKey))
    assert.equal(reading.state, 'usable')
    assert.equal(reading.identity.certificatePem, chain)
    assert.equal(reading.identity.keyPem.reveal(), pkcs8(server.privateKey))
    assert.equal(reading.identity.notBefore, server.certificate.validFromDate.getTime())
    assert.equal(reading.identity.notAfter, server.certificate.validToDate.getTime())
    assert.deepEqual(reading.notes, [])
  }
})

test('a self-signed certificate without an extended key usage is usable', () => {
  assert.equal(read(pem(root), pkcs8(root.privateKey)).state, 'usable')
})

test('a key in the older form of elliptic curves is usable, with its parameters or without', () => {
  const sec1 = server.privateKey.export({ format: 'pem', type: 'sec1' }).toString()
  // The object identifier of P-256, as `openssl ecparam -genkey` writes it before the key.
  const parameters =
    '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n'
  assert.equal(read(pem(server, middle), sec1).state, 'usable')
  assert.equal(read(pem(server, middle), parameters + sec1).state, 'usable')
})

test('text, other line endings and a private key in the certificate file are left out', () => {
  const key = pkcs8(server.privateKey)
  const file = `${key}subject=door.example\n${pem(server)}\n# its issuer\n${pem(middle)}`
  const reading = read(file.replaceAll('\n', '\r\n'), key)
  assert.equal(reading.state, 'usable')
  assert.equal(reading.identity.certificatePem, pem(server, middle))
})

test('a file without a certificate, and one without a key, are both named', () => {
  assert.deepEqual(problemsOf('nothing', 'nothing'), [
    'the certificate file holds no certificate in PEM form',
    'the key file holds no private key in PEM form',
  ])
})

test('files that were swapped are refused', () => {
  assert.deepEqual(problemsOf(pkcs8(server.privateKey), pem(server)), [
    'the certificate file holds no certificate in PEM form',
    'the key file holds no private key in PEM form',
  ])
})

test('a certificate that cannot be read is named by its place', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  const problem = ['certificate 2 in the certificate file cannot be read']
  assert.deepEqual(problemsOf(pem(server) + broken + pem(root)), problem)
})

test('a chain that was cut off is refused and does not pass for a shorter one', () => {
  assert.deepEqual(problemsOf(pem(server) + pem(middle).slice(0, 200)), [
    'certificate 2 in the certificate file cannot be read',
  ])
})

test('a key with a passphrase is refused with that reason', () => {
  const lock = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const
  for (const type of ['pkcs8', 'sec1'] as const) {
    assert.deepEqual(
      problemsOf(pem(server), server.privateKey.export({ ...lock, type }).toString()),
      ['the key is encrypted with a passphrase; give it without one'],
    )
  }
})

test('the key of another certificate is refused', async () => {
  const { privateKey } = await newKeyPair()
  assert.deepEqual(problemsOf(pem(server, middle), pkcs8(privateKey)), [
    'the key does not belong to the certificate',
  ])
})

test('a chain from the root down is refused with the right order', () => {
  const problems = problemsOf(pem(middle, server))
  assert.deepEqual(problems, [
    'the key belongs to certificate 2 in the file; its certificate must come first',
    'certificate 2 in the file (CN=door.example) did not issue certificate 1 (CN=Middle); ' +
      'the order is: server certificate, its issuer, the issuer of that',
  ])
})

test('a chain with a gap is refused', () => {
  assert.deepEqual(problemsOf(pem(server, root)), [
    'certificate 2 in the file (CN=Root) did not issue certificate 1 (CN=door.example); ' +
      'the order is: server certificate, its issuer, the issuer of that',
  ])
})

test('an issuer that only has the same name is refused', async () => {
  const impostor = await issue({ commonName: 'Middle', profile: AUTHORITY, parent: root })
  assert.match(problemsOf(pem(server, impostor))[0], /did not issue certificate 1/)
})

test('a certificate that its issuer did not sign as it stands is refused', () => {
  const der = Buffer.from(server.certificate.raw)
  const name = der.lastIndexOf('door.example')
  der.write('bank.example', name)
  const changed = new X509Certificate(der)
  assert.equal(changed.subjectAltName, 'DNS:bank.example')
  assert.match(problemsOf(changed + pem(middle))[0], /did not issue certificate 1/)
})

test('a certificate is refused after its end and before its beginning', () => {
  const key = pkcs8(server.privateKey)
  const { validFromDate, validToDate } = server.certificate
  assert.deepEqual(problemsOf(pem(server), key, plus(now, days(81))), [
    `the certificate expired at ${validToDate.toISOString()}`,
  ])
  assert.deepEqual(problemsOf(pem(server), key, minus(now, days(11))), [
    `the certificate is not valid before ${validFromDate.toISOString()}`,
  ])
})

test('a certificate in the last tenth of its life is usable with a note', () => {
  const key = pkcs8(server.privateKey)
  const lastTenth = plus(now, days(71))
  const before = read(pem(server), key, minus(lastTenth, minutes(1)))
  assert.ok(before.state === 'usable' && before.notes.length === 0)
  const after = read(pem(server), key, plus(lastTenth, minutes(1)))
  assert.equal(after.state, 'usable')
  const end = server.certificate.validToDate.toISOString()
  assert.deepEqual(after.notes, [`the certificate expires soon, at ${end}`])
})

test('an authority of the chain that has expired is noted', async () => {
  const notAfter = minus(now, days(1))
  const old = await issue({ commonName: 'Old', profile: AUTHORITY, parent: root, notAfter })
  const leaf = await issue({ commonName: 'door.example', profile: SERVER, parent: old })
  const reading = read(pem(leaf, old), pkcs8(leaf.privateKey))
  assert.equal(reading.state, 'usable')
  const end = old.certificate.validToDate.toISOString()
  assert.deepEqual(reading.notes, [`the chain's CN=Old expired at ${end}`])
})

test('a certificate made for clients is refused', () => {
  // id-kp-serverAuth and id-kp-clientAuth (RFC 5280 §4.2.1.12) differ in their last octet.
  const der = Buffer.from(server.certificate.raw)
  const usage = Buffer.from('2b06010505070301', 'hex')
  der[der.indexOf(usage) + usage.length - 1] = 2
  assert.deepEqual(problemsOf(new X509Certificate(der).toString()), [
    'the certificate is not made for servers: its extended key usage lacks serverAuth',
  ])
})

test('a key too short for OpenSSL is refused with its reason', async () => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const weak = await issue({ commonName: 'door.example', profile: SERVER, parent: middle, keys })
  const problems = problemsOf(pem(weak, middle), pkcs8(keys.privateKey))
  assert.match(problems[0], /^OpenSSL does not accept the certificate: .*key too small/)
})

test('an RSA certificate of ordinary length is usable', async () => {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const rsa = await issue({ commonName: 'door.example', profile: SERVER, parent: middle, keys })
  assert.equal(read(pem(rsa, middle), pkcs8(keys.privateKey)).state, 'usable')
})

test('no problem sentence shows the key', () => {
  const key = pkcs8(server.privateKey).replace('PRIVATE KEY', 'PRIVATE THING')
  assert.ok(!JSON.stringify(problemsOf('nothing', key)).includes(key.slice(40, 80)))
})
