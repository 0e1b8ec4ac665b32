/** What we sign, as OpenSSL reads it: node:crypto parses with it, and the command judges whole chains. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { extensionsOf } from '../../../test/support/certificates/session-certificates.ts'
import { writeCertificates } from '../../base/certificates.ts'
import { type Random, systemRandom } from '../../base/secrets/random.ts'
import { systemClock } from '../../base/time/clock.ts'
import { days, hours } from '../../base/time/duration.ts'
import { instant, minus, plus } from '../../base/time/instant.ts'
import {
  type CertificateProfile,
  type Issuer,
  newKeyPair,
  signCertificate,
} from './write-certificate.ts'

const now = systemClock.now()
const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const needsOpenssl = { skip: hasOpenssl ? false : 'the openssl command is not installed' }

const AUTHORITY: CertificateProfile = { kind: 'authority' }
const LAST_AUTHORITY: CertificateProfile = { kind: 'authority', pathLength: 0 }
const SERVER: CertificateProfile = {
  kind: 'server',
  names: [
    { type: 'dns', value: 'door.example' },
    { type: 'ip', value: '192.0.2.1' },
    { type: 'ip', value: '2001:db8::1' },
  ],
}

async function issue(
  commonName: string,
  profile: CertificateProfile,
  parent?: Issuer,
  random: Random = systemRandom,
): Promise<Issuer> {
  const { publicKey, privateKey } = await newKeyPair()
  const certificate = signCertificate(
    {
      commonName,
      publicKey,
      notBefore: minus(now, hours(1)),
      notAfter: plus(now, days(1)),
      profile,
    },
    parent ?? { privateKey },
    random,
  )
  return { certificate, privateKey }
}

/** The chain from leaf to root, judged by the openssl command. */
function opensslVerify(t: TestContext, chain: readonly Issuer[], ...options: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-x509-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const certificates = chain.map((issuer) => issuer.certificate)
  writeFileSync(join(folder, 'leaf'), writeCertificates(certificates.slice(0, 1)))
  writeFileSync(join(folder, 'others'), writeCertificates(certificates.slice(1)))
  writeFileSync(join(folder, 'root'), writeCertificates(certificates.slice(-1)))
  const trust = ['-no-CAfile', '-no-CApath', '-CAfile', 'root', '-untrusted', 'others']
  const run = spawnSync('openssl', ['verify', '-x509_strict', ...trust, ...options, 'leaf'], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { isGood: run.status === 0, output: run.stdout + run.stderr }
}

test('a server certificate carries its names typed as DNS and IP', async () => {
  const root = await issue('Root', AUTHORITY)
  const { certificate } = await issue('door.example', SERVER, root)
  assert.equal(
    certificate.subjectAltName,
    'DNS:door.example, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1',
  )
  assert.equal(certificate.subject, 'CN=door.example')
  assert.equal(certificate.issuer, 'CN=Root')
  assert.equal(certificate.ca, false)
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
})

test('each profile has its extensions and no other', async () => {
  const root = await issue('Root', AUTHORITY)
  const issuing = await issue('Issuing', LAST_AUTHORITY, root)
  const server = await issue('door.example', SERVER, issuing)
  // RFC 5280 §4.2.1.2 (1): SHA-1 over the key without its algorithm, here the point behind 26 bytes of P-256.
  const identifier = ({ certificate }: Issuer) => {
    const spki = certificate.publicKey.export({ format: 'der', type: 'spki' })
    const hash = createHash('sha1').update(spki.subarray(26)).digest('hex').toUpperCase()
    return hash.match(/../g)?.join(':')
  }
  const authority = {
    'X509v3 Basic Constraints: critical': 'CA:TRUE',
    'X509v3 Key Usage: critical': 'Certificate Sign, CRL Sign',
    'X509v3 Subject Key Identifier': identifier(root),
    'X509v3 Authority Key Identifier': identifier(root),
  }
  assert.deepEqual(await extensionsOf(root.certificate.toString()), authority)
  assert.deepEqual(await extensionsOf(issuing.certificate.toString()), {
    ...authority,
    'X509v3 Basic Constraints: critical': 'CA:TRUE, pathlen:0',
    'X509v3 Subject Key Identifier': identifier(issuing),
  })
  assert.deepEqual(await extensionsOf(server.certificate.toString()), {
    'X509v3 Basic Constraints: critical': 'CA:FALSE',
    'X509v3 Key Usage: critical': 'Digital Signature',
    'X509v3 Extended Key Usage': 'TLS Web Server Authentication',
    'X509v3 Subject Alternative Name':
      'DNS:door.example, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1',
    'X509v3 Subject Key Identifier': identifier(server),
    'X509v3 Authority Key Identifier': identifier(issuing),
  })
})

test('a common name is taken as it is, not as an expression', async () => {
  const { certificate } = await issue('#0c0141', AUTHORITY)
  assert.equal(certificate.toLegacyObject().subject.CN, '#0c0141')
})

test('a serial number has 128 bits and is positive when its first bit is set', async () => {
  const random: Random = { bytes: (count) => new Uint8Array(count).fill(0xff) }
  const { certificate } = await issue('Root', AUTHORITY, undefined, random)
  assert.equal(certificate.serialNumber, 'FF'.repeat(16))
})

test('a serial number that begins with zeros is encoded in its shortest form', async () => {
  // X.690 §8.3.2; strict parsers refuse the certificate otherwise.
  const random: Random = { bytes: (count) => new Uint8Array(count).fill(7, 3) }
  const { certificate } = await issue('Root', AUTHORITY, undefined, random)
  const shortest = Buffer.concat([Buffer.of(0x02, 13), Buffer.alloc(13, 7)])
  assert.ok(certificate.raw.includes(shortest))
})

test('dates from 2050 on have whole seconds too', async () => {
  // RFC 5280 §4.1.2.5.2: GeneralizedTime is YYYYMMDDHHMMSSZ.
  const { publicKey, privateKey } = await newKeyPair()
  const notAfter = instant(Date.UTC(2051, 1, 3, 4, 5, 6, 789))
  const template = { commonName: 'Root', publicKey, notBefore: now, notAfter, profile: AUTHORITY }
  const certificate = signCertificate(template, { privateKey }, systemRandom)
  assert.ok(certificate.raw.includes('\x18\x0f20510203040506Z', 'latin1'))
})

test('a certificate that would end before it begins is not signed', async () => {
  const { publicKey, privateKey } = await newKeyPair()
  const template = {
    commonName: 'Late',
    publicKey,
    notBefore: now,
    notAfter: now,
    profile: AUTHORITY,
  }
  assert.throws(() => signCertificate(template, { privateKey }, systemRandom), {
    message: 'a certificate for "Late" would end before it begins',
  })
})

test(
  'OpenSSL accepts root, issuing CA and server certificate under its strict rules',
  needsOpenssl,
  async (t) => {
    const root = await issue('Root', AUTHORITY)
    const issuing = await issue('Issuing', LAST_AUTHORITY, root)
    const server = await issue('door.example', SERVER, issuing)
    const chain = [server, issuing, root]
    for (const name of [
      ['-verify_hostname', 'door.example'],
      ['-verify_ip', '192.0.2.1'],
      ['-verify_ip', '2001:db8::1'],
    ]) {
      const verdict = opensslVerify(t, chain, '-purpose', 'sslserver', ...name)
      assert.ok(verdict.isGood, verdict.output)
    }
  },
)

test('OpenSSL refuses a server certificate as a client certificate', needsOpenssl, async (t) => {
  const root = await issue('Root', AUTHORITY)
  const server = await issue('door.example', SERVER, root)
  const verdict = opensslVerify(t, [server, root], '-purpose', 'sslclient')
  assert.match(verdict.output, /error 26 /) // X509_V_ERR_INVALID_PURPOSE
})

test('OpenSSL refuses an authority below one with path length 0', needsOpenssl, async (t) => {
  // Attack: an attacker who tricked the issuing CA into signing a CA certificate opens an authority of their own.
  const root = await issue('Root', AUTHORITY)
  const issuing = await issue('Issuing', LAST_AUTHORITY, root)
  const rogue = await issue('Rogue', AUTHORITY, issuing)
  const server = await issue('door.example', SERVER, rogue)
  const chain = [server, rogue, issuing, root]
  assert.match(opensslVerify(t, chain).output, /error 25 /) // X509_V_ERR_PATH_LENGTH_EXCEEDED
})

test(
  'OpenSSL refuses a certificate that was signed with the key of a server',
  needsOpenssl,
  async (t) => {
    // Attack: an instance's own server key is used to issue a certificate for another name.
    const root = await issue('Root', AUTHORITY)
    const server = await issue('door.example', SERVER, root)
    const forged = await issue('bank.example', SERVER, server)
    const chain = [forged, server, root]
    assert.match(opensslVerify(t, chain).output, /error (24|79) /) // invalid CA certificate
  },
)
