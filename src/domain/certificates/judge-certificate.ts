/**
 * Decides whether a client certificate may log in: it must be valid by RFC 5280 §6.1 to our own PKI or to a verified,
 * auth-enabled third-party CA (D-21, D-111, R093, R095). The factor decides whose it is and whether the policy accepts
 * it. Each refusal has its reason for the operator.
 */
import type { X509Certificate } from 'node:crypto'
import {
  fingerprintOf,
  isInDate,
  isSignedBy,
  readDerCertificate,
  validity,
  writeCertificates,
} from '../../base/certificates.ts'
import { earlier, type Instant, later, toRfc3339 } from '../../base/time/instant.ts'
import { PURPOSE } from '../../protocol/x509.ts'
import { type ClockOff, clockOff } from '../audit/clock-off.ts'
import type { LoginFailureReason } from '../audit/reasons.ts'
import { type Anchor, groundOf, type ReadChain } from './grounds-of-trust.ts'
import type { LeafFacts } from './paths/content.ts'
import { type CertificatePath, findPaths } from './paths/find-paths.ts'
import { type InvalidPath, type ValidPath, validatePath } from './paths/validate-path.ts'
import type { CertificatePorts } from './ports.ts'
import { LARGEST_CHAIN_BYTES, MOST_CERTIFICATES, type PresentedChain } from './presented-chain.ts'
import type { Ca } from './third-party/ca.ts'
import { externalId } from './third-party/external-id.ts'
import type {
  CaTrust,
  CertificateVerdict,
  RejectedCertificate,
  TrustedCertificate,
} from './verdict.ts'

/**
 * Returns a verdict for any input; never throws because of a certificate. A chain is not validated again while nothing
 * that decides it has changed: a trusted one anywhere (D-283), a refused one on its connection (D-321).
 */
export async function judgeCertificate(
  { ownAnchors, clock }: Pick<CertificatePorts, 'ownAnchors' | 'clock'>,
  chain: PresentedChain,
  cas: readonly Ca[],
): Promise<CertificateVerdict> {
  const now = clock.now()
  const ground = groundOf(cas, ownAnchors())
  const remembered = ground.recall(chain, now)
  if (remembered !== undefined) return remembered
  const read = readChain(chain)
  if (typeof read === 'string') return reject('certificate-untrusted', read)
  const verdict = await judge(read, ground.anchors, now)
  ground.remember(chain, read, verdict, now)
  return verdict
}

async function judge(
  { leaf, others }: ReadChain,
  anchors: readonly Anchor[],
  now: Instant,
): Promise<CertificateVerdict> {
  if (anchors.some(({ certificate }) => certificate.fingerprint256 === leaf.fingerprint256)) {
    return reject('certificate-is-ca', 'it is the certificate of a CA that is known here')
  }

  let why: string | undefined
  let off: { readonly clock?: ClockOff } = {}
  const { paths, isCutShort } = findPaths(leaf, others, anchors)
  for (const { path, anchor } of paths.toSorted((a, b) => rank(a.anchor) - rank(b.anchor))) {
    const outdated = outdatedCa(path, now)
    const validated = outdated ?? (await validatePath(path, momentWithin(leaf, now)))
    if (validated.state === 'invalid') {
      if (why === undefined && outdated !== undefined) off = await casOffBy(path, now)
      why ??= validated.why
      continue
    }
    return (
      caRefusal(path, anchor, anchors) ??
      leafRefusal(validated, leaf, now) ??
      trust(validated.leaf, { path, anchor, anchors }, now)
    )
  }
  why ??= isCutShort
    ? 'too many CAs could have issued the certificates of its chain'
    : 'it does not lead to a CA that is known here'
  return { ...reject('certificate-untrusted', `${why} (SHA-256 ${fingerprintOf(leaf)})`), ...off }
}

function reject(reason: LoginFailureReason, why: string): RejectedCertificate {
  return { verdict: 'rejected', reason, why }
}

function readChain({ leaf: first, others: rest }: PresentedChain): ReadChain | string {
  const all = [first, ...rest]
  if (all.length > MOST_CERTIFICATES) return 'there are too many certificates in the chain'
  const bytes = all.reduce((sum, der) => sum + der.length, 0)
  if (bytes > LARGEST_CHAIN_BYTES) return 'the certificates of the chain are too large'
  const [leaf, ...others] = all.map(readDerCertificate)
  if (leaf === undefined) return 'the certificate cannot be read'
  const readable = others.filter((other) => other !== undefined)
  if (readable.length < others.length) return 'a certificate of the chain cannot be read'
  return { leaf, others: readable }
}

/** CAs that may log in come first, so that a second registration of a CA takes no access away. */
function rank(anchor: Anchor): number {
  if (anchor.kind === 'network') return 0
  if (!anchor.ca.isVerified) return 3
  return anchor.ca.isAuthEnabled ? 1 : 2
}

/** Validates the path at a time when its leaf was in date: the policy decides whether an expired leaf is accepted. */
function momentWithin(leaf: X509Certificate, now: Instant): Instant {
  const { notBefore, notAfter } = validity(leaf)
  if (now < notBefore) return notBefore
  return now > notAfter ? notAfter : now
}

