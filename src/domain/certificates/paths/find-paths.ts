/**
 * Finds the paths from a leaf to the CAs that we know, through the certificates that came with it. Only follows
 * signatures that OpenSSL verified; `validate-path.ts` decides whether such a path is valid (RFC 5280 §6.1: finding a
 * path is not a part of validating it). The work is bounded, whatever a client sends.
 */
import type { X509Certificate } from 'node:crypto'
import { isSignedBy } from '../../../base/certificates.ts'
import { MOST_CERTIFICATES } from '../presented-chain.ts'
import { keyFault } from './key-strength.ts'

/** The leaf first, then the issuer of each; the last is the trust anchor. */
export type CertificatePath = readonly [leaf: X509Certificate, ...issuers: X509Certificate[]]

export interface FoundPath<Anchor> {
  readonly path: CertificatePath
  readonly anchor: Anchor
}

/** Cross-signed certificates multiply the number of paths; a real PKI has one or two. */
const MOST_PATHS = 8
const MOST_STEPS = 50

/**
 * Returns every path that ends in one of the anchors, shortest first. Never takes an anchor from `others`, because the
 * client sent those.
 */
export function findPaths<Anchor extends { readonly certificate: X509Certificate }>(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  anchors: readonly Anchor[],
): readonly FoundPath<Anchor>[] {
  const links = usableLinks(leaf, others)
  const issued = rememberIssued()
  const found: FoundPath<Anchor>[] = []
  const open: CertificatePath[] = [[leaf]]
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const path = open.shift()
    if (path === undefined) break
    const last = path[path.length - 1] ?? leaf
    for (const anchor of anchors) {
      if (!issued(anchor.certificate, last)) continue
      found.push({ path: [...path, anchor.certificate], anchor })
      if (found.length === MOST_PATHS) return found
    }
    if (path.length >= MOST_CERTIFICATES) continue
    for (const link of links) {
      if (!path.includes(link) && issued(link, last)) open.push([...path, link])
    }
  }
  return found
}

/** Without duplicates, and without self-signed ones, which lead only to themselves. */
function usableLinks(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
): readonly X509Certificate[] {
  const seen = new Set([leaf.fingerprint256])
  return others.filter((other) => {
    if (seen.has(other.fingerprint256)) return false
    seen.add(other.fingerprint256)
    return keyFault(other) === undefined && !isSignedBy(other, other)
  })
}

/** Calls OpenSSL once for each pair. */
function rememberIssued() {
  const known = new Map<X509Certificate, Map<X509Certificate, boolean>>()
  return (issuer: X509Certificate, certificate: X509Certificate): boolean => {
    const answers = known.get(certificate) ?? new Map<X509Certificate, boolean>()
    known.set(certificate, answers)
    const answer = answers.get(issuer) ?? isSignedBy(certificate, issuer)
    answers.set(issuer, answer)
    return answer
  }
}
