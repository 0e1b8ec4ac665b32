/**
 * Whose login a certificate is: SPEC Primary login, D-21. Which certificates are trusted is judged, and tested, in
 * certificates/; here the verdict is given.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chainOf, openOpenssl } from '../../../test/support/certificates/openssl.ts'
import { ManualClock, NOON } from '../../../test/support/clocks/manual-clock.ts'
import { fakePorts } from '../../../test/support/fake-ports.ts'
import { aCa, aCertificate, anIdentity, aPolicy, rulesOf } from '../../../test/support/people.ts'
import type { IdentityId } from '../../base/ids.ts'
import { systemClock } from '../../base/time/clock.ts'
import { days } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import type { CertificateVerdict, TrustedCertificate } from '../certificates/verdict.ts'
import type { CertAuthenticator } from '../identities/authenticator.ts'
import type { Identity } from '../identities/identity.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { proveByCertificate, proveByJudged } from './client-certificate.ts'
import type { FactorPorts } from './ports.ts'

const FINGERPRINT = 'ab'.repeat(32)
const POLICY = aPolicy()
const ZOE = anIdentity()
const BOB = anIdentity({ id: 'identity-2' as IdentityId, externalId: 'bob@example.org' })

const CA = aCa()

const AUTHENTICATOR = aCertificate()

const LATER = plus(NOON, days(1))

const trusted = (change: Partial<TrustedCertificate> = {}): TrustedCertificate => ({
  verdict: 'trusted',
  fingerprint: FINGERPRINT,
  pem: '',
  anchor: { kind: 'network' },
  trust: undefined,
  notAfter: LATER,
  isExpired: false,
  externalId: undefined,
  ...change,
})

interface World {
  readonly judged?: CertificateVerdict
  readonly authenticators?: readonly CertAuthenticator[]
  readonly identities?: readonly Identity[]
  readonly policy?: AuthPolicy
}

function portsOf(world: World) {
  const { authenticators = [AUTHENTICATOR] } = world
  const { identities = [ZOE, BOB], policy = POLICY } = world
  return fakePorts<FactorPorts>({
    authenticators: {
      findCert: async (fingerprint) =>
        authenticators.find((one) => one.fingerprint === fingerprint),
    },
    identities: {
      find: async (id) => identities.find((identity) => identity.id === id),
      findByExternalId: async (id) => identities.find(({ externalId }) => externalId === id),
    },
    rules: rulesOf({ policies: [policy] }),
    clock: new ManualClock(),
  })
}

const judge = (world: World = {}) => proveByJudged(portsOf(world), world.judged ?? trusted())

test('a certificate of our own PKI names the identity of its authenticator', async () => {
  assert.deepEqual(await judge(), {
    verdict: 'accepted',
    identity: ZOE,
    policy: POLICY,
    primary: {
      method: 'cert',
      identityId: ZOE.id,
      authenticatorId: AUTHENTICATOR.id,
      credentialVersion: AUTHENTICATOR.credentialVersion,
      certificate: {
        fingerprint: FINGERPRINT,
        isIssuedByNetwork: true,
        notAfter: LATER,
        trust: undefined,
      },
      signerId: undefined,
      voidedLogins: 0,
      at: NOON,
    },
  })
})

test('the chain of the connection is judged, with the CAs of the rules and our own', async (t) => {
  const openssl = await openOpenssl()
  t.after(() => openssl.close())
  const [root, partner] = [await openssl.makeCa(), await openssl.makeCa()]
  const sub = await openssl.makeCa({ subject: '/CN=Partner Sub', issuer: partner })
  const ports = (cas: readonly Ca[]) =>
    fakePorts<FactorPorts>({
      authenticators: { findCert: async () => undefined },
      ownAnchors: () => [root.pem],
      rules: rulesOf({ cas }),
      clock: systemClock,
    })
  const registered = ports([{ ...CA, certPem: partner.pem }])
  const prove = async (using: FactorPorts, chain: PresentedChain) => {
    const verdict = await proveByCertificate(using, chain)
    return verdict.verdict === 'rejected' ? verdict.reason : verdict.verdict
  }
  // Trusted, and of no identity: the certificate was judged before the look-up.
  const own = chainOf(await openssl.makeLeaf(root))
  assert.equal(await prove(registered, own), 'certificate-unknown')
  const theirs = await openssl.makeLeaf(sub)
  assert.equal(await prove(registered, chainOf(theirs, sub)), 'certificate-unknown')
  assert.equal(await prove(registered, chainOf(theirs)), 'certificate-untrusted')
  assert.equal(await prove(ports([]), chainOf(theirs, sub)), 'certificate-untrusted')
})

test('D-21: through the claim of its CA a certificate names an identity without an authenticator', async () => {
  const trust = { caId: CA.id, throughCaIds: [], casEndAt: LATER }
  const anchor = { kind: 'ca', ca: CA } as const
  const judged = trusted({ anchor, trust, externalId: 'bob@example.org' })
  const verdict = await judge({ judged, authenticators: [] })
  assert.ok(verdict.verdict === 'accepted')
  assert.equal(verdict.identity, BOB)
  assert.equal(verdict.primary.authenticatorId, undefined)
  // D-26: such a certificate is not ours to renew.
  assert.deepEqual(verdict.primary.certificate, {
    fingerprint: FINGERPRINT,
    isIssuedByNetwork: false,
    notAfter: LATER,
    trust,
  })
})

test('D-21: the authenticator goes before the claim', async () => {
  // Attack: the owner of a registered certificate gets another user's external id into it.
  const judged = trusted({ anchor: { kind: 'ca', ca: CA }, externalId: 'bob@example.org' })
  const verdict = await judge({ judged })
  assert.ok(verdict.verdict === 'accepted')
  assert.equal(verdict.identity, ZOE)
})

test('D-26: who issued it is judged by its path, and not by what the authenticator says', async () => {
  const judged = trusted({ anchor: { kind: 'ca', ca: CA } })
  const verdict = await judge({ judged })
  assert.ok(verdict.verdict === 'accepted')
  assert.equal(verdict.primary.certificate?.isIssuedByNetwork, false)
})

const REFUSED: Readonly<
  Record<string, readonly [reason: string, world: World, identityId?: IdentityId]>
> = {
  'a certificate that is registered nowhere': ['certificate-unknown', { authenticators: [] }],
  'a claim that names no identity': [
    'certificate-unknown',
    { authenticators: [], judged: trusted({ externalId: 'nobody' }) },
  ],
  'an identity that is gone': ['identity-missing', { identities: [] }, ZOE.id],
  'a disabled identity': [
    'identity-disabled',
    { identities: [anIdentity({ disabledAt: NOON })] },
    ZOE.id,
  ],
  'a policy that forbids certificates': [
    'method-not-allowed',
    { policy: aPolicy({ cert: { allowed: false } }) },
    ZOE.id,
  ],
  'a policy that is gone': ['method-not-allowed', { policy: aPolicy({ id: 'other' }) }, ZOE.id],
  'an expired certificate': [
    'certificate-expired',
    { judged: trusted({ isExpired: true }) },
    ZOE.id,
  ],
}

for (const [what, [reason, world, identityId]] of Object.entries(REFUSED)) {
  test(`D-12: ${what} is refused as ${reason}`, async () => {
    const { clock: _, ...verdict } = { clock: undefined, ...(await judge(world)) }
    assert.deepEqual(verdict, { verdict: 'rejected', reason, identityId })
  })
}

test('D-12: an untrusted certificate is refused as it was judged, and no identity is looked up', async () => {
  const judged = { verdict: 'rejected', reason: 'certificate-wrong-usage', why: 'no EKU' } as const
  const nobody = fakePorts<FactorPorts>({ clock: new ManualClock() })
  assert.deepEqual(await proveByJudged(nobody, judged), {
    verdict: 'rejected',
    reason: 'certificate-wrong-usage',
    identityId: undefined,
    why: 'no EKU',
  })
})

test('D-12: a connection without a certificate is refused, and nothing is judged', async () => {
  assert.deepEqual(await proveByCertificate(fakePorts<FactorPorts>({}), undefined), {
    verdict: 'rejected',
    reason: 'no-certificate',
    identityId: undefined,
  })
})

test('API 4.4: an expired certificate is taken where the policy says so', async () => {
  const policy = aPolicy({ cert: { allowExpiredCerts: true } })
  const verdict = await judge({ policy, judged: trusted({ isExpired: true }) })
  assert.equal(verdict.verdict, 'accepted')
})
