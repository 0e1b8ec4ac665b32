/**
 * How many signatures a presented chain makes us verify, and with whose keys. D-321. Attack: verifying is slow with some
 * keys, anyone can present a chain before a login, and certificates that could all have issued each other multiply.
 */
import assert from 'node:assert/strict'
import { type KeyObject, X509Certificate } from 'node:crypto'
import { after, type TestContext, test } from 'node:test'
import {
  AMBIGUOUS_CA,
  AMBIGUOUS_LEAF,
  crossSigned,
} from '../../../test/support/certificates/cross-signed.ts'
import { makeCsr } from '../../../test/support/certificates/csr.ts'
import {
  chainOf,
  type MadeCertificate,
  openOpenssl,
} from '../../../test/support/certificates/openssl.ts'
import { aCa } from '../../../test/support/people.ts'
import { systemClock } from '../../base/time/clock.ts'
import { judgeCertificate } from './judge-certificate.ts'
import type { PresentedChain } from './presented-chain.ts'
import type { Ca } from './third-party/ca.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { make, makeCa, makeLeaf } = openssl

const ours = await makeCa({ subject: '/CN=Ours' })
const partner = await makeCa({ subject: '/CN=Partner' })
const middle = await makeCa({ subject: '/CN=Middle', issuer: partner })

/** The verdict, and the key of every signature that was verified for it. */
async function judge(t: TestContext, chain: PresentedChain, cas: readonly Ca[]) {
  const verify = t.mock.method(X509Certificate.prototype, 'verify')
  const ports = { ownAnchors: () => [ours.pem], clock: systemClock }
  const verdict = await judgeCertificate(ports, chain, cas)
  const keys = verify.mock.calls.map(({ arguments: [key] }) => key)
  verify.mock.restore()
  return { verdict, keys }
}

const areAllOf = (keys: readonly KeyObject[], { pem }: MadeCertificate) =>
  keys.every((key) => key.equals(new X509Certificate(pem).publicKey))

const UNKNOWN = /^it does not lead to a CA that is known here/
const AMBIGUOUS = /^too many CAs could have issued the certificates of its chain/

test('D-321: verifies nothing of a chain whose names lead to no known CA', async (t) => {
  const chain = chainOf(...(await crossSigned(openssl, '/CN=x')))
  const { verdict, keys } = await judge(t, chain, [aCa({ certPem: partner.pem })])
  assert.equal(keys.length, 0)
  assert.ok(verdict.verdict === 'rejected')
  assert.equal(verdict.reason, 'certificate-untrusted')
  assert.match(verdict.why, UNKNOWN)
})

test('D-321: verifies a chain that only names a known CA with the key of that CA alone', async (t) => {
  // Attack: the names of our CAs are public.
  const chain = chainOf(...(await crossSigned(openssl, partner.subject)))
  const { verdict, keys } = await judge(t, chain, [aCa({ certPem: partner.pem })])
  assert.equal(keys.length, 10, 'once for each certificate')
  assert.ok(areAllOf(keys, partner))
  assert.ok(verdict.verdict === 'rejected')
  assert.equal(verdict.reason, 'certificate-untrusted')
  assert.match(verdict.why, UNKNOWN)
})

test('D-321: limits what the holder of a CA can make us verify', async (t) => {
  // Attack: a registered CA vouches for nine others with its own name and different keys.
  const { subject } = partner
  const links: MadeCertificate[] = []
  for (let i = 0; i < 9; i++)
    links.push(await makeCa({ subject, issuer: partner, extensions: AMBIGUOUS_CA }))
  const cas = [aCa({ certPem: partner.pem })]
  const stranger = await makeCa({ subject })
  const refused = await judge(
    t,
    chainOf(await makeLeaf(stranger, { extensions: AMBIGUOUS_LEAF }), ...links),
    cas,
  )
  assert.equal(refused.keys.length, 16)
  assert.ok(refused.verdict.verdict === 'rejected')
  assert.equal(refused.verdict.reason, 'certificate-untrusted')
  assert.match(refused.verdict.why, AMBIGUOUS)

  // RFC 5280 §4.2.1.1: with a key identifier, it is clear which CA issued the leaf.
  const last = links.at(-1)
  assert.ok(last !== undefined)
  const accepted = await judge(t, chainOf(await makeLeaf(last), ...links), cas)
  assert.equal(accepted.verdict.verdict, 'trusted')
})

