/** /account/certificates: shows the user's certificate. Renewing it needs its key, so that is left to the client. */
import { readCertificates, validity } from '../../base/certificates.ts'
import type { Clock } from '../../base/time/clock.ts'
import { listOwnAuthenticators } from '../../domain/account/own-authenticators.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import type { Authenticator } from '../../domain/identities/authenticator.ts'
import type { CallSession } from '../../domain/sessions/call-session.ts'
import { certificatesPage, type ShownCertificate } from '../../web/account/certificates-page.ts'
import type { AccountRoutes } from './account-route.ts'

/** API 4.2: an identity has at most one of each method. */
const ALL = { limit: 10, offset: 0 }

export async function authenticatorsOf(
  ports: AccountPorts,
  session: CallSession,
): Promise<readonly Authenticator[]> {
  const { rows } = await listOwnAuthenticators(ports, session, ALL)
  return rows.map(({ authenticator }) => authenticator)
}

export async function certificatesOf(
  ports: AccountPorts,
  session: CallSession,
): Promise<readonly ShownCertificate[]> {
  const now = ports.clock.now()
  const own = await authenticatorsOf(ports, session)
  return own.flatMap((authenticator) => shown(authenticator, now))
}

export function addCertificatesPage(routes: AccountRoutes, ports: AccountPorts): void {
  routes.show('certificates', async ({ session, frame }) =>
    certificatesPage(frame, await certificatesOf(ports, session)),
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
