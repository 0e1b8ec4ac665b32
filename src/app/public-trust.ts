/**
 * Whether browsers trust a server certificate by default: whether it chains to one of the roots that Node ships
 * (Mozilla's). The certificate is our own, so only the chain is checked, not names and times. D-200.
 */
import type { X509Certificate } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { isSignedBy, readCertificate, readCertificates } from '../base/certificates.ts'
import { readChildren, readDer, TAG } from '../base/der.ts'

/** `chainPem`: the certificate, then its intermediates. Returns false if any of them cannot be parsed. */
export function isPubliclyTrusted(
  chainPem: string,
  rootPems: readonly string[] = rootCertificates,
): boolean {
  const chain = readCertificates(chainPem)
  const [leaf, ...others] = chain.filter((certificate) => certificate !== undefined)
  if (leaf === undefined || chain.includes(undefined)) return false
  return leadsToRoot(leaf, others, rootPems)
}

function leadsToRoot(
  certificate: X509Certificate,
  others: readonly X509Certificate[],
  rootPems: readonly string[],
): boolean {
  if (rootsThatMayHaveIssued(certificate, rootPems).some((root) => isSignedBy(certificate, root))) {
    return true
  }
  const issuer = others.find((other) => isSignedBy(certificate, other))
  if (issuer === undefined) return false
  const rest = others.filter((other) => other !== issuer)
  return leadsToRoot(issuer, rest, rootPems)
}

/**
 * Parsing all of more than a hundred roots was a noticeable part of a start, so only those are parsed that
 * contain the name of the issuer. Public CAs must copy it byte by byte (CA/Browser Forum, Baseline Requirements
 * §7.1.4.1).
 */
function rootsThatMayHaveIssued(
  certificate: X509Certificate,
  rootPems: readonly string[],
): readonly X509Certificate[] {
  const name = issuerName(certificate)
  if (name === undefined) return []
  return rootPems
    .filter((pem) => Buffer.from(pem.replaceAll(/-----[^-]*-----/g, ''), 'base64').includes(name))
    .flatMap((pem) => readCertificate(pem) ?? [])
}

/** The Name in DER: in the signed part it follows version, serial number and algorithm (RFC 5280 §4.1). */
function issuerName(certificate: X509Certificate): Uint8Array | undefined {
  const [signed] = readChildren(readDer(certificate.raw), TAG.sequence) ?? []
  const fields = readChildren(signed, TAG.sequence) ?? []
  return fields.find((_, i) => fields[i - 1]?.tag === TAG.sequence)?.raw
}
