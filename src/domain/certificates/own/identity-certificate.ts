/**
 * The certificate that an identity logs in with, issued by our own PKI for a CSR: API 3.2. It has the profile of D-40,
 * names only the identity and, for a router, its hosts, and lasts as long as configured, but never longer than its CA.
 */
import { X509Certificate } from 'node:crypto'
import { fingerprintOf, writeCertificates } from '../../../base/certificates.ts'
import { earlier, minus, plus, wholeSeconds } from '../../../base/time/instant.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { identityUri } from '../../../protocol/spiffe-id.ts'
import { LONGEST_COMMON_NAME, type SubjectPart } from '../../../protocol/x509.ts'
import type { Identity } from '../../identities/identity.ts'
import { certificateNames } from '../../identities/router-hosts.ts'
import type { CertificatePorts } from '../ports.ts'
import { readCsr } from '../session/csr.ts'
import { BACKDATE, type ClientCertificate, newSerial } from '../write-certificate.ts'
import { parseServerName } from './server-name.ts'

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
  identity: Pick<Identity, 'id' | 'hosts'>,
  { pem, field }: { readonly pem: string; readonly field: string },
): IdentityCertificate {
  const { authorities, trustDomain, clock, random } = ports
  const request = readCsr(pem)
  if ('fault' in request) {
    throw new Failure('COULD_NOT_PROCESS_CSR', { field: { field, reason: request.fault } })
  }
  const now = clock.now()
  const { sign, subject, names, issuingPem, issuingEnd } = profileFor(
    authorities,
    identity,
    request.subject,
  )
  const bytes = sign({
    serial: newSerial(random),
    subject,
    publicKey: request.publicKey,
    uri: identityUri({ trustDomain, identityId: identity.id }),
    names,
    notBefore: wholeSeconds(minus(now, BACKDATE)),
    notAfter: wholeSeconds(earlier(plus(now, ports.enrolledCertificateDuration), issuingEnd)),
  })
  const certificate = new X509Certificate(bytes)
  const certPem = writeCertificates([certificate])
  return {
    certPem,
    fingerprint: fingerprintOf(certificate),
    chainPem: `${certPem}${issuingPem}`,
    caBundlePem: authorities.caBundlePem,
  }
}

/**
 * D-391: the certificate of a router is for its listener too, with the names that its administrator wrote. None comes
 * from the request, not even a common name, which some clients take for a host.
 */
function profileFor(
  authorities: CertificatePorts['authorities'],
  { id, hosts }: Pick<Identity, 'id' | 'hosts'>,
  asked: readonly SubjectPart[],
) {
  const names = certificateNames(hosts).flatMap((host) => parseServerName(host) ?? [])
  if (names.length === 0) {
    const { issuingPem, issuingEnd } = authorities
    const sign = (client: ClientCertificate) => authorities.signClientCertificate(client)
    return { sign, subject: asked, names, issuingPem, issuingEnd }
  }
  const short = names.find(({ value }) => value.length <= LONGEST_COMMON_NAME)
  const subject: readonly SubjectPart[] = [{ name: 'CN', value: short?.value ?? id }]
  return { ...authorities.routerIssuer(), subject, names }
}
