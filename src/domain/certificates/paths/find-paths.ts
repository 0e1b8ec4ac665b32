/**
 * Finds the paths from a leaf to the CAs that we know, through the certificates that came with it. Only follows
 * signatures that OpenSSL verified; `validate-path.ts` decides whether such a path is valid (RFC 5280 §6.1: finding a
 * path is not a part of validating it). The work is bounded, whatever a client sends.
 */
import type { X509Certificate } from 'node:crypto'
import { MOST_CERTIFICATES } from '../presented-chain.ts'
import { keyFault } from './key-strength.ts'
import { proveIssuers } from './proven-issuers.ts'

/** The leaf first, then the issuer of each; the last is the trust anchor. */
export type CertificatePath = readonly [leaf: X509Certificate, ...issuers: X509Certificate[]]

export interface FoundPath<Anchor> {
  readonly path: CertificatePath
  readonly anchor: Anchor
}

/** Cross-signed certificates multiply the number of paths; a real PKI has one or two. */
const MOST_PATHS = 8
const MOST_STEPS = 50

export interface FoundPaths<Anchor> {
  readonly paths: readonly FoundPath<Anchor>[]
  /** There may be more paths than were searched for (D-321). */
  readonly isCutShort: boolean
}

/**
 * Returns every path that ends in one of the anchors, shortest first. Never takes an anchor from `others`, because the
 * client sent those.
 */
export function findPaths<Anchor extends { readonly certificate: X509Certificate }>(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  anchors: readonly Anchor[],
): FoundPaths<Anchor> {
  const issuers = proveIssuers(leaf, usableLinks(leaf, others), anchors)
  const { isCutShort } = issuers
  const paths: FoundPath<Anchor>[] = []
  const open: CertificatePath[] = [[leaf]]
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    const path = open.shift()
    if (path === undefined) break
    const above = issuers.of(path[path.length - 1] ?? leaf)
    for (const anchor of above.anchors) {
      paths.push({ path: [...path, anchor.certificate], anchor })
      if (paths.length === MOST_PATHS) return { paths, isCutShort }
    }
    if (path.length >= MOST_CERTIFICATES) continue
    for (const link of above.links) {
      if (!path.includes(link)) open.push([...path, link])
    }
  }
  return { paths, isCutShort }
}

/** Without duplicates, and without keys that we do not verify with. */
function usableLinks(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
): readonly X509Certificate[] {
  const seen = new Set([leaf.fingerprint256])
  return others.filter((other) => {
    if (seen.has(other.fingerprint256)) return false
    seen.add(other.fingerprint256)
    return keyFault(other) === undefined
  })
}
