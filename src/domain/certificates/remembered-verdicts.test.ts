/**
 * A chain that was trusted is not validated again (D-283), nor one that was refused on the same connection (D-321), and
 * a remembered verdict never outlives what it rests on. A verdict that was remembered is the same object; a new one is
 * not.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { chainOf, openOpenssl } from '../../../test/support/certificates/openssl.ts'
import { aCa } from '../../../test/support/people.ts'
import { systemClock } from '../../base/time/clock.ts'
import { days, milliseconds } from '../../base/time/duration.ts'
import { type Instant, instant, plus } from '../../base/time/instant.ts'
import { createGround } from './grounds-of-trust.ts'
import { judgeCertificate } from './judge-certificate.ts'
import type { PresentedChain } from './presented-chain.ts'
import type { Ca } from './third-party/ca.ts'
import type { TrustedCertificate } from './verdict.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const { makeCa, makeLeaf } = openssl

const NOW = systemClock.now()
const MOMENT = milliseconds(1)
const ours = await makeCa({ subject: '/CN=Ours', notAfter: days(100) })
const partner = await makeCa({ subject: '/CN=Partner', notAfter: days(20) })
const middle = await makeCa({ subject: '/CN=Middle', issuer: partner, notAfter: days(10) })
const alice = chainOf(await makeLeaf(middle, { subject: '/CN=alice', notAfter: days(30) }), middle)
const bob = chainOf(await makeLeaf(ours, { subject: '/CN=bob', notAfter: days(5) }))

function judge(
  chain: PresentedChain,
  cas: readonly Ca[],
  { at = NOW, own = [ours.pem] }: { at?: Instant; own?: readonly string[] } = {},
) {
  return judgeCertificate(
    { ownAnchors: () => own, clock: { ...systemClock, now: () => at } },
    chain,
    cas,
  )
}

const reasonOf = (verdict: Awaited<ReturnType<typeof judge>>) =>
  verdict.verdict === 'rejected' ? verdict.reason : verdict.verdict

test('validates a chain once, and every other chain for itself', async () => {
  const cas = [aCa({ certPem: partner.pem })]
  const first = await judge(alice, cas)
  assert.equal(first.verdict, 'trusted')
  const copy = {
    leaf: Uint8Array.from(alice.leaf),
    others: alice.others.map((der) => Uint8Array.from(der)),
  }
  assert.equal(await judge(copy, cas), first)
  assert.notEqual(await judge(bob, cas), first)
  // Attack: the certificates of a trusted chain, cut at another place or in another order.
  const [link] = alice.others
  assert.ok(link)
  const joined = { leaf: Buffer.concat([alice.leaf, link]), others: [] }
  assert.equal(reasonOf(await judge(joined, cas)), 'certificate-untrusted')
  assert.equal(
    reasonOf(await judge({ leaf: link, others: [alice.leaf] }, cas)),
    'certificate-is-ca',
  )
  // Attack: a trusted chain with one bit of its leaf, or of its signature, flipped.
  for (const at of [alice.leaf.length - 1, Math.floor(alice.leaf.length / 2)]) {
    const leaf = Uint8Array.from(alice.leaf, (byte, i) => (i === at ? byte ^ 1 : byte))
    assert.equal((await judge({ ...alice, leaf }, cas)).verdict, 'rejected')
  }
})

test('forgets a verdict when a CA is disabled, unverified, deleted or replaced', async () => {
  const ca = aCa({ certPem: partner.pem })
  assert.equal((await judge(alice, [ca])).verdict, 'trusted')
  assert.equal(reasonOf(await judge(alice, [{ ...ca, isAuthEnabled: false }])), 'ca-disabled')
  assert.equal(reasonOf(await judge(alice, [{ ...ca, isVerified: false }])), 'ca-unverified')
  assert.equal(reasonOf(await judge(alice, [])), 'certificate-untrusted')
  const off = aCa({ certPem: middle.pem, isAuthEnabled: false })
  assert.equal(reasonOf(await judge(alice, [ca, off])), 'ca-disabled')
})

test('forgets a verdict when our own CA is replaced', async () => {
  const cas: readonly Ca[] = []
  assert.equal((await judge(bob, cas)).verdict, 'trusted')
  assert.equal(reasonOf(await judge(bob, cas, { own: [partner.pem] })), 'certificate-untrusted')
  assert.equal((await judge(bob, cas, { own: [partner.pem, ours.pem] })).verdict, 'trusted')
})

test('checks the times of the leaf and of every CA as if the chain were new', async () => {
  const cas = [aCa({ certPem: partner.pem })]
  const before = await judge(bob, cas)
  assert.ok(before.verdict === 'trusted' && !before.isExpired)
  assert.equal(await judge(bob, cas, { at: before.notAfter }), before)
  const expired = await judge(bob, cas, { at: plus(before.notAfter, MOMENT) })
  assert.ok(expired.verdict === 'trusted' && expired.isExpired)

  const trusted = await judge(alice, cas)
  assert.ok(trusted.verdict === 'trusted' && trusted.trust !== undefined)
  const { casEndAt } = trusted.trust
  assert.equal((await judge(alice, cas, { at: casEndAt })).verdict, 'trusted')
  const late = await judge(alice, cas, { at: plus(casEndAt, MOMENT) })
  assert.equal(reasonOf(late), 'certificate-untrusted')
  // The clock is set back.
  assert.equal((await judge(alice, cas)).verdict, 'trusted')
  const early = await judge(alice, cas, { at: instant(NOW - days(40)) })
  assert.equal(early.verdict, 'rejected')
})

test('D-321: remembers a refused chain on its connection alone, until a CA changes', async () => {
  const cas: readonly Ca[] = []
  const refused = await judge(alice, cas)
  assert.equal(reasonOf(refused), 'certificate-untrusted')
  assert.equal(await judge(alice, cas), refused)
  // Another connection has an object of its own: anonymous callers cannot fill the memory.
  assert.notEqual(await judge({ ...alice }, cas), refused)
  assert.equal((await judge(alice, [aCa({ certPem: partner.pem })])).verdict, 'trusted')
  assert.equal((await judge(alice, cas, { own: [partner.pem] })).verdict, 'trusted')
})

test('D-321, D-325: checks the time of a refused chain as if the chain were new', async () => {
  const cas = [aCa({ certPem: partner.pem })]
  const early = instant(NOW - days(40))
  const first = await judge(alice, cas, { at: early })
  const second = await judge(alice, cas, { at: plus(early, days(1)) })
  assert.ok(first.verdict === 'rejected' && second.verdict === 'rejected')
  assert.ok(first.clock !== undefined && second.clock !== undefined)
  assert.notEqual(first.clock.aheadSeconds, second.clock.aheadSeconds)
  assert.equal((await judge(alice, cas)).verdict, 'trusted')

  // Refused because of its purpose, until its CA is out of date as well.
  const extensions = ['extendedKeyUsage=serverAuth']
  const other = chainOf(await makeLeaf(middle, { extensions, notAfter: days(30) }), middle)
  const refused = await judge(other, cas)
  assert.equal(reasonOf(refused), 'certificate-wrong-usage')
  assert.equal(await judge(other, cas), refused)
  const late = await judge(other, cas, { at: plus(NOW, days(11)) })
  assert.equal(reasonOf(late), 'certificate-untrusted')
})

test('remembers a bounded number of chains', () => {
  const ground = createGround([], 2)
  const chains = ['a', 'b', 'c'].map((leaf) => ({ leaf: Buffer.from(leaf), others: [] }))
  const verdict = {} as TrustedCertificate
  const certificates = {
    leaf: { validFromDate: new Date(0), validToDate: new Date(NOW + 1) } as never,
    others: [],
  }
  for (const chain of chains) ground.remember(chain, certificates, verdict, NOW)
  const isKnown = chains.map((chain) => ground.recall(chain, NOW) !== undefined)
  assert.deepEqual(isKnown, [false, true, true])
})
