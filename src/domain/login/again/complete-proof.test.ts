/**
 * Logins from before the fields that a certificate is checked with again: missing values come from the registered
 * certificate.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openOpenssl } from '../../../../test/support/certificates/openssl.ts'
import { aCa, aCertificate, proven, rulesOf } from '../../../../test/support/people.ts'
import { readCertificates, validity } from '../../../base/certificates.ts'
import type { CaId } from '../../../base/ids.ts'
import { days } from '../../../base/time/duration.ts'
import type { ProvenPrimary } from '../../factors/proven.ts'
import type { CertAuthenticator } from '../../identities/authenticator.ts'
import { completeProof } from './complete-proof.ts'

const openssl = await openOpenssl()
after(() => openssl.close())
const root = await openssl.makeCa({ notAfter: days(30) })
const leaf = await openssl.makeLeaf(root)
const other = await openssl.makeLeaf(await openssl.makeCa())

const endOf = (pem: string) => {
  const [certificate] = readCertificates(pem)
  assert.ok(certificate)
  return validity(certificate).notAfter
}

const CA = aCa({ id: 'partner' as CaId, certPem: root.pem })
const REGISTERED = aCertificate({
  certPem: leaf.pem,
  fingerprint: leaf.fingerprint,
  isIssuedByNetwork: false,
})

function oldLogin(isIssuedByNetwork: boolean, changes: Partial<ProvenPrimary> = {}) {
  const { fingerprint } = leaf
  const unknown = { notAfter: undefined, trust: undefined }
  const certificate = { fingerprint, isIssuedByNetwork, ...unknown }
  return proven({ method: 'cert', certificate, ...changes })
}

const complete = (
  primary: ProvenPrimary,
  authenticator: CertAuthenticator | undefined = REGISTERED,
  cas = [CA],
) => completeProof(primary, { find: async () => authenticator }, rulesOf({ cas }))

test('D-225: an old login with a registered certificate gets its expiry and its CA', async () => {
  const { certificate } = await complete(oldLogin(false))
  assert.equal(certificate?.notAfter, endOf(leaf.pem))
  assert.deepEqual(certificate?.trust, {
    caId: CA.id,
    throughCaIds: [],
    casEndAt: endOf(root.pem),
  })
})

test('uses the enabled one of two registrations of its CA', async () => {
  const off = aCa({ id: 'off' as CaId, certPem: root.pem, isAuthEnabled: false })
  const { certificate } = await complete(oldLogin(false), REGISTERED, [off, CA])
  assert.equal(certificate?.trust?.caId, CA.id)
  const alone = await complete(oldLogin(false), REGISTERED, [off])
  assert.equal(alone.certificate?.trust?.caId, off.id)
})

test('a certificate of our own PKI gets only its expiry', async () => {
  const { certificate } = await complete(oldLogin(true))
  assert.equal(certificate?.notAfter, endOf(leaf.pem))
  assert.equal(certificate?.trust, undefined)
})

test('finds a pending renewal certificate too', async () => {
  const renewal = { certPem: leaf.pem, fingerprint: leaf.fingerprint }
  const { pem: certPem, fingerprint } = other
  const { certificate } = await complete(oldLogin(true), {
    ...REGISTERED,
    certPem,
    fingerprint,
    renewal,
  })
  assert.equal(certificate?.notAfter, endOf(leaf.pem))
})

test('what is not registered stays unknown, and is therefore refused', async () => {
  const primary = oldLogin(false)
  const { pem: certPem, fingerprint } = other
  assert.deepEqual(await complete(primary, { ...REGISTERED, certPem, fingerprint }), primary)
  assert.deepEqual(
    await completeProof(primary, { find: async () => undefined }, rulesOf({})),
    primary,
  )
  const byClaim = oldLogin(false, { authenticatorId: undefined })
  assert.deepEqual(await complete(byClaim), byClaim)
  const { certificate } = await complete(primary, REGISTERED, [])
  assert.equal(certificate?.trust, undefined)
})

test('reads nothing for a login that has the fields, or that has no certificate', async () => {
  const find = () => assert.fail('nothing is read')
  for (const primary of [proven(), await complete(oldLogin(true))]) {
    assert.equal(await completeProof(primary, { find }, rulesOf({})), primary)
  }
})
