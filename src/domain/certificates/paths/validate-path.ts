/**
 * Validates a certificate path by RFC 5280 §6.1. The engine of pkijs decides. This file refuses, before calling the
 * engine, what the engine does not check, so nothing here can make an invalid path valid. What a certificate may be
 * used for is decided elsewhere.
 *
 * The library takes about 100 ms to load and most logins need no certificate, so it is loaded on first use.
 */
import type { Certificate } from 'pkijs'
import type { Instant } from '../../../base/time/instant.ts'
import { SIGNATURE_ALGORITHMS } from '../../../protocol/x509.ts'
import {
  basicConstraintsOf,
  factsOf,
  type LeafFacts,
  type Library,
  nameConstraintsOf,
  purposesOf,
  readContent,
  readIssuer,
} from './content.ts'
import type { CertificatePath } from './find-paths.ts'
import { keyFault } from './key-strength.ts'

export interface ValidPath {
  readonly state: 'valid'
  readonly leaf: LeafFacts
  /** Extended key usages of the leaf, then of each CA above it; undefined where it has no such extension. */
  readonly purposes: readonly (readonly string[] | undefined)[]
}

export interface InvalidPath {
  readonly state: 'invalid'
  readonly why: string
}

/** Returns whether the path is valid at that time, with its last certificate as the only trust anchor. Never throws. */
export async function validatePath(
  path: CertificatePath,
  at: Instant,
): Promise<ValidPath | InvalidPath> {
  try {
    return await validate(path, at)
  } catch (error) {
    // The library may be unable to process a certificate even if a CA signed it.
    return invalid(`it cannot be understood: ${error instanceof Error ? error.message : error}`)
  }
}

async function validate(path: CertificatePath, at: Instant): Promise<ValidPath | InvalidPath> {
  const library = await import('pkijs')
  const certificates: Certificate[] = []
  for (const [i, certificate] of path.entries()) {
    const content = i === 0 ? readContent : readIssuer
    const read = keyFault(certificate) ?? content(library, certificate)
    if (typeof read === 'string') return invalid(`certificate ${i + 1} of the path: ${read}`)
    certificates.push(read)
  }
  const [leaf] = certificates
  const anchor = certificates[certificates.length - 1]
  if (leaf === undefined || anchor === undefined) return invalid('there is no path')

  const signed = certificates.slice(0, -1)
  const fault =
    signatureFault(library, signed) ?? pathLengthFault(certificates) ?? nameFault(certificates)
  if (fault !== undefined) return invalid(fault)

  const engine = new library.CertificateChainValidationEngine({
    trustedCerts: [anchor],
    // The engine expects the leaf last.
    certs: signed.toReversed(),
    checkDate: new Date(at),
    // OpenSSL has checked each signature on this path. The library's own search can be made to loop.
    findIssuer: async (certificate) => {
      const issuer = certificates[certificates.indexOf(certificate) + 1]
      return issuer === undefined ? [] : [issuer]
    },
  })
  const { permittedSubtrees = [], excludedSubtrees = [] } = nameConstraintsOf(anchor) ?? {}
  const { result, resultMessage, certificatePath } = await engine.verify({
    // Name constraints of a CA also apply when it is the anchor (RFC 5937 §3.2).
    initialPermittedSubtreesSet: permittedSubtrees,
    initialExcludedSubtreesSet: excludedSubtrees,
  })
  if (!result) return invalid(resultMessage)
  const isSame =
    certificatePath?.length === certificates.length &&
    certificatePath.every((certificate, i) => certificate === certificates[i])
  if (!isSame) return invalid('the path that was validated is not the one that was found')
  return { state: 'valid', leaf: factsOf(leaf), purposes: certificates.map(purposesOf) }
}

function invalid(why: string): InvalidPath {
  return { state: 'invalid', why }
}

const RSA_PSS = '1.2.840.113549.1.1.10'

const ED448 = '1.3.101.113'

const STRONG_SIGNATURES: ReadonlySet<string> = new Set([
  ...SIGNATURE_ALGORITHMS.map(({ oid }) => oid),
  ED448, // RFC 8410 §3
])

/** Skips the anchor: its signature does not matter, because it is trusted by registration. */
function signatureFault(library: Library, signed: readonly Certificate[]): string | undefined {
  const weak = signed.findIndex((certificate) => !isStronglySigned(library, certificate))
  return weak < 0
    ? undefined
    : `certificate ${weak + 1} of the path: its signature algorithm is not accepted`
}

function isStronglySigned(library: Library, { signatureAlgorithm }: Certificate): boolean {
  const { algorithmId, algorithmParams } = signatureAlgorithm
  if (algorithmId !== RSA_PSS) return STRONG_SIGNATURES.has(algorithmId)
  try {
    // RFC 4055 §3.1: the hash defaults to SHA-1, which the library fills in.
    const { hashAlgorithm } = new library.RSASSAPSSParams({ schema: algorithmParams })
    const strong: readonly string[] = [library.id_sha256, library.id_sha384, library.id_sha512]
    return strong.includes(hashAlgorithm.algorithmId)
  } catch {
    return false
  }
}

/** RFC 5280 §6.1.4 (l), (m): a CA limits how many CAs may follow below it, not counting self-issued ones. */
function pathLengthFault(certificates: readonly Certificate[]): string | undefined {
  let below = 0
  for (const [i, certificate] of certificates.entries()) {
    if (i === 0) continue
    const { pathLenConstraint } = basicConstraintsOf(certificate) ?? {}
    if (pathLenConstraint !== undefined && !(Number(pathLenConstraint) >= below)) {
      return `certificate ${i + 1} of the path: there are more CAs below it than it allows`
    }
    if (!certificate.issuer.isEqual(certificate.subject)) below += 1
  }
  return undefined
}

/** rfc822Name, dNSName, directoryName, uniformResourceIdentifier, iPAddress: those that the engine compares. */
const COMPARED_NAMES: ReadonlySet<number> = new Set([1, 2, 4, 6, 7])

/**
 * RFC 5280 §6.1.4 (g): a name must be permitted by every CA above it. The engine accepts a name that only one of them
 * permits, so a CA could widen its own constraints: refuse a path on which more than one CA has permitted names.
 */
function nameFault(certificates: readonly Certificate[]): string | undefined {
  let permitting = 0
  for (const certificate of certificates) {
    const { permittedSubtrees = [], excludedSubtrees = [] } = nameConstraintsOf(certificate) ?? {}
    const isCompared = [...permittedSubtrees, ...excludedSubtrees].every(({ base }) =>
      COMPARED_NAMES.has(base.type),
    )
    if (!isCompared) return 'a CA is confined by names of a kind that is not understood'
    if (permittedSubtrees.length > 0) permitting += 1
  }
  return permitting > 1 ? 'more than one CA of the path is confined to certain names' : undefined
}
