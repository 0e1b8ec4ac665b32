/**
 * What would make browsers or clients refuse the certificate of the listener: then a gateway does not start, or keeps
 * the certificate that it has. D-394.
 */
import type { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { readCertificate } from '../../base/certificates.ts'
import { withoutBrackets } from '../../base/host-port.ts'
import type { Instant } from '../../base/time/instant.ts'
import { readServerIdentity, type ServerIdentity } from '../../https-server/server-identity.ts'
import type { UpstreamSettings } from '../settings/settings.ts'

export type ListenerCertificate = Pick<ServerIdentity, 'certificatePem' | 'keyPem'>

/** Returns the certificate as it is served, and when it ends; or every problem, as sentences. */
export function checkListener(
  given: ListenerCertificate,
  upstreams: readonly Pick<UpstreamSettings, 'name' | 'hosts'>[],
  now: Instant,
):
  | {
      readonly certificate: ListenerCertificate
      readonly notAfter: Instant
      readonly notes: readonly string[]
    }
  | { readonly problems: readonly string[] } {
  const reading = readServerIdentity(given, now)
  const leaf = readCertificate(given.certificatePem)
  const problems = [
    ...(reading.state === 'unusable' ? reading.problems : []),
    ...(leaf === undefined ? [] : [...leafProblems(leaf), ...nameProblems(leaf, upstreams)]),
  ]
  if (reading.state === 'unusable' || problems.length > 0) return { problems }
  const { certificatePem, keyPem, notAfter } = reading.identity
  return { certificate: { certificatePem, keyPem }, notAfter, notes: reading.notes }
}

/** Browsers refuse them: CA/Browser Forum Baseline Requirements §6.1.5, §7.1.3. */
const SHORTEST_RSA_KEY = 2048

function* leafProblems(leaf: X509Certificate): Iterable<string> {
  if (leaf.ca)
    yield 'the certificate is that of a CA (CA:TRUE), which clients do not accept for a server'
  const { asymmetricKeyType, asymmetricKeyDetails } = leaf.publicKey
  const bits = asymmetricKeyDetails?.modulusLength ?? SHORTEST_RSA_KEY
  if (asymmetricKeyType === 'rsa' && bits < SHORTEST_RSA_KEY) {
    yield `the key has ${bits} bits; clients want at least ${SHORTEST_RSA_KEY}`
  }
  if (/sha1|md5/i.test(leaf.signatureAlgorithm ?? '')) {
    yield `the certificate is signed with ${leaf.signatureAlgorithm}, which clients do not accept`
  }
}

/** RFC 9525 §6.3: the common name is not looked at. */
function* nameProblems(
  leaf: X509Certificate,
  upstreams: readonly Pick<UpstreamSettings, 'name' | 'hosts'>[],
): Iterable<string> {
  if (!/(?:^|, )(?:DNS|IP Address):/.test(leaf.subjectAltName ?? '')) {
    yield 'the certificate names no host: it has no subject alternative name of type DNS or IP, and clients ignore the common name'
    return
  }
  for (const { name, hosts } of upstreams) {
    for (const host of hosts.filter((one) => !isCertificateFor(leaf, one))) {
      yield `the certificate is not for ${host}, a host of the upstream ${JSON.stringify(name)}`
    }
  }
}

/** Returns whether clients accept the certificate for this host: RFC 9525 §6.3. */
export function isCertificateFor(leaf: X509Certificate, host: string): boolean {
  const bare = withoutBrackets(host)
  if (isIP(bare) !== 0) return leaf.checkIP(bare) !== undefined
  return leaf.checkHost(bare, { subject: 'never' }) !== undefined
}
