/**
 * When our CAs get successors, and which CA signs what: D-129. Pure rules over the stored CAs; `authorities.ts` creates
 * and stores them. Every CA that has not expired is trusted; these rules decide which one signs next.
 */
import { isSignedBy, validity } from '../../../base/certificates.ts'
import { days, minutes } from '../../../base/time/duration.ts'
import { type Instant, plus } from '../../../base/time/instant.ts'
import type { Issuer } from '../write-certificate.ts'
import type { StoredAuthority } from './authority-record.ts'

export interface OpenAuthority extends Issuer, Pick<StoredAuthority, 'generation' | 'createdAt'> {}

/** CAs that have not expired, oldest first; issuing CAs of these roots only. */
export interface Standing {
  readonly roots: readonly OpenAuthority[]
  readonly issuing: readonly OpenAuthority[]
}

/** How long clients have to learn of a new root. They get it with the bundle when they enroll or renew. */
const ROOT_OVERLAP = days(5 * 365)

/** Longer than the default lifetime of what it issues, so that no certificate has to be shortened to fit its CA. */
const SUCCESSION = days(365)

/** Far longer than any instance or connected router needs to learn of a new CA. */
const PUBLISHED_BEFORE_USE = minutes(10)

/** If an issuer had less than this left, server certificates below it would be renewed constantly. */
const SHORTEST_SERVER_LIFE = days(7)

export function standingAt(
  now: Instant,
  roots: readonly OpenAuthority[],
  issuing: readonly OpenAuthority[],
): Standing {
  const live = roots.filter((one) => endOf(one) >= now)
  return {
    roots: live,
    issuing: issuing.filter((one) => endOf(one) >= now && live.some((root) => isBelow(one, root))),
  }
}

/** Returns what must be created now, or undefined if nothing is due. */
export function dueSuccessor(
  { roots, issuing }: Standing,
  now: Instant,
): { readonly role: 'root' } | { readonly role: 'issuing'; readonly parent: Issuer } | undefined {
  const newest = roots.at(-1)
  if (newest === undefined || endOf(newest) <= plus(now, ROOT_OVERLAP)) return { role: 'root' }
  const isLasting = (one: OpenAuthority) => endOf(one) > plus(now, SUCCESSION)
  if (issuing.some(isLasting)) return undefined
  // The oldest one that lasts long enough: clients have known it the longest.
  return { role: 'issuing', parent: roots.find(isLasting) ?? newest }
}

/** Signs client certificates: instances and routers verify those, and they know every CA. */
export function clientIssuer({ issuing }: Standing, now: Instant): OpenAuthority | undefined {
  return issuing.findLast((one) => isPublished(one, now)) ?? issuing.at(-1)
}

/** Signs server certificates: clients verify those, including clients that have only the oldest root. */
export function serverIssuer(standing: Standing, now: Instant): OpenAuthority | undefined {
  const usable = standing.issuing.filter(
    (one) => isPublished(one, now) && endOf(one) > plus(now, SHORTEST_SERVER_LIFE),
  )
  for (const root of standing.roots) {
    const issuer = usable.findLast((one) => isBelow(one, root))
    if (issuer !== undefined) return issuer
  }
  return clientIssuer(standing, now)
}

function isPublished({ createdAt }: OpenAuthority, now: Instant): boolean {
  return plus(createdAt, PUBLISHED_BEFORE_USE) <= now
}

function endOf({ certificate }: OpenAuthority): Instant {
  return validity(certificate).notAfter
}

/** Cached, because the same few are looked up repeatedly. */
const known = new WeakMap<OpenAuthority, WeakMap<OpenAuthority, boolean>>()

function isBelow(issuing: OpenAuthority, root: OpenAuthority): boolean {
  const answers = known.get(issuing) ?? new WeakMap<OpenAuthority, boolean>()
  known.set(issuing, answers)
  const answer = answers.get(root) ?? isSignedBy(issuing.certificate, root.certificate)
  answers.set(root, answer)
  return answer
}