/** No policy accepts an expired CA. */
function outdatedCa([, ...cas]: CertificatePath, now: Instant): InvalidPath | undefined {
  const outdated = cas.findIndex((ca) => !isInDate(ca, now))
  return outdated < 0
    ? undefined
    : { state: 'invalid', why: `certificate ${outdated + 2} of the path is not in date` }
}

/** D-325: by how much a CA is out of date, if its path is valid at a time when all its certificates were in date. */
async function casOffBy(path: CertificatePath, now: Instant): Promise<{ clock?: ClockOff }> {
  const dates = path.map(validity)
  const begin = dates.map(({ notBefore }) => notBefore).reduce(later)
  const end = dates.map(({ notAfter }) => notAfter).reduce(earlier)
  if (begin > end || (await validatePath(path, begin)).state === 'invalid') return {}
  return now < begin
    ? clockOff('notBefore', (begin - now) / 1_000)
    : clockOff('notAfter', (end - now) / 1_000)
}

function caRefusal(
  path: CertificatePath,
  anchor: Anchor,
  anchors: readonly Anchor[],
): RejectedCertificate | undefined {
  if (anchor.kind === 'network') return undefined
  const { ca } = anchor
  if (!ca.isVerified) return reject('ca-unverified', `the CA ${ca.id} is not verified`)
  // Disabling a CA blocks every path through it, including one that continues to a CA above it.
  const below = path.slice(0, -1)
  for (const disabled of anchors) {
    if (rank(disabled) !== 2 || disabled.kind !== 'ca') continue
    if (below.some((certificate) => isSignedBy(certificate, disabled.certificate))) {
      return reject('ca-disabled', `the CA ${disabled.ca.id} is not enabled for authentication`)
    }
  }
  return undefined
}

function leafRefusal(
  { leaf: facts, purposes }: ValidPath,
  leaf: X509Certificate,
  now: Instant,
): RejectedCertificate | undefined {
  if (facts.isCa) {
    return reject('certificate-is-ca', 'it is a CA certificate; those do not log in')
  }
  if (facts.uris.some(isOfSession)) {
    const why = 'it belongs to an API session, which has been logged in already'
    return reject('certificate-of-session', why)
  }
  if (!facts.maySign) {
    return reject('certificate-wrong-usage', 'its key usage lacks digitalSignature')
  }
  // RFC 5280 §4.2.1.12: without the extension every purpose is allowed. A CA limited to other purposes cannot issue
  // client certificates either; browsers and OpenSSL agree.
  const other = purposes.findIndex(
    (allowed) =>
      allowed !== undefined &&
      !allowed.includes(PURPOSE.clientAuth) &&
      !allowed.includes(PURPOSE.any),
  )
  if (other >= 0) {
    const why = `certificate ${other + 1} of the path: its extended key usage lacks clientAuth`
    return reject('certificate-wrong-usage', why)
  }
  const { notBefore } = validity(leaf)
  return now < notBefore
    ? {
        ...reject('certificate-not-yet-valid', `it is not valid before ${toRfc3339(notBefore)}`),
        ...clockOff('notBefore', (notBefore - now) / 1_000),
      }
    : undefined
}

/** The SPIFFE id of an API session certificate, D-40. */
function isOfSession(uri: string): boolean {
  return /^spiffe:\/\/[^/]*\/(?:.*\/)?apiSession\//i.test(uri)
}

interface TrustedPath {
  readonly path: CertificatePath
  readonly anchor: Anchor
  readonly anchors: readonly Anchor[]
}

function trust(facts: LeafFacts, trusted: TrustedPath, now: Instant): TrustedCertificate {
  const { path, anchor } = trusted
  const [leaf] = path
  const { notAfter } = validity(leaf)
  const claim = anchor.kind === 'ca' ? anchor.ca.externalIdClaim : undefined
  return {
    verdict: 'trusted',
    fingerprint: fingerprintOf(leaf),
    pem: writeCertificates([leaf]),
    anchor: anchor.kind === 'ca' ? { kind: 'ca', ca: anchor.ca } : { kind: 'network' },
    trust: anchor.kind === 'ca' ? caTrust(anchor.ca, trusted) : undefined,
    notAfter,
    isExpired: now > notAfter,
    externalId: claim && externalId(claim, facts),
  }
}

/** Returns the CAs on the path that `caRefusal` would refuse if they were disabled. */
function caTrust(ca: Ca, { path, anchors }: TrustedPath): CaTrust {
  const below = path.slice(0, -1)
  const throughCaIds = anchors.flatMap((other) => {
    if (other.kind !== 'ca' || other.ca.id === ca.id) return []
    return below.some((one) => isSignedBy(one, other.certificate)) ? [other.ca.id] : []
  })
  const casEndAt = path
    .slice(1)
    .map((one) => validity(one).notAfter)
    .reduce(earlier)
  return { caId: ca.id, throughCaIds, casEndAt }
}
