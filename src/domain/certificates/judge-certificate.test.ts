/**
 * Who may log in with a certificate, and the reason of every refusal: D-21, R093, R095. The certificates are made
 * by openssl, so that another hand than ours says what they mean.
 */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, test } from 'node:test'
import {
  CA_EXTENSIONS,
  chainOf,
  LEAF_EXTENSIONS,
  type MadeCertificate,
  openOpenssl,
} from '../../../test/support/certificates/openssl.ts'
import { aCa } from '../../../test/support/people.ts'
import type { CaId } from '../../base/ids.ts'
import { systemClock } from '../../base/time/clock.ts'
import { days } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import type { LoginFailureReason } from '../audit/reasons.ts'
import { judgeCertificate } from './judge-certificate.ts'
import type { PresentedChain } from './presented-chain.ts'
import type { Ca } from './third-party/ca.ts'
import type { TrustedCertificate } from './verdict.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { make, makeCa, makeLeaf } = openssl

const root = await makeCa({ subject: '/CN=Our Root' })
const ISSUING_EXTENSIONS = [...CA_EXTENSIONS.slice(0, 2), 'subjectKeyIdentifier=0123456789ABCDEF']
const issuing = await makeCa({
  subject: '/CN=Our Issuing CA',
  issuer: root,
  extensions: ISSUING_EXTENSIONS,
})
const partner = await makeCa({ subject: '/O=Partner/CN=Partner Root' })
const partnerSub = await makeCa({ subject: '/O=Partner/CN=Partner Sub', issuer: partner })
const leaf = await makeLeaf(issuing, { subject: '/CN=alice' })
const partnerLeaf = await makeLeaf(partner, { subject: '/CN=bob' })
const stranger = await makeCa({ subject: '/CN=Stranger' })

let registered = 0
function register(pem: string, change: Partial<Ca> = {}): Ca {
  registered += 1
  return aCa({
    id: `ca-${registered}` as CaId,
    name: `ca ${registered}`,
    certPem: pem,
    ...change,
  })
}

function judge(chain: PresentedChain, cas: readonly Ca[] = [], later = days(0)) {
  const clock = { ...systemClock, now: () => plus(systemClock.now(), later) }
  return judgeCertificate({ ownAnchors: () => [root.pem, issuing.pem], clock }, chain, cas)
}

const endOf = ({ pem }: MadeCertificate) => new X509Certificate(pem).validToDate.getTime()

async function assertTrusted(chain: PresentedChain, cas: readonly Ca[] = []) {
  const verdict = await judge(chain, cas)
  assert.equal(verdict.verdict, 'trusted', verdict.verdict === 'rejected' ? verdict.why : '')
  return verdict as TrustedCertificate
}

async function assertRejected(
  chain: PresentedChain,
  reason: LoginFailureReason,
  why: RegExp,
  cas: readonly Ca[] = [],
) {
  const verdict = await judge(chain, cas)
  assert.equal(verdict.verdict, 'rejected')
  assert.ok(verdict.verdict === 'rejected')
  assert.equal(verdict.reason, reason, verdict.why)
  assert.match(verdict.why, why)
}

const UNKNOWN = /^it does not lead to a CA that is known here \(SHA-256 [0-9a-f]{64}\)$/

test('a certificate of our own PKI is trusted, with or without the chain above it', async () => {
  for (const chain of [
    chainOf(leaf),
    chainOf(leaf, issuing),
    chainOf(leaf, issuing, root),
    chainOf(leaf, root, issuing),
  ]) {
    const { pem, ...verdict } = await assertTrusted(chain)
    assert.deepEqual(verdict, {
      verdict: 'trusted',
      fingerprint: leaf.fingerprint,
      anchor: { kind: 'network' },
      trust: undefined,
      notAfter: endOf(leaf),
      isExpired: false,
      externalId: undefined,
    })
    assert.equal(pem.trim(), leaf.pem.trim())
  }
})

test('an issuing CA of an earlier generation leads to our root when the client sends it', async () => {
  const earlier = await makeCa({ subject: '/CN=Our Issuing CA 0', issuer: root })
  const old = await makeLeaf(earlier)
  await assertTrusted(chainOf(old, earlier))
  await assertRejected(chainOf(old), 'certificate-untrusted', UNKNOWN)
})

test('a certificate of a verified and enabled third-party CA is trusted, and says which', async () => {
  const ca = register(partner.pem)
  const { anchor } = await assertTrusted(chainOf(partnerLeaf), [ca])
  assert.deepEqual(anchor, { kind: 'ca', ca })
  const below = await makeLeaf(partnerSub)
  assert.deepEqual((await assertTrusted(chainOf(below, partnerSub), [ca])).anchor, {
    kind: 'ca',
    ca,
  })
})

