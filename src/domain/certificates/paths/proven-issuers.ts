/**
 * Which issuers of the certificates in a chain lead to a CA that we know. D-321. Signatures are verified from the CAs
 * that we know downwards: the key of a certificate that the client sent is used only after one of our CAs has vouched
 * for it, so an anonymous caller cannot choose the keys that we compute with. Names are compared first, which is cheap.
 */
import type { KeyObject, X509Certificate } from 'node:crypto'
import { isSignedWith, namesIssuer } from '../../../base/certificates.ts'
import { base64url } from '../../../base/encoding.ts'

/**
 * Signatures verified for one chain. The longest chain needs one for each of its ten certificates; the others are for
 * CAs that share a name and have different keys.
 */
const MOST_VERIFICATIONS = 16

export interface Issuers<Anchor> {
  readonly anchors: readonly Anchor[]
  /** Certificates of the chain. An anchor or another proven link has signed each of them. */
  readonly links: readonly X509Certificate[]
}

export interface ProvenIssuers<Anchor> {
  of(certificate: X509Certificate): Issuers<Anchor>
  /** Whether `MOST_VERIFICATIONS` left out signatures that could have proven more issuers. */
  readonly isCutShort: boolean
}

/** Returns the issuers of the leaf and of the links, without those that do not lead to an anchor. */
export function proveIssuers<Anchor extends { readonly certificate: X509Certificate }>(
  leaf: X509Certificate,
  links: readonly X509Certificate[],
  anchors: readonly Anchor[],
): ProvenIssuers<Anchor> {
  const candidates = candidatesFor(leaf, links, anchors)
  const signatures = limitedSignatures()
  const proven = new Map<X509Certificate, { anchors: Anchor[]; links: Set<X509Certificate> }>()

  // The leaf is the first candidate, so that the shortest paths are found even if the limit is reached.
  for (const [certificate, named] of candidates) {
    const issuers = named.anchors.filter((anchor) => isProven(certificate, anchor.certificate))
    if (issuers.length > 0) proven.set(certificate, { anchors: issuers, links: new Set() })
  }
  // Also visits the links that it adds.
  for (const [issuer] of proven) {
    if (issuer === leaf) continue
    for (const [certificate, named] of candidates) {
      if (!named.links.has(issuer) || !isProven(certificate, issuer)) continue
      const issuers = proven.get(certificate) ?? { anchors: [], links: new Set() }
      issuers.links.add(issuer)
      proven.set(certificate, issuers)
    }
  }

  /** A self-signed link leads only to itself, also if it is a copy of one of our CAs. */
  function isProven(certificate: X509Certificate, issuer: X509Certificate): boolean {
    const isSelfSigned =
      certificate !== leaf &&
      namesIssuer(certificate, certificate) &&
      signatures.haveSameKey(certificate, issuer)
    return !isSelfSigned && signatures.verify(certificate, issuer)
  }

  return {
    of(certificate) {
      const issuers = proven.get(certificate)
      return {
        anchors: issuers?.anchors ?? [],
        links: links.filter((link) => issuers?.links.has(link)),
      }
    },
    isCutShort: signatures.isCutShort(),
  }
}

interface NamedIssuers<Anchor> {
  readonly anchors: readonly Anchor[]
  readonly links: ReadonlySet<X509Certificate>
}

/** The leaf and, in the order of their distance from it, the links above it; by names alone. */
function candidatesFor<Anchor extends { readonly certificate: X509Certificate }>(
  leaf: X509Certificate,
  links: readonly X509Certificate[],
  anchors: readonly Anchor[],
): ReadonlyMap<X509Certificate, NamedIssuers<Anchor>> {
  const candidates = new Map<X509Certificate, NamedIssuers<Anchor>>()
  const reached = new Set([leaf])
  for (const certificate of reached) {
    const above = links.filter((link) => link !== certificate && namesIssuer(certificate, link))
    candidates.set(certificate, {
      anchors: anchors.filter((anchor) => namesIssuer(certificate, anchor.certificate)),
      links: new Set(above),
    })
    for (const link of above) reached.add(link)
  }
  return candidates
}

interface Key {
  readonly key: KeyObject
  readonly text: string
}

/** Verifies each certificate once with each key: several certificates of a CA may have the same one. */
function limitedSignatures() {
  const answers = new Map<string, boolean>()
  const keys = new Map<X509Certificate, Key | undefined>()
  let isCutShort = false

  function keyOf(certificate: X509Certificate): Key | undefined {
    if (!keys.has(certificate)) keys.set(certificate, readKey(certificate))
    return keys.get(certificate)
  }

  return {
    isCutShort: () => isCutShort,

    haveSameKey: (one: X509Certificate, other: X509Certificate) =>
      keyOf(one)?.text === keyOf(other)?.text,

    verify(certificate: X509Certificate, issuer: X509Certificate): boolean {
      const signer = keyOf(issuer)
      if (signer === undefined) return false
      const pair = `${certificate.fingerprint256} ${signer.text}`
      const before = answers.get(pair)
      if (before !== undefined) return before
      if (answers.size === MOST_VERIFICATIONS) {
        isCutShort = true
        return false
      }
      const answer = isSignedWith(certificate, signer.key)
      answers.set(pair, answer)
      return answer
    },
  }
}

function readKey(certificate: X509Certificate): Key | undefined {
  try {
    const { publicKey: key } = certificate
    return { key, text: base64url(key.export({ type: 'spki', format: 'der' })) }
  } catch {
    return undefined
  }
}
