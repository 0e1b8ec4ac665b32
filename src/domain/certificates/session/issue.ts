/**
 * API session certificates: issued from a CSR, listed, read and removed by the session that they belong to. SPEC API
 * Session Certificates; D-40, D-41.
 */

import { sha256 } from '../../../base/encoding.ts'
import { newId, type SessionCertificateId } from '../../../base/ids.ts'
import { pem } from '../../../base/pem.ts'
import type { Random } from '../../../base/secrets/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Duration } from '../../../base/time/duration.ts'
import { earlier, type Instant, minus, plus, wholeSeconds } from '../../../base/time/instant.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { sessionCertificateUri } from '../../../protocol/spiffe-id.ts'
import type { SubjectPart } from '../../../protocol/x509.ts'
import type { Caller } from '../../audit/events.ts'
import type { RecordEvent } from '../../audit/record.ts'
import { completeProof } from '../../login/again/complete-proof.ts'
import { refuseProof } from '../../login/again/refuse-proof.ts'
import type { Page, PageOf } from '../../paging.ts'
import type { Rules } from '../../policies/rules.ts'
import { type ApiSession, endingOf } from '../../sessions/api-session.ts'
import { type CallSession, sessionGone } from '../../sessions/call-session.ts'
import type { EndedSessions } from '../../sessions/ending/ended-sessions.ts'
import type { Stores, Transaction } from '../../stores.ts'
import type { CertificateAuthorities } from '../own/authorities.ts'
import type { SessionCertificates } from '../stores.ts'
import { BACKDATE, newSerial } from '../write-certificate.ts'
import { readCsr } from './csr.ts'
import { MOST_LIVE_CERTIFICATES, type SessionCertificate } from './session-certificate.ts'

export interface ManageSessionCertificates {
  /** Throws COULD_NOT_PROCESS_CSR or TOO_MANY_CERTIFICATES; UNAUTHORIZED if the session would not get tokens now. */
  issue(call: CallSession, csr: string, caller: Caller): Promise<SessionCertificate>
  /** Those of the call's own session alone (R100). */
  list(call: CallSession, page: Page): Promise<PageOf<SessionCertificate>>
  find(call: CallSession, id: string): Promise<SessionCertificate>
  remove(call: CallSession, id: string, caller: Caller): Promise<void>
  /** The bundle that whoever checks them needs (R103), as it is now. */
  readonly caBundlePem: string
}

export function createSessionCertificates(deps: {
  readonly brand: string
  readonly trustDomain: string
  readonly duration: Duration
  readonly authorities: Pick<
    CertificateAuthorities,
    'signClientCertificate' | 'issuingPem' | 'caBundlePem'
  >
  readonly sessionCertificates: Pick<SessionCertificates, 'find' | 'list'>
  readonly endedSessions: Pick<EndedSessions, 'add'>
  readonly rules: Pick<Rules, 'policy' | 'signer' | 'ca' | 'cas'>
  readonly clock: Clock
  readonly random: Random
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): ManageSessionCertificates {
  const { authorities, sessionCertificates, rules, clock, random } = deps
  const { transaction, recordEvent } = deps

  async function find(call: CallSession, id: string): Promise<SessionCertificate> {
    const found = await sessionCertificates.find(id as SessionCertificateId, call.sessionId)
    if (found === undefined) throw new Failure('NOT_FOUND')
    return found
  }

  /** D-225: the certificate outlives the access token of this request, so check again that the login still counts. */
  async function isWithdrawn(
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

  return {
    get caBundlePem() {
      return authorities.caBundlePem
    },

    async issue(call, csr, caller) {
      const request = readCsr(csr)
      if ('fault' in request) {
        const field = { field: 'csr', reason: request.fault }
        throw new Failure('COULD_NOT_PROCESS_CSR', { field })
      }
      const now = clock.now()
      const { sessionId, identityId } = call
      const outcome = await transaction(async (tx) => {
        // Held: it neither ends nor gets another certificate meanwhile, so the count is right (R099).
        const session = await tx.apiSessions.hold(sessionId)
        if (session === undefined || (await isWithdrawn(tx, session, call, now))) return 'gone'
        const live = await tx.sessionCertificates.countLive(sessionId, now)
        if (live >= MOST_LIVE_CERTIFICATES) return 'too many'
        const id = newId<SessionCertificateId>(random)
        const validFrom = wholeSeconds(minus(now, BACKDATE))
        const validTo = wholeSeconds(earlier(plus(now, deps.duration), lastMoment(session, call)))
        // Signing takes microseconds and waits for nothing, so it may stand in the transaction.
        const bytes = authorities.signClientCertificate({
          serial: newSerial(random),
          subject: request.subject,
          publicKey: request.publicKey,
          uri: sessionCertificateUri({
            trustDomain: deps.trustDomain,
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
        await tx.events.insert(recordEvent(caller, happening('certificate.issued', certificate)))
        return certificate
      })
      if (outcome === 'gone') throw sessionGone(deps.brand, call)
      if (outcome === 'too many') throw new Failure('TOO_MANY_CERTIFICATES')
      return outcome
    },

    list: (call, page) => sessionCertificates.list(call.sessionId, page),

    find,

    async remove(call, id, caller) {
      const certificate = await find(call, id)
      const ending = endingOf(certificate.id, clock.now(), certificate.validTo)
      const isRemoved = await transaction(async (tx) => {
        if (!(await tx.sessionCertificates.remove(certificate.id, call.sessionId))) return false
        await tx.sessionEndings.insert(ending)
        await tx.events.insert(recordEvent(caller, happening('certificate.removed', certificate)))
        return true
      })
      if (!isRemoved) throw new Failure('NOT_FOUND')
      deps.endedSessions.add(ending)
    },
  }
}

/** D-40: the absolute end of the session; for one that cannot be refreshed, the end of its access token. */
function lastMoment(session: ApiSession, call: CallSession): Instant {
  const isRenewable = session.kind === 'legacy' || session.scopes.includes('offline_access')
  return isRenewable ? session.endsAt : earlier(session.endsAt, call.expiresAt)
}

/** RFC 4514 §2.4: what would part the text is escaped; the order is the certificate's. */
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