test('D-225: returns why a certificate counts, with every registered CA on its path', async () => {
  const ca = register(partner.pem)
  const direct = await assertTrusted(chainOf(partnerLeaf), [ca])
  assert.equal(direct.notAfter, endOf(partnerLeaf))
  assert.deepEqual(direct.trust, { caId: ca.id, throughCaIds: [], casEndAt: endOf(partner) })

  const short = await makeCa({ subject: '/CN=Short', issuer: partner, notAfter: days(1) })
  const below = await makeLeaf(short)
  const sub = { ...register(short.pem), id: 'ca-short' as CaId }
  // The shortest path comes first: it ends at the CA that issued the leaf.
  const { trust } = await assertTrusted(chainOf(below, short), [ca, sub])
  assert.deepEqual(trust, { caId: sub.id, throughCaIds: [], casEndAt: endOf(short) })
  const unverified = { ...sub, isVerified: false }
  const longer = await assertTrusted(chainOf(below, short), [ca, unverified])
  assert.deepEqual(longer.trust, {
    caId: ca.id,
    throughCaIds: [sub.id],
    casEndAt: endOf(short),
  })
})

test('certificates that have nothing to do with it, sent along, change nothing', async () => {
  await assertTrusted(chainOf(leaf, stranger, partner, issuing, leaf))
})

test('R095: an unregistered CA is not trusted, whatever the client sends', async () => {
  const foreign = await makeLeaf(stranger)
  await assertRejected(chainOf(foreign), 'certificate-untrusted', UNKNOWN)
  // Attack: the client brings the root that would make it good.
  await assertRejected(chainOf(foreign, stranger), 'certificate-untrusted', UNKNOWN)
  await assertRejected(chainOf(foreign, stranger, root, issuing), 'certificate-untrusted', UNKNOWN)
  const selfSigned = await make({ extensions: LEAF_EXTENSIONS.slice(0, 4) })
  await assertRejected(chainOf(selfSigned), 'certificate-untrusted', UNKNOWN)
})

test('a CA with the name and the key identifier of ours is not ours', async () => {
  // Attack: names and identifiers are what any issuer may write; only the key counts.
  const double = await makeCa({ subject: '/CN=Our Issuing CA', extensions: ISSUING_EXTENSIONS })
  await assertRejected(chainOf(await makeLeaf(double)), 'certificate-untrusted', UNKNOWN)
  await assertRejected(chainOf(await makeLeaf(double), double), 'certificate-untrusted', UNKNOWN)
})

test('R093: a certificate that was signed with an end-entity key is refused', async () => {
  // Attack: alice has a good certificate and signs one for the administrator with its key.
  const forged = await makeLeaf(leaf, { subject: '/CN=admin' })
  await assertRejected(chainOf(forged, leaf, issuing), 'certificate-untrusted', UNKNOWN)

  // A leaf without a key usage extension, which OpenSSL alone would let sign: the engine must say no.
  const loose = await makeLeaf(issuing, {
    subject: '/CN=loose',
    extensions: ['basicConstraints=critical,CA:FALSE'],
  })
  const v1 = await make({ issuer: issuing, subject: '/CN=version 1' })
  for (const signer of [loose, v1]) {
    const below = await makeLeaf(signer, {
      subject: '/CN=admin',
      extensions: ['extendedKeyUsage=clientAuth'],
    })
    await assertRejected(
      chainOf(below, signer, issuing),
      'certificate-untrusted',
      /One of intermediate certificates is not a CA certificate/,
    )
  }
})

test('R093: with a junk certificate in front, the valid one behind it is ignored', async () => {
  // Attack: the handshake proves the key of the first certificate only; the victim's is public.
  const junk = await make({ subject: '/CN=alice', extensions: LEAF_EXTENSIONS.slice(0, 4) })
  await assertRejected(chainOf(junk, leaf, issuing, root), 'certificate-untrusted', UNKNOWN)
})

test('R093: a certificate with another one as text inside it is not taken for that one', async () => {
  // Attack: Node reads the first PEM block that it finds, also within the fields of a DER certificate.
  const inside = Buffer.from(`\n${leaf.pem}\n`).toString('hex')
  const carrier = await make({
    extensions: [...LEAF_EXTENSIONS.slice(0, 4), `1.3.6.1.4.1.99999.1=DER:${inside}`],
  })
  assert.ok(Buffer.from(carrier.der).includes('BEGIN CERTIFICATE'))
  await assertRejected(chainOf(carrier, issuing), 'certificate-untrusted', /cannot be read$/)
  await assertRejected(chainOf(leaf, carrier), 'certificate-untrusted', /cannot be read$/)
})

