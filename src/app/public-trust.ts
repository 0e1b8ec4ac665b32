/**
 * Whether browsers trust a server certificate by default: whether it chains to one of the roots that Node ships
 * (Mozilla's). The certificate is our own, so only the chain is checked, not names and times. D-200.
 */
import type { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { isSignedBy, readCertificate, readCertificates } from '../base/certificates.ts'

/** `chainPem`: the certificate, then its intermediates. Returns false if any of them cannot be parsed. */
export function isPubliclyTrusted(
  chainPem: string,
  rootPems: readonly string[] = rootCertificates,
): boolean {
  const chain = readCertificates(chainPem)
  const [leaf, ...others] = chain.filter((certificate) => certificate !== undefined)
  if (leaf === undefined || chain.includes(undefined)) return false
  return leadsToRoot(
    leaf,
    others,
    rootPems.flatMap((pem) => readCertificate(pem) ?? []),
  )
}

function leadsToRoot(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): boolean {
  if (roots.some((root) => isSignedBy(certificate, root))) return true
  const issuer = others.find((other) => isSignedBy(certificate, other))
  if (issuer === undefined) return false
  const rest = others.filter((other) => other !== issuer)
  return leadsToRoot(issuer, rest, roots)
}
