/**
 * Properties of the judge of client certificates: whatever bytes come, there is a verdict, and none that was not
 * signed by a known CA is trusted (R093, R095).
 */

import assert from 'node:assert/strict'
import { createPrivateKey, sign } from 'node:crypto'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../../src/base/time/clock.ts'
import { judgeCertificate } from '../../src/domain/certificates/judge-certificate.ts'
import type { PresentedChain } from '../../src/domain/certificates/presented-chain.ts'
import {
  readCaCertificate,
  readLeafCertificate,
} from '../../src/domain/certificates/third-party/prove-ca.ts'
import { CA_EXTENSIONS, LEAF_EXTENSIONS, openOpenssl } from '../support/certificates/openssl.ts'
import { rounds } from '../support/chance/rounds.ts'
import { edits, mutate } from './der-edits.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const openssl = await openOpenssl()
after(() => openssl.close())
const root = await openssl.makeCa({ subject: '/CN=Root' })
const sub = await openssl.makeCa({
  subject: '/O=Example/CN=Sub',
  issuer: root,
  extensions: [
    ...CA_EXTENSIONS,
    'certificatePolicies=1.2.3.4',
    'nameConstraints=critical,permitted;email:.example,excluded;URI:.bad.example',
    'policyConstraints=requireExplicitPolicy:5',
  ],
})
const leaf = await openssl.makeLeaf(sub, {
  subject: '/O=Example/CN=alice',
  extensions: [
    ...LEAF_EXTENSIONS,
    'certificatePolicies=1.2.3.4',
    'subjectAltName=email:a@b.example,URI:urn:person:1,IP:192.0.2.1,dirName:name',
    '[name]',
    'CN=alice',
  ],
})
const ports = { ownAnchors: () => [root.pem], clock: systemClock }

const REASONS: ReadonlySet<string> = new Set([
  'certificate-untrusted',
  'certificate-not-yet-valid',
  'certificate-wrong-usage',
  'certificate-is-ca',
  'certificate-of-session',
])

/** Changes that leave every length as it was, so that more of it can be read. */
const bytes = fc.array(
  fc.record({ at: fc.nat(), what: fc.record({ put: fc.integer({ min: 0, max: 255 }) }) }),
  { minLength: 1, maxLength: 2 },
)
test('the certificate that is changed below is a good one', async () => {
  const verdict = await judgeCertificate(ports, { leaf: leaf.der, others: [sub.der] }, [])
  assert.equal(verdict.verdict, 'trusted', JSON.stringify(verdict))
})

test('a changed certificate is refused with a reason, and nothing throws', async () => {
  await fc.assert(
    fc.asyncProperty(edits, fc.constantFrom('leaf', 'sub', 'both'), async (all, which) => {
      const chain: PresentedChain = {
        leaf: which === 'sub' ? leaf.der : mutate(leaf.der, all),
        others: [which === 'leaf' ? sub.der : mutate(sub.der, all)],
      }
      const isChanged =
        !Buffer.from(leaf.der).equals(chain.leaf) ||
        !Buffer.from(sub.der).equals(chain.others[0] ?? Buffer.of())
      const verdict = await judgeCertificate(ports, chain, [])
      if (verdict.verdict === 'trusted') assert.equal(isChanged, false)
      else assert.ok(REASONS.has(verdict.reason), verdict.reason)
    }),
  )
})

test('random bytes, any number of them, are refused and nothing throws', async () => {
  const der = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.constantFrom<Uint8Array>(
      root.der,
      sub.der,
      Buffer.from(leaf.pem),
      Buffer.from('30820000', 'hex'),
    ),
  )
  await fc.assert(
    fc.asyncProperty(der, fc.array(der, { maxLength: 12 }), async (first, others) => {
      const verdict = await judgeCertificate(ports, { leaf: first, others }, [])
      assert.equal(verdict.verdict, 'rejected')
      assert.ok(verdict.verdict === 'rejected' && REASONS.has(verdict.reason))
    }),
  )
})

test('whatever a known CA puts its signature under, there is a verdict', async () => {
  // Behind the signature, the bytes are read by another library: what it cannot read must not come out as good.
  const parts = { leaf: partsOf(leaf.der), sub: partsOf(sub.der) }
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom('leaf', 'sub'), async (all, which) => {
      const signed =
        which === 'leaf'
          ? resign(mutate(parts.leaf.body, all), parts.leaf.algorithm, sub.keyPem)
          : resign(mutate(parts.sub.body, all), parts.sub.algorithm, root.keyPem)
      const chain: PresentedChain =
        which === 'leaf'
          ? { leaf: signed, others: [sub.der] }
          : { leaf: leaf.der, others: [signed] }
      const verdict = await judgeCertificate(ports, chain, [])
      assert.ok(verdict.verdict === 'trusted' || REASONS.has(verdict.reason))
    }),
  )
})

test('what is handed in as PEM is read or refused, and nothing throws', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    edits.map((all) => mutate(Buffer.from(root.pem), all).toString('latin1')),
    edits.map((all) => toPem(mutate(root.der, all))),
  )
  fc.assert(
    fc.property(text, (pem) => {
      const ca = readCaCertificate(pem)
      if (typeof ca === 'string') assert.match(ca, /^INVALID_CERT_PEM$|^CERTIFICATE_IS_NOT_CA$/)
      else assert.match(ca.fingerprint, /^[0-9a-f]{64}$/)
      const read = readLeafCertificate(pem)
      if (typeof read === 'string') assert.equal(read, 'INVALID_CERT_PEM')
      else assert.match(read.fingerprint, /^[0-9a-f]{64}$/)
    }),
  )
})

function toPem(der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replace(/.{64}/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

/** RFC 5280 §4.1: what is signed, without its tag and length; then the algorithm; then the signature. */
function partsOf(der: Uint8Array): { readonly body: Buffer; readonly algorithm: Buffer } {
  const all = Buffer.from(der)
  const signed = headerAt(all, headerAt(all, 0).start)
  const end = signed.start + signed.length
  const algorithm = headerAt(all, end)
  return {
    body: all.subarray(signed.start, end),
    algorithm: all.subarray(end, algorithm.start + algorithm.length),
  }
}

/** Tag and length in DER, for lengths below 64 KiB. */
function headerAt(der: Buffer, at: number): { readonly start: number; readonly length: number } {
  const first = der[at + 1] ?? 0
  if (first < 0x80) return { start: at + 2, length: first }
  return first === 0x81
    ? { start: at + 3, length: der[at + 2] ?? 0 }
    : { start: at + 4, length: der.readUInt16BE(at + 2) }
}

function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  const { length } = body
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), body])
}

function resign(body: Buffer, algorithm: Buffer, keyPem: string): Buffer {
  const tbs = element(0x30, body)
  const signature = sign('sha256', tbs, createPrivateKey(keyPem))
  return element(0x30, tbs, algorithm, element(0x03, Buffer.of(0), signature))
}
