/**
 * Logins that are older than the fields needed to check a certificate again (D-225) recorded only its fingerprint. The
 * missing values are read from the registered certificate; if none is registered, the proof stays incomplete and is
 * refused. For a login that has the fields, nothing is read.
 */
import { isSignedBy, readCertificates, validity } from '../../../base/certificates.ts'
import type { Ca } from '../../certificates/third-party/ca.ts'
import type { CaTrust } from '../../certificates/verdict.ts'
import type { ProvenPrimary } from '../../factors/proven.ts'
import type { Authenticators } from '../../identities/stores.ts'
import type { Rules } from '../../policies/rules.ts'

export async function completeProof(
  primary: ProvenPrimary,
  authenticators: Pick<Authenticators, 'find'>,
  rules: Pick<Rules, 'cas'>,
): Promise<ProvenPrimary> {
  const { certificate, authenticatorId } = primary
  if (certificate === undefined || certificate.notAfter !== undefined) return primary
  const registered =
    authenticatorId === undefined ? undefined : await authenticators.find(authenticatorId)
  if (registered?.method !== 'cert') return primary
  const { fingerprint, isIssuedByNetwork } = certificate
  const same = [registered, registered.renewal].find((one) => one?.fingerprint === fingerprint)
  const [leaf] = same === undefined ? [] : readCertificates(same.certPem)
  if (leaf === undefined) return primary
  const issuers = isIssuedByNetwork ? [] : rules.cas().flatMap(issuerIn)
  // Registering a CA a second time does not withdraw anything (D-21).
  const found = issuers.find(({ ca }) => ca.isVerified && ca.isAuthEnabled) ?? issuers[0]
  const { notAfter } = validity(leaf)
  return { ...primary, certificate: { ...certificate, notAfter, trust: found?.trust } }

  function issuerIn(ca: Ca): readonly { readonly ca: Ca; readonly trust: CaTrust }[] {
    const [issuer] = readCertificates(ca.certPem)
    if (issuer === undefined || leaf === undefined || !isSignedBy(leaf, issuer)) return []
    const casEndAt = validity(issuer).notAfter
    return [{ ca, trust: { caId: ca.id, throughCaIds: [], casEndAt } }]
  }
}
