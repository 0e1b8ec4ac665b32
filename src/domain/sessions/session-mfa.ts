/**
 * TOTP from inside a session: completing a partial session (D-51), and a user's own enrollment. API 3.1; D-240.
 * Enrollments and the checks of codes are in factors/.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { recordEvent } from '../audit/record.ts'
import {
  cancelEnrollment,
  newRecoveryCodesOf,
  proveEnrollment,
  type ReadEnrollment,
  readEnrollment,
  type StartedEnrollment,
  startEnrollment,
} from '../factors/enroll-totp.ts'
import type { FactorVerdict } from '../factors/second-factor.ts'
import { secondFactor } from '../factors/second-factors.ts'
import { sessionOwner } from '../factors/totp-enrollment.ts'
import type { Identity } from '../identities/identity.ts'
import { amrOf } from '../login/amr.ts'
import type { Stores } from '../stores.ts'
import { succeeded } from './authenticate-legacy.ts'
import type { CallSession } from './call-session.ts'
import type { SessionPorts } from './ports.ts'

const TOTP = secondFactor('totp')

type MfaPorts = Pick<
  SessionPorts,
  | keyof AuditPorts
  | 'vault'
  | 'identities'
  | 'totpEnrollments'
  | 'codeGuesses'
  | 'events'
  | 'transaction'
  | 'legacySessionCache'
>

/** POST /authenticate/mfa. Throws MFA_INVALID_TOKEN, MFA_NOT_ENROLLED, RATE_LIMITED. */
export async function proveInSession(
  ports: MfaPorts,
  call: CallSession,
  code: string,
  caller: Caller,
): Promise<void> {
  await spend(ports, call, code, caller, (tx) => complete(ports, tx, call, caller))
  ports.legacySessionCache.forget(call.sessionId)
}

/** Throws MFA_EXISTS. */
export async function startEnrollmentInSession(
  ports: MfaPorts,
  call: CallSession,
  hostname: string,
): Promise<StartedEnrollment> {
  const identity = await ownIdentity(ports, call)
  const started = await startEnrollment(ports, identity, sessionOwner(call), hostname)
  if (started === 'exists') throw new Failure('MFA_EXISTS')
  return started
}

/** Throws MFA_ENROLLMENT_NOT_STARTED if none is verified and this session has not started one. */
export async function readEnrollmentInSession(
  ports: MfaPorts,
  call: CallSession,
  hostname: string,
): Promise<ReadEnrollment> {
  const identity = await ownIdentity(ports, call)
  const enrollment = await readEnrollment(ports, identity, sessionOwner(call), hostname)
  if (enrollment === undefined) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  return enrollment
}

