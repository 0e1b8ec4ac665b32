/**
 * API session certificates: issued from a CSR, listed, read and removed by the session that they belong to. SPEC API
 * Session Certificates; D-40, D-41.
 */

import { sha256 } from '../../base/encoding.ts'
import { newId, type SessionCertificateId } from '../../base/ids.ts'
import { pem } from '../../base/pem.ts'
import { earlier, type Instant, minus, plus, wholeSeconds } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { sessionCertificateUri } from '../../protocol/spiffe-id.ts'
import type { SubjectPart } from '../../protocol/x509.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { readCsr } from '../certificates/session/csr.ts'
import {
  MOST_LIVE_CERTIFICATES,
  type SessionCertificate,
} from '../certificates/session/session-certificate.ts'
import { BACKDATE, newSerial } from '../certificates/write-certificate.ts'
import { completeProof } from '../login/again/complete-proof.ts'
import { refuseProof } from '../login/again/refuse-proof.ts'
import type { Page, PageOf } from '../paging.ts'
import { notFound, orNotFound } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import { type ApiSession, endingOf } from './api-session.ts'
import { type CallSession, sessionGone } from './call-session.ts'
import type { SessionPorts } from './ports.ts'

/** What a proof is checked against. */
type ProofRules = Pick<SessionPorts['rules'], 'policy' | 'signer' | 'ca' | 'cas'>

type IssuingPorts = Pick<
  SessionPorts,
  | 'brand'
  | 'trustDomain'
  | 'sessionCertificateDuration'
  | 'authorities'
  | 'clock'
  | 'random'
  | 'foldRepeats'
  | 'transaction'
> & { readonly rules: ProofRules }

/** Finds only those of the call's own session (R100). Throws NOT_FOUND. */
export async function findSessionCertificate(
  { sessionCertificates }: Pick<SessionPorts, 'sessionCertificates'>,
  call: CallSession,
  id: string,
): Promise<SessionCertificate> {
  return orNotFound(await sessionCertificates.find(id as SessionCertificateId, call.sessionId))
}

/** D-225: the certificate outlives the access token of this request, so check again that the login still counts. */
async function isWithdrawn(
  { rules }: { readonly rules: ProofRules },
  tx: Stores,
  session: ApiSession,
  call: CallSession,
  now: Instant,
): Promise<boolean> {
  const policy = rules.policy(call.authPolicyId)
  if (policy === undefined) return true
  const primary = await completeProof(session.primary, tx.authenticators, rules)
  return refuseProof(primary, policy, rules, now) !== undefined
}

/** Throws COULD_NOT_PROCESS_CSR or TOO_MANY_CERTIFICATES; UNAUTHORIZED if the session would not get tokens now. */
export async function issueSessionCertificate(
  ports: IssuingPorts,
  call: CallSession,
  csr: string,
  caller: Caller,
): Promise<SessionCertificate> {
  const { authorities, clock, random, transaction } = ports
  const request = readCsr(csr)
  if ('fault' in request) {
    const field = { field: 'csr', reason: request.fault }
    throw new Failure('COULD_NOT_PROCESS_CSR', { field })
  }
  const now = clock.now()
  const { sessionId, identityId } = call
  const outcome = await transaction(async (tx) => {
    // Locks the session, so that it cannot end or get another certificate meanwhile and the count stays correct (R099).
    const session = await tx.apiSessions.hold(sessionId)
    if (session === undefined || (await isWithdrawn(ports, tx, session, call, now))) return 'gone'
    const live = await tx.sessionCertificates.countLive(sessionId, now)
    if (live >= MOST_LIVE_CERTIFICATES) return 'too many'
    const id = newId<SessionCertificateId>(random)
    const validFrom = wholeSeconds(minus(now, BACKDATE))
    const validTo = wholeSeconds(
      earlier(plus(now, ports.sessionCertificateDuration), lastMoment(session, call)),
    )
    // Signing takes microseconds and does no I/O, so it may run inside the transaction.
    const bytes = authorities.signClientCertificate({
      serial: newSerial(random),
      subject: request.subject,
      publicKey: request.publicKey,
      uri: sessionCertificateUri({
        trustDomain: ports.trustDomain,
        identityId,
        sessionId,
        certificateId: id,
      }),
      notBefore: validFrom,
      notAfter: validTo,
    })
    const certificate: SessionCertificate = {
      id,
      sessionId,
      identityId,
      subject: subjectText(request.subject),
      fingerprint: Buffer.from(sha256(bytes)).toString('hex'),
      certificatePem: `${pem('CERTIFICATE', bytes)}${authorities.issuingPem}`,
      validFrom,
      validTo,
      createdAt: now,
    }
    await tx.sessionCertificates.insert(certificate)
    await record(ports, tx, caller, happening('certificate.issued', certificate))
    return certificate
  })
  if (outcome === 'gone') throw sessionGone(ports.brand, call)
  if (outcome === 'too many') throw new Failure('TOO_MANY_CERTIFICATES')
  return outcome
}

/** Lists only those of the call's own session (R100). */
export function listSessionCertificates(
  { sessionCertificates }: Pick<SessionPorts, 'sessionCertificates'>,
  call: CallSession,
  page: Page,
): Promise<PageOf<SessionCertificate>> {
  return sessionCertificates.list(call.sessionId, page)
}

/** Throws NOT_FOUND. */
export async function removeSessionCertificate(
  ports: Pick<
    SessionPorts,
    'sessionCertificates' | 'transaction' | 'clock' | 'random' | 'foldRepeats'
  >,
  call: CallSession,
  id: string,
  caller: Caller,
): Promise<void> {
  const certificate = await findSessionCertificate(ports, call, id)
  const ending = endingOf(certificate.id, ports.clock.now(), certificate.validTo)
  const isRemoved = await ports.transaction(async (tx) => {
    if (!(await tx.sessionCertificates.remove(certificate.id, call.sessionId))) return false
    await tx.sessionEndings.insert(ending)
    await record(ports, tx, caller, happening('certificate.removed', certificate))
    return true
  })
  if (!isRemoved) throw notFound()
}

/** D-40: the absolute end of the session; if it cannot be refreshed, the end of its access token. */
function lastMoment(session: ApiSession, call: CallSession): Instant {
  const isRenewable = session.kind === 'legacy' || session.scopes.includes('offline_access')
  return isRenewable ? session.endsAt : earlier(session.endsAt, call.expiresAt)
}

/** RFC 4514 §2.4: escapes separators; keeps the order of the certificate. */
function subjectText(parts: readonly SubjectPart[]): string {
  return parts
    .map(({ name, value }) => `${name}=${value.replace(/[,+"\\<>;]|^[ #]| $/g, '\\$&')}`)
    .join(',')
}

function happening(
  type: 'certificate.issued' | 'certificate.removed',
  { id, sessionId, identityId, fingerprint }: SessionCertificate,
) {
  return { type, identityId, sessionId, details: { id, fingerprint } }
}
