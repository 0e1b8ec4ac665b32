/**
 * The CAs that certificates are judged by, parsed once, with their verdicts on chains (D-283, D-321). A verdict is
 * forgotten when a CA of ours or a third-party CA changes in any way. It is also used only while no certificate that it
 * could depend on begins or ends its validity, so that the time is checked at every call as if it were new.
 */
import { createHash, type X509Certificate } from 'node:crypto'
import { readCertificates, validity } from '../../base/certificates.ts'
import { BoundedMap } from '../../base/collections/bounded-map.ts'
import { type Instant, instant } from '../../base/time/instant.ts'
import type { PresentedChain } from './presented-chain.ts'
import type { Ca } from './third-party/ca.ts'
import type { CertificateVerdict, TrustedCertificate } from './verdict.ts'

export type Anchor = TrustedCertificate['anchor'] & {
  readonly certificate: X509Certificate
  readonly changes: readonly Instant[]
}

export interface ReadChain {
  readonly leaf: X509Certificate
  readonly others: readonly X509Certificate[]
}

export interface Ground {
  readonly anchors: readonly Anchor[]
  /** Returns the earlier verdict on this chain, if judging it now would have the same result. */
  recall(chain: PresentedChain, now: Instant): CertificateVerdict | undefined
  /** A refused chain is recognized only as the same object, which there is one of for each connection (D-321). */
  remember(
    chain: PresentedChain,
    certificates: ReadChain,
    verdict: CertificateVerdict,
    now: Instant,
  ): void
}

/** About 4 MiB. Refused chains are not among them, so an anonymous caller cannot push others out. */
const MOST_VERDICTS = 2_000

/** By the list of third-party CAs: the copy of the rules has a new one whenever a CA has changed. */
const grounds = new WeakMap<readonly Ca[], { own: readonly string[]; ground: Ground }>()

export function groundOf(cas: readonly Ca[], own: readonly string[]): Ground {
  const known = grounds.get(cas)
  if (known?.own.length === own.length && known.own.every((pem, i) => pem === own[i])) {
    return known.ground
  }
  const ground = createGround([...own.flatMap(networkAnchors), ...cas.flatMap(caAnchors)])
  grounds.set(cas, { own: [...own], ground })
  return ground
}

interface Remembered {
  readonly verdict: CertificateVerdict
  readonly from: Instant
  readonly until: Instant
}

export function createGround(anchors: readonly Anchor[], most = MOST_VERDICTS): Ground {
  const trusted = new BoundedMap<string, Remembered>(most)
  const refused = new WeakMap<PresentedChain, Remembered>()
  return {
    anchors,

    recall(chain, now) {
      const known = refused.get(chain) ?? trusted.get(keyOf(chain))
      return known !== undefined && known.from <= now && now < known.until
        ? known.verdict
        : undefined
    },

    remember(chain, { leaf, others }, verdict, now) {
      // By how much a clock is off (D-325) is different at every call.
      if (verdict.verdict === 'rejected' && verdict.clock !== undefined) return
      const presented = [leaf, ...others].flatMap(changesOf)
      const changes = [...presented, ...anchors.flatMap((anchor) => anchor.changes)]
      let [from, until] = [instant(Number.NEGATIVE_INFINITY), instant(Number.POSITIVE_INFINITY)]
      for (const at of changes) {
        if (at <= now && at > from) from = at
        if (at > now && at < until) until = at
      }
      const remembered = { verdict, from, until }
      if (verdict.verdict === 'rejected') refused.set(chain, remembered)
      else trusted.set(keyOf(chain), remembered)
    },
  }
}

/** The moments at which a certificate becomes valid and is not valid any more (RFC 5280 §4.1.2.5). */
function changesOf(certificate: X509Certificate): readonly Instant[] {
  const { notBefore, notAfter } = validity(certificate)
  return [notBefore, instant(notAfter + 1)]
}

/** SHA-256 of every byte that the client sent, and of where each certificate ends. */
function keyOf({ leaf, others }: PresentedChain): string {
  const hash = createHash('sha256')
  for (const der of [leaf, ...others]) hash.update(`${der.length}:`).update(der)
  return hash.digest('base64')
}

/** Far more than ever exist at the same time, because our own CAs succeed each other over years. */
const MOST_OWN_ANCHORS = 64

const anchorsByPem = new BoundedMap<string, readonly Anchor[]>(MOST_OWN_ANCHORS)

/** Each of our CAs is parsed once. */
function networkAnchors(pem: string): readonly Anchor[] {
  const before = anchorsByPem.get(pem)
  if (before !== undefined) return before
  const anchors = readCertificates(pem)
    .filter((certificate) => certificate !== undefined)
    .map((certificate) => ({ kind: 'network', ...parsed(certificate) }) as const)
  anchorsByPem.set(pem, anchors)
  return anchors
}

/** There may be a thousand CAs, so each is parsed once for as long as its record is held. */
const anchorsByCa = new WeakMap<Ca, readonly Anchor[]>()

function caAnchors(ca: Ca): readonly Anchor[] {
  const before = anchorsByCa.get(ca)
  if (before !== undefined) return before
  const [certificate] = readCertificates(ca.certPem)
  const anchors: readonly Anchor[] =
    certificate === undefined ? [] : [{ kind: 'ca', ca, ...parsed(certificate) }]
  anchorsByCa.set(ca, anchors)
  return anchors
}

function parsed(certificate: X509Certificate) {
  return { certificate, changes: changesOf(certificate) }
}
