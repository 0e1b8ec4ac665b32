/** /account/certificates: the own certificate, to look at. Renewing it is the business of whoever holds its key. */
import { readCertificates, validity } from '../../base/certificates.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { OwnAuthenticators } from '../../domain/account/own-authenticators.ts'
import type { Authenticator } from '../../domain/identities/authenticator.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { certificatesPage, type ShownCertificate } from '../../web/account/certificates-page.ts'
import type { AccountRoutes } from './account-route.ts'

interface Dependencies {
  readonly ownAuthenticators: OwnAuthenticators
  readonly clock: Pick<Clock, 'now'>
}

/** API 4.2: an identity has one of each method at most. */
const ALL = { limit: 10, offset: 0 }

export async function certificatesOf(
  session: CallSession,
  { ownAuthenticators, clock }: Dependencies,
): Promise<readonly ShownCertificate[]> {
  const now = clock.now()
  const { rows } = await ownAuthenticators.list(session, ALL)
  return rows.flatMap(({ authenticator }) => shown(authenticator, now))
}

export function addCertificatesPage(routes: AccountRoutes, use: Dependencies): void {
  routes.show('certificates', async ({ session, frame }) =>
    certificatesPage(frame, await certificatesOf(session, use)),
  )
}

function shown(
  authenticator: Authenticator,
  now: ReturnType<Clock['now']>,
): readonly ShownCertificate[] {
  if (authenticator.method !== 'cert') return []
  const { fingerprint, isIssuedByNetwork, renewal, certPem } = authenticator
  const [certificate] = readCertificates(certPem)
  if (certificate === undefined) return []
  const { notBefore, notAfter } = validity(certificate)
  const isExpired = notAfter < now
  const renewalFingerprint = renewal?.fingerprint
  return [{ fingerprint, notBefore, notAfter, isExpired, isIssuedByNetwork, renewalFingerprint }]
}