test('D-321: the chain of an ordinary client costs one verification for each signature', async (t) => {
  const leaf = await makeLeaf(middle)
  for (const [expected, chain] of [
    [2, chainOf(leaf, middle)],
    [2, chainOf(leaf, middle, partner)],
    [2, chainOf(leaf, partner, ours, middle, middle, leaf)],
  ] as const) {
    const { verdict, keys } = await judge(t, chain, [aCa({ certPem: partner.pem })])
    assert.equal(verdict.verdict, 'trusted')
    assert.equal(keys.length, expected)
  }
})

test('D-321: the longest chain is trusted', async (t) => {
  const links: MadeCertificate[] = []
  for (let i = 0; i < 9; i++) {
    links.unshift(await makeCa({ subject: `/CN=Link ${i}`, issuer: links[0] ?? partner }))
  }
  const [issuer] = links
  assert.ok(issuer !== undefined)
  const chain = chainOf(await makeLeaf(issuer), ...links)
  const { verdict, keys } = await judge(t, chain, [aCa({ certPem: partner.pem })])
  assert.equal(verdict.verdict, 'trusted')
  assert.equal(keys.length, 10)
})

test('D-321: a refused chain costs nothing when its connection presents it again', async (t) => {
  const cas = [aCa({ certPem: partner.pem })]
  const chain = chainOf(
    await make({ subject: '/CN=x', issuer: await makeCa({ subject: partner.subject }) }),
  )
  const first = await judge(t, chain, cas)
  assert.equal(first.keys.length, 1)
  const second = await judge(t, chain, cas)
  assert.equal(second.keys.length, 0)
  assert.equal(second.verdict, first.verdict)
})

test('D-321: RSA keys of 4096 bits work on the whole path, and slow ones on none', async (t) => {
  const root = await makeCa({ subject: '/CN=Rivest', key: 'rsa-4096' })
  const sub = await makeCa({ subject: '/CN=Shamir', issuer: root, keyOf: root })
  const cas = [aCa({ certPem: root.pem })]
  const chain = chainOf(await makeLeaf(sub, { keyOf: root }), sub)
  assert.equal((await judge(t, chain, cas)).verdict.verdict, 'trusted')

  // Attack: a key with an exponent of 64 bits, certified by a known CA.
  const keyOf = await makeCsr({ key: 'RSA with a long exponent' })
  const slow = await makeCa({ subject: '/CN=Slow', issuer: root, keyOf })
  const below = await judge(t, chainOf(await makeLeaf(slow), slow), cas)
  assert.equal(below.keys.length, 0)
  assert.ok(below.verdict.verdict === 'rejected')
  assert.match(below.verdict.why, UNKNOWN)
  const leaf = await judge(t, chainOf(await makeLeaf(root, { keyOf })), cas)
  assert.ok(leaf.verdict.verdict === 'rejected')
  assert.match(leaf.verdict.why, /^certificate 1 of the path: its key has an RSA exponent/)
})

test('D-321: a CA that was registered again with another key is found by its name', async (t) => {
  const renewed = await makeCa({ subject: partner.subject })
  const cas = [partner, renewed].map(({ pem }) => aCa({ certPem: pem }))
  const { verdict, keys } = await judge(
    t,
    chainOf(await makeLeaf(renewed, { extensions: AMBIGUOUS_LEAF })),
    cas,
  )
  assert.equal(verdict.verdict, 'trusted')
  assert.ok(keys.length <= 2 + 1, 'with both keys, and once for the record of its trust')
})
