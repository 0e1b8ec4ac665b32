/**
 * Decides whether the certificate of a connection may enroll. It is judged like one that logs in (D-21, D-111), except
 * that its CA must be enabled for this way of enrolling instead of for logins. API 3.2, 4.6; D-131. The handshake
 * proved the key (R093).
 */
import type { CaId } from '../../base/ids.ts'
import { type ClockOff, clockOff } from '../audit/clock-off.ts'
import { ENROLLMENT_REFUSALS, type EnrollmentRefusalReason } from '../audit/reasons.ts'
import { judgeCertificate } from '../certificates/judge-certificate.ts'
import type { PresentedChain } from '../certificates/presented-chain.ts'
import type { Ca } from '../certificates/third-party/ca.ts'
import type { TrustedCertificate } from '../certificates/verdict.ts'
import { refuseStale } from '../policies/rules.ts'
import type { EnrollmentPorts } from './ports.ts'

export type CaCertificateVerdict =
  | { readonly verdict: 'trusted'; readonly certificate: TrustedCertificate; readonly ca: Ca }
  | {
      readonly verdict: 'rejected'
      readonly reason: EnrollmentRefusalReason
      readonly why?: string | undefined
      readonly clock?: ClockOff | undefined
    }

/** What the CA must be enabled for, and which CA it must be; undefined: any enabled one. */
export interface Purpose {
  readonly isEnabled: (ca: Ca) => boolean
  readonly caId?: CaId
}

/** Throws NOT_READY. */
export async function judgeForEnrollment(
  ports: Pick<EnrollmentPorts, 'rules' | 'ownAnchors' | 'clock'>,
  chain: PresentedChain | undefined,
  purpose: Purpose,
): Promise<CaCertificateVerdict> {
  if (chain === undefined) return reject('no-certificate')
  refuseStale(ports.rules)
  const judged = await judgeCertificate(ports, chain, casFor(purpose, ports.rules.cas()))
  if (judged.verdict === 'rejected') {
    const { reason, why, clock } = judged
    return { ...reject(isRefusalReason(reason) ? reason : 'certificate-untrusted', why), clock }
  }
  const { anchor } = judged
  if (anchor.kind === 'network') return reject('certificate-untrusted', 'it is one of our own')
  if (judged.isExpired) {
    const past = (judged.notAfter - ports.clock.now()) / 1_000
    return { ...reject('certificate-expired'), ...clockOff('notAfter', past) }
  }
  return { verdict: 'trusted', certificate: judged, ca: anchor.ca }
}

function isRefusalReason(reason: string): reason is EnrollmentRefusalReason {
  return Object.hasOwn(ENROLLMENT_REFUSALS, reason)
}

/**
 * The CAs with another meaning of "enabled". An enabled CA other than the requested one is left out, so that its own
 * certificates are not accepted but paths through it to the requested one are. A CA that is not enabled stays, and
 * blocks every path through it (D-111).
 */
function casFor({ isEnabled, caId }: Purpose, cas: readonly Ca[]): readonly Ca[] {
  return cas
    .filter((ca) => caId === undefined || ca.id === caId || !isEnabled(ca))
    .map((ca) => withAuth(ca, isEnabled(ca)))
}

/** Created once per CA, because the judge caches what it parsed of a CA by its record. */
const copies = { true: new WeakMap<Ca, Ca>(), false: new WeakMap<Ca, Ca>() }

function withAuth(ca: Ca, isAuthEnabled: boolean): Ca {
  if (ca.isAuthEnabled === isAuthEnabled) return ca
  const known = copies[`${isAuthEnabled}`]
  const copy = known.get(ca) ?? { ...ca, isAuthEnabled }
  known.set(ca, copy)
  return copy
}

function reject(reason: EnrollmentRefusalReason, why?: string) {
  return { verdict: 'rejected', reason, why } as const
}