export async function verifyEnrollmentInSession(
  ports: MfaPorts,
  call: CallSession,
  code: string,
  caller: Caller,
): Promise<void> {
  const { identityId, sessionId } = call
  const verdict = await proveEnrollment(ports, identityId, sessionOwner(call), code)
  if (verdict.verdict === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  if (verdict.verdict !== 'matches') throw await refuse(ports, call, verdict, caller)
  const isTaken = await ports.transaction(async (tx) => {
    await holdPartial(tx, call)
    if (!(await verdict.take(tx))) return false
    const enrolled = { type: 'mfa.enrolled', identityId, sessionId } as const
    await tx.events.insert(recordEvent(ports, caller, enrolled))
    await complete(ports, tx, call, caller)
    return true
  })
  if (!isTaken) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  ports.legacySessionCache.forget(sessionId)
}

/** Cancels a pending enrollment; removing a verified one needs a full session and a code. */
export async function removeEnrollmentInSession(
  ports: MfaPorts,
  call: CallSession,
  code: string | undefined,
  caller: Caller,
): Promise<void> {
  const { identityId, sessionId } = call
  const outcome = await cancelEnrollment(ports, identityId, sessionOwner(call))
  if (outcome === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  if (outcome === 'cancelled') return
  // R090: a partial session cannot remove a verified factor.
  if (call.isPartial !== undefined) throw call.isPartial
  await spend(ports, call, code, caller, async (tx) => {
    await tx.totpEnrollments.remove(identityId)
    const removed = { type: 'mfa.removed', identityId, sessionId } as const
    await tx.events.insert(recordEvent(ports, caller, removed))
  })
}

/** Throws MFA_NOT_ENROLLED. */
export async function countRecoveryCodes(
  { totpEnrollments }: Pick<MfaPorts, 'totpEnrollments'>,
  { identityId }: CallSession,
): Promise<number> {
  const enrollment = await totpEnrollments.find(identityId)
  if (!enrollment?.isVerified) throw new Failure('MFA_NOT_ENROLLED')
  return totpEnrollments.countRecoveryCodes(identityId)
}

export async function renewRecoveryCodes(
  ports: MfaPorts,
  call: CallSession,
  code: string | undefined,
  caller: Caller,
): Promise<readonly string[]> {
  const { identityId, sessionId } = call
  const fresh = newRecoveryCodesOf(ports, identityId)
  await spend(ports, call, code, caller, async (tx) => {
    await fresh.take(tx)
    const renewed = { type: 'mfa.recovery-codes-renewed', identityId, sessionId } as const
    await tx.events.insert(recordEvent(ports, caller, renewed))
  })
  return fresh.recoveryCodes
}

/** Spends a code together with what it allows. Throws MFA_INVALID_TOKEN, MFA_NOT_ENROLLED, RATE_LIMITED. */
async function spend(
  ports: MfaPorts,
  call: CallSession,
  code: string | undefined,
  caller: Caller,
  allowed: (tx: Stores) => Promise<void>,
): Promise<void> {
  if (code === undefined) {
    // A missing field does not count as a guess.
    throw new Failure('COULD_NOT_VALIDATE', { field: { field: 'code', reason: 'is missing' } })
  }
  const verdict = await TOTP.check(ports, call.identityId, code)
  if (verdict.verdict !== 'matches') throw await refuse(ports, call, verdict, caller)
  const isTaken = await ports.transaction(async (tx) => {
    await holdPartial(tx, call)
    if (!(await verdict.take(tx))) return false
    await allowed(tx)
    return true
  })
  if (!isTaken) throw await refuse(ports, call, { verdict: 'wrong' }, caller)
}

async function refuse(
  ports: MfaPorts,
  { identityId }: CallSession,
  verdict: Exclude<FactorVerdict, { verdict: 'matches' }>,
  caller: Caller,
): Promise<Failure> {
  if (verdict.verdict === 'blocked') {
    const { retryAfterSeconds } = verdict
    return new Failure('RATE_LIMITED', { retryAfterSeconds, detail: 'too many wrong codes' })
  }
  const { clock } = { clock: undefined, ...verdict }
  const details = { method: TOTP.id, ...(clock === undefined ? {} : { clock }) }
  const failed = { type: 'login.failed', identityId, reason: 'wrong-code', details } as const
  await ports.events.insert(recordEvent(ports, caller, failed))
  return new Failure(verdict.verdict === 'not-enrolled' ? 'MFA_NOT_ENROLLED' : 'MFA_INVALID_TOKEN')
}

/**
 * The code of a partial session finishes a login, which writes to the identity: lock its row first, as at every login.
 */
async function holdPartial(tx: Stores, { isPartial, identityId }: CallSession): Promise<void> {
  if (isPartial !== undefined) await tx.identities.hold(identityId)
}

/** Records the code on a legacy session. Other sessions proved it at their login. */
async function complete(
  audit: AuditPorts,
  tx: Stores,
  call: CallSession,
  caller: Caller,
): Promise<void> {
  if (call.kind !== 'legacy') return
  const session = await tx.apiSessions.hold(call.sessionId)
  if (session?.kind !== 'legacy') return
  const factors = new Set([...session.secondary.factors, TOTP.id])
  const secondary = { ...session.secondary, factors }
  const amr = amrOf(session.primary, secondary)
  await tx.apiSessions.replaceProven({ ...session, secondary, amr })
  if (call.isPartial === undefined) return
  const event = recordEvent(audit, caller, succeeded({ ...session, amr }))
  await tx.identities.markLogin(session.identityId, event.at)
  await tx.events.insert(event)
}

async function ownIdentity(
  { identities }: Pick<MfaPorts, 'identities'>,
  { identityId }: CallSession,
): Promise<Identity> {
  const identity = await identities.find(identityId)
  if (identity === undefined) throw new Failure('NOT_FOUND')
  return identity
}
