/**
 * Certificate requests of strangers: whatever they are, there is a verdict, and what is taken fits into a certificate
 * that other programs read. R097. How long a reading may take is not measured: what would take for ever, or as many
 * levels of a stack as there are levels in the bytes, does not come to its end here.
 */

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { readChildren, readDer, TAG } from '../../src/base/der.ts'
import { systemClock } from '../../src/base/time/clock.ts'
import { hours } from '../../src/base/time/duration.ts'
import { plus } from '../../src/base/time/instant.ts'
import { LARGEST_CSR, readCsr } from '../../src/domain/certificates/session/csr.ts'
import { SUBJECT_NAMES } from '../../src/protocol/x509.ts'
import { openStore } from '../../src/store/open.ts'
import {
  csrPem,
  derOf,
  handMadeCsr,
  makeCsr,
  namePart,
  TEXT,
  tlv,
} from '../support/certificates/csr.ts'
import { sessionCertificatesOn } from '../support/certificates/session-certificates.ts'
import { rounds } from '../support/chance/rounds.ts'
import { edits, mutate } from './der-edits.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const store = await openStore({ kind: 'sqlite', path: ':memory:' })
const { authorities } = await sessionCertificatesOn(store, systemClock)
await store.close()
const issuing = new X509Certificate(authorities.issuingPem)

const good = await Promise.all(
  (['P-256', 'P-521', 'RSA 2048', 'Ed25519'] as const).map(async (key) =>
    derOf((await makeCsr({ key, subject: '/C=CH/O=Example/CN=laptop' })).pem),
  ),
)

/** A request that is taken gives a certificate that Node reads and that our CA signed. Answers the fault, if any. */
function judge(pem: string): string | undefined {
  const request = readCsr(pem)
  if ('fault' in request) {
    assert.match(request.fault, /^(?:is|has) [\x20-\x7e]+$/)
    return request.fault
  }
  for (const { name, value } of request.subject) {
    assert.ok(SUBJECT_NAMES.includes(name))
    assert.doesNotMatch(value, /\p{Cc}/u)
    assert.ok(value.length > 0 && value.length <= 128)
  }
  const bytes = authorities.signClientCertificate({
    ...request,
    serial: Buffer.alloc(16, 1),
    uri: 'spiffe://latchkey/identity/i/apiSession/s/apiSessionCertificate/c',
    notBefore: systemClock.now(),
    notAfter: plus(systemClock.now(), hours(1)),
  })
  const certificate = new X509Certificate(Buffer.from(bytes))
  assert.equal(certificate.verify(issuing.publicKey), true)
  assert.equal(certificate.ca, false)
  return undefined
}

test('the requests that are changed below are good ones', () => {
  for (const der of good) assert.equal(judge(csrPem(der)), undefined)
})

/** What is signed, and the signature. The name of the algorithm between them is not signed. */
function provenOf(der: Uint8Array): string {
  const [info, , signature] = readChildren(readDer(der), TAG.sequence) ?? []
  return JSON.stringify([info?.raw, signature?.raw])
}

test('a changed request is refused: whatever was changed, it is no longer signed', () => {
  fc.assert(
    fc.property(fc.constantFrom(...good), edits, (der, all) => {
      const changed = mutate(der, all)
      const fault = judge(csrPem(changed))
      if (fault === undefined) assert.equal(provenOf(changed), provenOf(der))
    }),
  )
})

test('whatever stands under a good signature, there is a verdict, and what is taken can be issued', () => {
  // Behind the signature the bytes are read by us alone.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const whole = derOf(handMadeCsr({ privateKey, subject: namePart('CN', 'laptop') }))
  const [info, algorithm] = readChildren(readDer(whole), TAG.sequence) ?? []
  assert.ok(info !== undefined && algorithm !== undefined)
  fc.assert(
    fc.property(edits, (all) => {
      const signed = mutate(info.raw, all)
      const bits = tlv(0x03, Buffer.of(0), sign('sha256', signed, privateKey))
      judge(csrPem(tlv(0x30, signed, algorithm.raw, bits)))
    }),
  )
})

test('subjects of any texts, kinds and numbers are read or refused as a whole', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const part = fc
    .tuple(
      fc.constantFrom('CN', 'C', 'L', 'ST', 'O', 'OU', 'serialNumber', 'title'),
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 140 }),
        fc.uint8Array({ maxLength: 140 }),
        fc.constantFrom('CH', 'laptop'),
      ),
      fc.constantFrom(...Object.values(TEXT), 0x02, 0x30),
    )
    .map(([name, value, tag]) =>
      namePart(name, typeof value === 'string' ? value : Buffer.from(value), tag),
    )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 70 }), (parts) => {
      judge(handMadeCsr({ privateKey, subject: Buffer.concat(parts) }))
    }),
  )
})

test('random bytes and random text are refused', () => {
  const der = fc.uint8Array({ maxLength: 300 })
  fc.assert(fc.property(der, (bytes) => assert.notEqual(judge(csrPem(bytes)), undefined)))
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc
      .array(
        fc.constantFrom(
          '-----BEGIN CERTIFICATE REQUEST-----',
          '-----END CERTIFICATE REQUEST-----',
          '-----BEGIN ',
          '-----',
          '\n',
          ' ',
          '=',
          'MIIB',
          'é',
          '\u0000',
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(fc.property(text, (pem) => assert.notEqual(judge(pem), undefined)))
})

test('random values inside values, true and lying about their lengths, are refused', () => {
  const { value } = fc.letrec<{ value: Buffer; list: Buffer }>((tie) => ({
    list: fc
      .tuple(fc.constantFrom(0x30, 0x31, 0xa0), fc.array(tie('value'), { maxLength: 5 }))
      .map(([tag, content]) => tlv(tag, ...content)),
    value: fc.oneof(
      { depthSize: 'medium' },
      fc
        .tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 20 }))
        .map(([tag, content]) => tlv(tag, content)),
      tie('list'),
      fc.tuple(tie('list'), fc.integer({ min: 0, max: 255 })).map(([list, lie]) => {
        const lying = Buffer.from(list)
        lying[1] = lie
        return lying
      }),
    ),
  }))
  fc.assert(fc.property(value, (der) => assert.notEqual(judge(csrPem(der)), undefined)))
})

test('lengths that promise megabytes, and values within values as deep as 16 KiB allow, are refused', () => {
  const room = Math.floor((LARGEST_CSR * 3) / 4) - 600
  const deep = (tag: number) => {
    let bytes: Buffer = Buffer.alloc(0)
    while (bytes.length < room) bytes = tlv(tag, bytes)
    return bytes
  }
  const lies = ['3083ffffff', '3084ffffffff', '30ff', '3080', '308f'].map((hex) =>
    Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(64, 0x30)]),
  )
  const many = tlv(0x30, Buffer.alloc(room, Buffer.from('0500', 'hex')))
  for (const bytes of [...lies, many, deep(0x30), deep(0x31), deep(0xa0)]) {
    assert.equal(judge(csrPem(bytes)), 'is not a PKCS #10 request in DER')
  }
  // The same in the places that are read: the subject, and behind the key, where nothing is.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  for (const subject of [deep(0x31), many, tlv(0x31, many), tlv(0x31, deep(0x30))]) {
    assert.match(judge(handMadeCsr({ privateKey, subject })) ?? '', /subject/)
  }
  assert.equal(judge(handMadeCsr({ privateKey, rest: deep(0xa0) })), undefined)
})
