/**
 * What an identity file has besides the key, which the browser keeps (D-377): the members that `latchkey enroll` writes.
 * `ca` is what the client trusts from then on, with the certificate of the server itself if none of the CAs signed it
 * (D-175).
 */
import { isSignedBy, readCertificates } from '../../../base/certificates.ts'
import type { IdentityId } from '../../../base/ids.ts'
import type { IdentityCertificate } from '../../certificates/own/identity-certificate.ts'
import type { EnrollmentPorts } from '../ports.ts'

export interface KeylessIdentityFile {
  readonly id: IdentityId
  readonly url: string
  readonly ca: string
  readonly cert: string
}

export function identityFileOf(
  { clientApi }: Pick<EnrollmentPorts, 'clientApi'>,
  { id, certificate }: { readonly id: IdentityId; readonly certificate: IdentityCertificate },
  server: {
    /** Where the page is; the client API may be on another listener. */
    readonly baseUrl: string
    readonly serverCasPem: readonly string[]
  },
): KeylessIdentityFile {
  const api = clientApi()
  const bundle = [certificate.caBundlePem, ...server.serverCasPem]
  const cas = bundle.flatMap((pem) => readCertificates(pem)).filter((one) => one !== undefined)
  const [leaf] = api === undefined ? [] : readCertificates(api.certificatePem)
  const isVouchedFor = leaf === undefined || cas.some((ca) => isSignedBy(leaf, ca))
  const trusted = isVouchedFor ? cas : [leaf, ...cas]
  const ca = [...new Set(trusted.map((one) => `${String(one).trimEnd()}\n`))].join('')
  return { id, url: api?.address ?? server.baseUrl, ca, cert: certificate.chainPem }
}
