/**
 * Whether browsers trust a server certificate by default: whether it chains to one of the roots that Node ships
 * (Mozilla's). The certificate is our own, so only the chain is checked, not names and times. D-200.
 */
import { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/** `chainPem`: the certificate, then its intermediates. Returns false if any of them cannot be parsed. */
export function isPubliclyTrusted(
  chainPem: string,
  rootPems: readonly string[] = rootCertificates,
): boolean {
  try {
    const [leaf, ...others] = (chainPem.match(PEM) ?? []).map((pem) => new X509Certificate(pem))
    if (leaf === undefined) return false
    const roots = rootPems.map((pem) => new X509Certificate(pem))
    return leadsToRoot(leaf, others, roots)
  } catch {
    return false
  }
}

function leadsToRoot(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): boolean {
  if (roots.some((root) => isIssuedBy(certificate, root))) return true
  const issuer = others.find((other) => isIssuedBy(certificate, other))
  if (issuer === undefined) return false
  const rest = others.filter((other) => other !== issuer)
  return leadsToRoot(issuer, rest, roots)
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}