test('R095: a CA certificate does not log in', async () => {
  const why = /^it is a CA certificate; those do not log in$/
  const sub = await makeCa({ subject: '/CN=alice', issuer: issuing })
  await assertRejected(chainOf(sub, issuing), 'certificate-is-ca', why)
  const signing = await makeLeaf(issuing, {
    extensions: ['basicConstraints=CA:FALSE', 'keyUsage=digitalSignature,keyCertSign'],
  })
  await assertRejected(chainOf(signing), 'certificate-is-ca', why)
  const known = /^it is the certificate of a CA that is known here$/
  await assertRejected(chainOf(issuing), 'certificate-is-ca', known)
  await assertRejected(chainOf(partner), 'certificate-is-ca', known, [register(partner.pem)])
})

test('an expired certificate is distinguished from a valid one, for the policy to decide', async () => {
  const expired = await makeLeaf(issuing, { notBefore: days(-1.5), notAfter: days(-1) })
  assert.equal((await assertTrusted(chainOf(expired))).isExpired, true)
  // A certificate made before its CA was never valid.
  const before = await makeLeaf(issuing, { notBefore: days(-9), notAfter: days(-8) })
  await assertRejected(chainOf(before), 'certificate-untrusted', /not yet valid or expired/)
})

test('R095: a certificate is refused before its time', async () => {
  const early = await makeLeaf(issuing, { notBefore: days(1), notAfter: days(1.5) })
  await assertRejected(
    chainOf(early),
    'certificate-not-yet-valid',
    /^it is not valid before \d{4}-\d\d-\d\dT/,
  )
  assert.equal((await judge(chainOf(early), [], days(1.1))).verdict, 'trusted')
})

test('D-325: a path that only time makes invalid says by how much, and an invalid one does not', async () => {
  const early = await judge(
    chainOf(await makeLeaf(issuing, { notBefore: days(1), notAfter: days(2) })),
  )
  assert.ok(early.verdict === 'rejected' && early.clock?.of === 'notBefore')
  assert.ok(Math.abs(early.clock.aheadSeconds - 86_400) < 120, String(early.clock.aheadSeconds))

  const dates = { notBefore: days(-1.5), notAfter: days(-1) }
  const old = await makeCa({ subject: '/CN=Old', issuer: root, ...dates })
  const under = await makeLeaf(old, { notBefore: days(-1.4), notAfter: days(1) })
  const late = await judge(chainOf(under, old))
  assert.ok(late.verdict === 'rejected' && late.clock?.of === 'notAfter')
  assert.ok(Math.abs(late.clock.aheadSeconds + 86_400) < 120, String(late.clock.aheadSeconds))

  const stranger = await makeCa({ subject: '/CN=Stranger', ...dates })
  const unknown = await judge(chainOf(await makeLeaf(stranger, dates), stranger))
  assert.equal(unknown.verdict === 'rejected' && unknown.clock, undefined)
})

test('no path leads through an expired CA, also for an expired certificate', async () => {
  const why = /^certificate 2 of the path is not in date/
  const old = await makeCa({
    subject: '/CN=Old',
    issuer: root,
    notBefore: days(-1.5),
    notAfter: days(-1),
  })
  const young = await makeLeaf(old)
  const contemporary = await makeLeaf(old, { notBefore: days(-1.4), notAfter: days(-1.1) })
  for (const shown of [young, contemporary]) {
    await assertRejected(chainOf(shown, old), 'certificate-untrusted', why)
    await assertRejected(chainOf(shown), 'certificate-untrusted', why, [register(old.pem)])
  }
})

test('R095: a certificate for another purpose is refused', async () => {
  const withUsage = (...lines: string[]) =>
    makeLeaf(issuing, { extensions: ['basicConstraints=critical,CA:FALSE', ...lines] })
  await assertRejected(
    chainOf(await withUsage('extendedKeyUsage=serverAuth,emailProtection')),
    'certificate-wrong-usage',
    /^certificate 1 of the path: its extended key usage lacks clientAuth$/,
  )
  await assertRejected(
    chainOf(await withUsage('keyUsage=keyEncipherment', 'extendedKeyUsage=clientAuth')),
    'certificate-wrong-usage',
    /^its key usage lacks digitalSignature$/,
  )
  // RFC 5280 §4.2.1.12: one that names no purpose, or any, is for all of them.
  await assertTrusted(chainOf(await withUsage()))
  await assertTrusted(chainOf(await withUsage('extendedKeyUsage=anyExtendedKeyUsage')))
  await assertTrusted(chainOf(await withUsage('extendedKeyUsage=serverAuth,clientAuth')))
})

