/**
 * Which of our CAs follows which, and when: D-129. Pure rules over those that are stored; making and keeping them is
 * left to `authorities.ts`. Every CA that has not expired is trusted; these rules say who signs what comes next.
 */
import { isSignedBy, validity } from '../../../base/certificates.ts'
import { days, minutes } from '../../../base/time/duration.ts'
import { type Instant, plus } from '../../../base/time/instant.ts'
import type { Issuer } from '../write-certificate.ts'
import type { StoredAuthority } from './authority-record.ts'

export interface OpenAuthority extends Issuer, Pick<StoredAuthority, 'generation' | 'createdAt'> {}

/** In date, oldest first; issuing CAs of these roots alone. */
export interface Standing {
  readonly roots: readonly OpenAuthority[]
  readonly issuing: readonly OpenAuthority[]
}

/** A new root reaches clients with the bundle that they get when they enroll or renew: for that they have this long. */
const ROOT_OVERLAP = days(5 * 365)

/** Longer than what is issued by default: nothing has to end before its time because its CA does. */
const SUCCESSION = days(365)

/** Far longer than every instance and every connected router needs to hear of a new CA. */
const PUBLISHED_BEFORE_USE = minutes(10)

/** Below an issuer with less than this left, server certificates would be renewed all the time. */
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

/** What must be made now; undefined when nothing is due. */
export function dueSuccessor(
  { roots, issuing }: Standing,
  now: Instant,
): { readonly role: 'root' } | { readonly role: 'issuing'; readonly parent: Issuer } | undefined {
  const newest = roots.at(-1)
  if (newest === undefined || endOf(newest) <= plus(now, ROOT_OVERLAP)) return { role: 'root' }
  const isLasting = (one: OpenAuthority) => endOf(one) > plus(now, SUCCESSION)
  if (issuing.some(isLasting)) return undefined
  // The oldest that lasts: clients know it the longest.
  return { role: 'issuing', parent: roots.find(isLasting) ?? newest }
}

/** Who signs certificates of clients: instances and routers check those, and they know every CA. */
export function clientIssuer({ issuing }: Standing, now: Instant): OpenAuthority | undefined {
  return issuing.findLast((one) => isPublished(one, now)) ?? issuing.at(-1)
}

/** Who signs certificates of servers: clients check those, and one that has only the oldest root must be able to. */
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

export function rootOf({ roots }: Standing, issuing: OpenAuthority): OpenAuthority | undefined {
  return roots.find((root) => isBelow(issuing, root))
}

function isPublished({ createdAt }: OpenAuthority, now: Instant): boolean {
  return plus(createdAt, PUBLISHED_BEFORE_USE) <= now
}

function endOf({ certificate }: OpenAuthority): Instant {
  return validity(certificate).notAfter
}

/** Asked again and again about the same few. */
const known = new WeakMap<OpenAuthority, WeakMap<OpenAuthority, boolean>>()

function isBelow(issuing: OpenAuthority, root: OpenAuthority): boolean {
  const answers = known.get(issuing) ?? new WeakMap<OpenAuthority, boolean>()
  known.set(issuing, answers)
  const answer = answers.get(root) ?? isSignedBy(issuing.certificate, root.certificate)
  answers.set(root, answer)
  return answer
}
