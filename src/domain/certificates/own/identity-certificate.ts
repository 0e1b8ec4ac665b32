/**
 * The certificate that an identity logs in with, issued by our own PKI for a CSR: API 3.2. It has the profile of D-40,
 * names only the identity, and lasts as long as configured, but never longer than its CA.
 */
import { X509Certificate } from 'node:crypto'
import { fingerprintOf, writeCertificates } from '../../../base/certificates.ts'
import type { IdentityId } from '../../../base/ids.ts'
import { earlier, minus, plus, wholeSeconds } from '../../../base/time/instant.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { identityUri } from '../../../protocol/spiffe-id.ts'
import type { CertificatePorts } from '../ports.ts'
import { readCsr } from '../session/csr.ts'
import { BACKDATE, newSerial } from '../write-certificate.ts'

export interface IdentityCertificate {
  /** The leaf only, as an authenticator stores it. */
  readonly certPem: string
  readonly fingerprint: string
  /** Leaf first, then intermediates, no root: what the client presents (D-41). */
  readonly chainPem: string
  /** The CAs that the client needs to trust us. */
  readonly caBundlePem: string
}

/** Signs the certificate and stores nothing. Throws COULD_NOT_PROCESS_CSR that names `field`. */
export function issueIdentityCertificate(
  ports: Pick<
    CertificatePorts,
    'authorities' | 'trustDomain' | 'enrolledCertificateDuration' | 'clock' | 'random'
  >,
  identityId: IdentityId,
  { pem, field }: { readonly pem: string; readonly field: string },
): IdentityCertificate {
  const { authorities, trustDomain, clock, random } = ports
  const request = readCsr(pem)
  if ('fault' in request) {
    throw new Failure('COULD_NOT_PROCESS_CSR', { field: { field, reason: request.fault } })
  }
  const now = clock.now()
  const bytes = authorities.signClientCertificate({
    serial: newSerial(random),
    subject: request.subject,
    publicKey: request.publicKey,
    uri: identityUri({ trustDomain, identityId }),
    notBefore: wholeSeconds(minus(now, BACKDATE)),
    notAfter: wholeSeconds(
      earlier(plus(now, ports.enrolledCertificateDuration), authorities.issuingEnd),
    ),
  })
  const certificate = new X509Certificate(bytes)
  const certPem = writeCertificates([certificate])
  return {
    certPem,
    fingerprint: fingerprintOf(certificate),
    chainPem: `${certPem}${authorities.issuingPem}`,
    caBundlePem: authorities.caBundlePem,
  }
}
