/** A certificate submitted as an authenticator, in our own form. API 4.2. */
import { isSignedBy, readCertificates } from '../../base/certificates.ts'
import { Failure } from '../../errors/catalogue.ts'
import { readLeafCertificate } from '../certificates/third-party/prove-ca.ts'
import type { RegisteredCertificate } from '../identities/authenticator.ts'

/** `ownAnchors`: our own root and issuing CAs, in PEM. Throws INVALID_CERT_PEM. */
export function registeredCertificate(
  pem: string,
  ownAnchors: readonly string[],
): RegisteredCertificate {
  const read = readLeafCertificate(pem)
  if (typeof read === 'string') throw new Failure(read)
  const { certPem, fingerprint } = read
  const [certificate] = readCertificates(certPem)
  const isIssuedByNetwork = ownAnchors
    .flatMap(readCertificates)
    .some((anchor) => anchor && certificate && isSignedBy(certificate, anchor))
  return { certPem, fingerprint, isIssuedByNetwork }
}