test('a CA that is confined to servers makes no client certificates', async () => {
  const serversOnly = await makeCa({
    subject: '/CN=Web',
    issuer: root,
    extensions: [...CA_EXTENSIONS, 'extendedKeyUsage=serverAuth'],
  })
  await assertRejected(
    chainOf(await makeLeaf(serversOnly), serversOnly),
    'certificate-wrong-usage',
    /^certificate 2 of the path: its extended key usage lacks clientAuth$/,
  )
})

test('the certificate of an API session is not a login credential', async () => {
  const uri = 'spiffe://latchkey/identity/i1/apiSession/s1/apiSessionCertificate/c1'
  const ofSession = await makeLeaf(issuing, {
    extensions: [...LEAF_EXTENSIONS, `subjectAltName=URI:spiffe://latchkey/else,URI:${uri}`],
  })
  await assertRejected(
    chainOf(ofSession),
    'certificate-of-session',
    /^it belongs to an API session, which has been logged in already$/,
  )
  const enrolled = await makeLeaf(issuing, {
    extensions: [...LEAF_EXTENSIONS, 'subjectAltName=URI:spiffe://latchkey/identity/i1'],
  })
  await assertTrusted(chainOf(enrolled))
})

test('R095: a CA that is not verified or not enabled says so', async () => {
  const unverified = register(partner.pem, { isVerified: false, verificationToken: 'token' })
  const disabled = register(partner.pem, { isAuthEnabled: false })
  await assertRejected(chainOf(partnerLeaf), 'ca-unverified', /^the CA ca-\d+ is not verified$/, [
    unverified,
  ])
  await assertRejected(
    chainOf(partnerLeaf),
    'ca-disabled',
    /^the CA ca-\d+ is not enabled for authentication$/,
    [disabled],
  )
  const both = register(partner.pem, { isVerified: false, isAuthEnabled: false })
  await assertRejected(chainOf(partnerLeaf), 'ca-unverified', /./, [both])
})

test('registering a CA again takes nothing from the existing registration', async () => {
  const ca = register(partner.pem)
  const renewed = await makeCa({ subject: partner.subject, keyOf: partner })
  const pending = register(renewed.pem, { isVerified: false })
  for (const cas of [
    [ca, pending],
    [pending, ca],
  ]) {
    assert.deepEqual((await assertTrusted(chainOf(partnerLeaf), cas)).anchor, { kind: 'ca', ca })
  }
})

test('a CA that is switched off stays so when the one above it is on', async () => {
  const below = await makeLeaf(partnerSub)
  const above = register(partner.pem)
  const off = register(partnerSub.pem, { isAuthEnabled: false })
  await assertTrusted(chainOf(below, partnerSub), [above])
  await assertRejected(chainOf(below, partnerSub), 'ca-disabled', /./, [above, off])
  await assertTrusted(chainOf(partnerLeaf), [above, off])
})

test('the external id is that of the claim of the CA', async () => {
  const ca = register(partner.pem, {
    externalIdClaim: {
      location: 'SAN_URI',
      matcher: 'PREFIX',
      matcherCriteria: 'urn:person:',
      parser: 'NONE',
      parserCriteria: '',
      index: 0,
    },
  })
  const named = await makeLeaf(partner, {
    extensions: [...LEAF_EXTENSIONS, 'subjectAltName=email:a@b.example,URI:urn:person:4711'],
  })
  assert.equal((await assertTrusted(chainOf(named), [ca])).externalId, '4711')
  assert.equal((await assertTrusted(chainOf(partnerLeaf), [ca])).externalId, undefined)
})

test('too many certificates, too large ones and invalid ones are refused', async () => {
  const why = { many: /^there are too many/, large: /^the certificates of the chain are too large/ }
  const nine = Array.from({ length: 9 }, () => stranger)
  await assertTrusted(chainOf(leaf, ...nine))
  await assertRejected(chainOf(leaf, ...nine, issuing), 'certificate-untrusted', why.many)
  const large = { der: new Uint8Array(64 * 1024) }
  await assertRejected(chainOf(leaf, large), 'certificate-untrusted', why.large)
  for (const der of [
    new Uint8Array(),
    Buffer.from('nothing'),
    Buffer.from(leaf.pem),
    Buffer.concat([leaf.der, Buffer.of(0)]),
    leaf.der.subarray(0, -1),
  ]) {
    await assertRejected(
      chainOf({ der }),
      'certificate-untrusted',
      /^the certificate cannot be read$/,
    )
    await assertRejected(
      chainOf(leaf, { der }),
      'certificate-untrusted',
      /^a certificate of the chain cannot be read$/,
    )
  }
})
