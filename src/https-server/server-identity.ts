/**
 * What a listener presents to its clients: a certificate chain and the key of its leaf. Reads the files that the
 * operator configured (`web[].identity`, D-46) and describes what is wrong with them.
 */
import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { isSignedBy, readCertificates, validity, writeCertificates } from '../base/certificates.ts'
import { isNonEmpty, type NonEmpty } from '../base/non-empty.ts'
import type { Secret } from '../base/secrets/secret.ts'
import { type Instant, toRfc3339 } from '../base/time/instant.ts'
import { PURPOSE } from '../protocol/x509.ts'

export interface ServerIdentity {
  /** The leaf first, then the authorities above it. */
  readonly certificatePem: string
  readonly keyPem: Secret
  /** Of the leaf. */
  readonly notBefore: Instant
  readonly notAfter: Instant
}

export type ServerIdentityReading =
  | {
      readonly state: 'usable'
      readonly identity: ServerIdentity
      /** Warnings for the operator that do not prevent the start. */
      readonly notes: readonly string[]
    }
  | { readonly state: 'unusable'; readonly problems: NonEmpty<string> }

/**
 * Finds problems that would make clients reject the certificate. Does not check whether clients trust the chain. The
 * returned identity contains only the certificates, whatever else was in the file.
 */
export function readServerIdentity(
  given: Pick<ServerIdentity, 'certificatePem' | 'keyPem'>,
  now: Instant,
): ServerIdentityReading {
  const chain = readChain(given.certificatePem)
  const key = readKey(given.keyPem)
  if ('problem' in chain) {
    return unusable('problem' in key ? [chain.problem, key.problem] : [chain.problem])
  }
  if ('problem' in key) return unusable([key.problem])

  const { certificates } = chain
  const problems = [
    ...keyProblems(certificates, key.privateKey),
    ...orderProblems(certificates),
    ...leafProblems(certificates[0], now),
  ]
  if (isNonEmpty(problems)) return unusable(problems)

  const identity = {
    certificatePem: writeCertificates(certificates),
    keyPem: given.keyPem,
    ...validity(certificates[0]),
  }
  const refusal = refusalByOpenssl(identity)
  if (refusal !== undefined)
    return unusable([`OpenSSL does not accept the certificate: ${refusal}`])
  return { state: 'usable', identity, notes: expiryNotes(certificates, now) }
}

function unusable(problems: NonEmpty<string>): ServerIdentityReading {
  return { state: 'unusable', problems }
}

function readChain(
  pem: string,
): { readonly certificates: NonEmpty<X509Certificate> } | { readonly problem: string } {
  const read = readCertificates(pem)
  const unreadable = read.indexOf(undefined)
  if (unreadable >= 0) {
    return { problem: `certificate ${unreadable + 1} in the certificate file cannot be read` }
  }
  const certificates = read.filter((certificate) => certificate !== undefined)
  if (!isNonEmpty(certificates)) {
    return { problem: 'the certificate file holds no certificate in PEM form' }
  }
  return { certificates }
}

function readKey(
  keyPem: Secret,
): { readonly privateKey: KeyObject } | { readonly problem: string } {
  const pem = keyPem.reveal()
  // PKCS#8 marks encryption in the label (RFC 7468 §11), the older form in a header (RFC 1421 §4.6.1.1).
  if (/BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    return { problem: 'the key is encrypted with a passphrase; give it without one' }
  }
  try {
    return { privateKey: createPrivateKey(pem) }
  } catch {
    return { problem: 'the key file holds no private key in PEM form' }
  }
}

function keyProblems(certificates: NonEmpty<X509Certificate>, privateKey: KeyObject): string[] {
  const owner = certificates.findIndex((certificate) => certificate.checkPrivateKey(privateKey))
  if (owner === 0) return []
  return owner < 0
    ? ['the key does not belong to the certificate']
    : [`the key belongs to certificate ${owner + 1} in the file; its certificate must come first`]
}

// RFC 5246 §7.4.2: in TLS 1.2, which we offer, each certificate must certify the one before it.
function orderProblems(certificates: NonEmpty<X509Certificate>): string[] {
  return certificates.slice(1).flatMap((issuer, i) => {
    const certificate = certificates[i]
    if (certificate === undefined || isSignedBy(certificate, issuer)) return []
    return [
      `certificate ${i + 2} in the file (${subjectOf(issuer)}) did not issue certificate ${i + 1} ` +
        `(${subjectOf(certificate)}); the order is: server certificate, its issuer, the issuer of that`,
    ]
  })
}

function leafProblems(leaf: X509Certificate, now: Instant): string[] {
  const { notBefore, notAfter } = validity(leaf)
  const problems: string[] = []
  if (notAfter < now) problems.push(`the certificate expired at ${toRfc3339(notAfter)}`)
  if (notBefore > now) problems.push(`the certificate is not valid before ${toRfc3339(notBefore)}`)
  // RFC 5280 §4.2.1.12: without the extension every usage is allowed. Node's name for it is keyUsage.
  const usages: readonly string[] | undefined = leaf.keyUsage
  if (
    usages !== undefined &&
    !usages.includes(PURPOSE.serverAuth) &&
    !usages.includes(PURPOSE.any)
  ) {
    problems.push(
      'the certificate is not made for servers: its extended key usage lacks serverAuth',
    )
  }
  return problems
}

/** OpenSSL serves the certificate and has its own limits, such as the length of RSA keys. */
function refusalByOpenssl(identity: ServerIdentity): string | undefined {
  try {
    const { certificatePem } = identity
    // Naming any CA keeps Node from parsing its whole list of public roots, which is not needed here.
    createSecureContext({ cert: certificatePem, key: identity.keyPem.reveal(), ca: certificatePem })
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function expiryNotes(certificates: NonEmpty<X509Certificate>, now: Instant): string[] {
  const [leaf, ...authorities] = certificates
  const { notBefore, notAfter } = validity(leaf)
  const notes: string[] = []
  // A tenth of its lifetime, so that the warning suits a six-day certificate as well as a one-year one.
  if ((notAfter - now) * 10 < notAfter - notBefore) {
    notes.push(`the certificate expires soon, at ${toRfc3339(notAfter)}`)
  }
  // Not a problem: clients may know another path, as happened with several expired roots.
  for (const authority of authorities) {
    const end = validity(authority).notAfter
    if (end < now) notes.push(`the chain's ${subjectOf(authority)} expired at ${toRfc3339(end)}`)
  }
  return notes
}

function subjectOf(certificate: X509Certificate): string {
  return certificate.subject?.replaceAll('\n', ', ') || 'without a subject'
}
