/**
 * Renews an enrolled certificate on request of its holder. `extend` issues another one for a certificate request, and
 * both work until `extend-verify` confirms that the new one has arrived; then the old one is refused everywhere. API
 * 3.1; D-26, D-117, D-130.
 */

import type { X509Certificate } from 'node:crypto'
import { fingerprintOf, readCertificates, validity } from '../../../base/certificates.ts'
import { sha256 } from '../../../base/encoding.ts'
import type { AuthenticatorId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { LONGEST_PEM } from '../../../protocol/limits.ts'
import type { Caller } from '../../audit/events.ts'
import { record } from '../../audit/record.ts'
import { judgeCertificate } from '../../certificates/judge-certificate.ts'
import {
  type IdentityCertificate,
  issueIdentityCertificate,
} from '../../certificates/own/identity-certificate.ts'
import type { PresentedChain } from '../../certificates/presented-chain.ts'
import type { CertAuthenticator, PendingRenewal } from '../../identities/authenticator.ts'
import { notFound } from '../../refusals.ts'
import { type ApiSession, endingOf, type SessionEnding } from '../../sessions/api-session.ts'
import { type CallSession, holdSession, sessionGone } from '../../sessions/call-session.ts'
import { endInSession } from '../../sessions/own-sessions.ts'
import type { Stores } from '../../stores.ts'
import type { EnrollmentPorts } from '../ports.ts'

/**
 * Issues the next certificate. The connection must use the certificate that is renewed; another one, or none, is
 * FORBIDDEN. Also throws NOT_FOUND, UNAUTHORIZED, CAN_NOT_RENEW_CERTIFICATE, COULD_NOT_PROCESS_CSR, RATE_LIMITED.
 */
export async function extendCertificate(
  ports: EnrollmentPorts,
  call: CallSession,
  id: AuthenticatorId,
  { csr, shown }: { readonly csr: string; readonly shown: PresentedChain | undefined },
  caller: Caller,
): Promise<IdentityCertificate> {
  const { brand, clock, transaction } = ports
  const found = await findOwn(ports, call, id)
  if (shown === undefined || fingerprintShown(shown) !== found.fingerprint) throw otherShown()
  await refuseUntrusted(ports, call, shown)
  await ports.countRenewal(id)
  const { identityId } = call
  // A router gets the hosts that it has now (D-391).
  const identity = await ports.identities.find(identityId)
  if (identity === undefined) throw sessionGone(brand, call)
  const made = issueIdentityCertificate(ports, identity, { pem: csr, field: 'clientCertCsr' })
  const { certPem, fingerprint } = made
  await transaction(async (tx) => {
    // Lock the identity, so that it is not deleted, and no other renewal of it runs, in the meantime.
    if ((await tx.identities.hold(identityId)) === undefined) throw sessionGone(brand, call)
    const now = await tx.authenticators.find(id)
    if (now?.method !== 'cert' || now.fingerprint !== found.fingerprint) throw otherShown()
    const pending = { certPem, fingerprint }
    await tx.certificateRenewals.replacePending(id, now.fingerprint, pending, clock.now())
    const sessions = now.renewal === undefined ? [] : await drop(ports, tx, id, now.renewal)
    await endInSession(ports, tx, call, { sessions }, 'certificate-replaced', caller)
    const details = { id, fingerprint }
    await record(ports, tx, caller, { type: 'authenticator.renewal-started', identityId, details })
  })
  return made
}

/**
 * Throws FORBIDDEN as `extendCertificate`; UNAUTHORIZED, NOT_FOUND, INVALID_CERT_PEM, RENEWAL_NOT_PENDING, CERT_IN_USE.
 */
export async function confirmRenewal(
  ports: EnrollmentPorts,
  call: CallSession,
  id: AuthenticatorId,
  { pem, shown }: { readonly pem: string; readonly shown: PresentedChain | undefined },
  caller: Caller,
): Promise<void> {
  const { brand, clock, transaction } = ports
  const found = await findOwn(ports, call, id)
  const onConnection = shown && fingerprintShown(shown)
  const isOwn = onConnection === found.fingerprint || onConnection === found.renewal?.fingerprint
  if (onConnection === undefined || !isOwn) throw otherShown()
  const certificate = readFirst(pem)
  const fingerprint = fingerprintOf(certificate)
  const { notAfter } = validity(certificate)
  if (fingerprint !== found.renewal?.fingerprint) throw new Failure('RENEWAL_NOT_PENDING')

  const { identityId } = call
  await transaction(async (tx) => {
    if ((await tx.identities.hold(identityId)) === undefined) throw sessionGone(brand, call)
    const now = await tx.authenticators.find(id)
    const other = await tx.authenticators.findCert(fingerprint)
    if (other !== undefined && other.id !== id) throw new Failure('CERT_IN_USE')
    const isTaken = await tx.certificateRenewals.takePending(id, fingerprint, clock.now())
    if (!isTaken || now?.method !== 'cert') throw new Failure('RENEWAL_NOT_PENDING')
    await holdSessions(ports, tx, call, id)
    await tx.certificateRenewals.rebindSessions(id, now.fingerprint, { fingerprint, notAfter })
    for (const ending of endingsOf(now, clock)) await tx.sessionEndings.insert(ending)
    const details = { id, fingerprint }
    await record(ports, tx, caller, { type: 'authenticator.renewed', identityId, details })
  })
}

async function findOwn(
  { authenticators }: Pick<EnrollmentPorts, 'authenticators'>,
  call: CallSession,
  id: AuthenticatorId,
): Promise<CertAuthenticator> {
  const found = await authenticators.find(id)
  // R100: report entities of other identities as not found.
  if (found?.identityId !== call.identityId) throw notFound()
  if (found.method !== 'cert') throw unrenewable('it is a password')
  if (!found.isIssuedByNetwork) throw unrenewable('another CA issued it')
  return found
}

/** As at a login: it must lead to a CA of ours that has not expired; the policy decides about an expired leaf. */
async function refuseUntrusted(
  ports: Pick<EnrollmentPorts, 'rules' | 'ownAnchors' | 'clock'>,
  call: CallSession,
  shown: PresentedChain,
): Promise<void> {
  const judged = await judgeCertificate(ports, shown, [])
  if (judged.verdict === 'rejected') throw unrenewable(`${judged.reason}: ${judged.why}`)
  const policy = ports.rules.policy(call.authPolicyId)
  if (judged.isExpired && policy?.primary.cert.allowExpiredCerts !== true) {
    throw unrenewable('it has expired')
  }
}

function endingsOf(
  { certPem, fingerprint }: PendingRenewal,
  clock: Clock,
): readonly SessionEnding[] {
  const [certificate] = readCertificates(certPem)
  if (certificate === undefined) return []
  return [endingOf(`cert:${fingerprint}`, clock.now(), validity(certificate).notAfter)]
}

/**
 * Records that another certificate is now pending instead of this one. This one was signed, so routers would accept it.
 * Returns the sessions that began with it.
 */
async function drop(
  { clock }: Pick<EnrollmentPorts, 'clock'>,
  tx: Stores,
  id: AuthenticatorId,
  renewal: PendingRenewal,
): Promise<readonly ApiSession[]> {
  for (const ending of endingsOf(renewal, clock)) await tx.sessionEndings.insert(ending)
  const all = await tx.apiSessions.listByAuthenticator(id)
  return all.filter((session) => isBegunWith(session, renewal))
}

/** Locks the session of the call with those that follow the certificate, in one order (D-485). Throws UNAUTHORIZED. */
async function holdSessions(
  ports: Pick<EnrollmentPorts, 'brand'>,
  tx: Stores,
  call: CallSession,
  id: AuthenticatorId,
): Promise<void> {
  const following = await tx.apiSessions.listByAuthenticator(id)
  await tx.apiSessions.holdAll([call.sessionId, ...following.map((session) => session.id)])
  await holdSession(ports, tx, call)
}

function isBegunWith({ primary }: ApiSession, { fingerprint }: PendingRenewal): boolean {
  return primary.certificate?.fingerprint === fingerprint
}

function fingerprintShown({ leaf }: PresentedChain): string {
  return Buffer.from(sha256(leaf)).toString('hex')
}

/** D-130: the caller is authenticated, but may not do this over this connection (D-38). */
function otherShown(): Failure {
  const detail = 'the certificate of the connection is not the one of the authenticator'
  return new Failure('FORBIDDEN', { detail })
}

function unrenewable(detail: string): Failure {
  return new Failure('CAN_NOT_RENEW_CERTIFICATE', { detail })
}

/** With or without its chain, as it was issued. */
function readFirst(pem: string): X509Certificate {
  const [certificate] = pem.length > LONGEST_PEM ? [] : readCertificates(pem)
  if (certificate === undefined) throw new Failure('INVALID_CERT_PEM')
  return certificate
}
