/**
 * Second factors from inside a session: completing a partial session (D-51), and a user's own enrollments. API 3.1;
 * D-240. How each factor is enrolled and checked is in factors/.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record, recordEvent } from '../audit/record.ts'
import { sessionOwner } from '../factors/factor-owner.ts'
import type { Passkey } from '../factors/passkey/passkey.ts'
import type { RelyingParty } from '../factors/passkey/relying-party.ts'
import { withFactor } from '../factors/proven.ts'
import { isRecentLogin } from '../factors/recent-login.ts'
import { freshRecoveryCodes } from '../factors/recovery-codes.ts'
import { refuseUnproven } from '../factors/refuse-unproven.ts'
import type {
  EnrolledPorts,
  Enrollee,
  FactorVerdict,
  FoundEnrollment,
  Prover,
  StartedEnrollment,
} from '../factors/second-factor.ts'
import {
  enrolledFactors,
  type FactorSetups,
  listWithAnyFactor,
  secondFactor,
} from '../factors/second-factors.ts'
import type { SecondFactorStores } from '../factors/stores.ts'
import { withdrawResetWithin } from '../factors/withdraw-reset.ts'
import { amrOf } from '../login/amr.ts'
import { spentAnswer, wrongAnswer } from '../login/refuse-code.ts'
import { invalid } from '../refusals.ts'
import type { Stores } from '../stores.ts'
import type { ApiSession } from './api-session.ts'
import { succeeded } from './authenticate-legacy.ts'
import {
  type CallSession,
  findCallSession,
  holdSession,
  orSessionGone,
  sessionGone,
} from './call-session.ts'
import type { SessionPorts } from './ports.ts'

export type MfaPorts = Pick<
  SessionPorts,
  | keyof AuditPorts
  | keyof SecondFactorStores
  | 'brand'
  | 'vault'
  | 'identities'
  | 'events'
  | 'transaction'
  | 'legacySessionCache'
  | 'apiSessions'
>

/** One of the caller's second factors, in the caller's session. */
export interface SessionFactor<Id extends SecondFactorId = SecondFactorId> {
  readonly factor: Id
  readonly session: CallSession
  /** Where passkeys work (D-430). */
  readonly rp?: RelyingParty | undefined
}

/** What the caller answered, and where it came from. */
export interface SessionAnswer {
  readonly answer: string | undefined
  readonly caller: Caller
}

type ProvenBy = SecondFactorId | 'recovery-code'

type AtHost = { readonly hostname: string }

/** POST /authenticate/mfa. Throws MFA_INVALID_TOKEN, MFA_NOT_ENROLLED, RATE_LIMITED, UNAUTHORIZED. */
export async function proveInSession(
  ports: MfaPorts,
  one: SessionFactor,
  given: SessionAnswer,
): Promise<void> {
  await spend(ports, one, given, (tx, by) => complete(ports, tx, { ...one, by }, given.caller))
  await ports.legacySessionCache.forget(one.session.sessionId)
}

/** Throws MFA_EXISTS, FACTOR_NOT_PROVEN, LOGIN_TOO_OLD, UNAUTHORIZED, and what the factor throws. */
export async function startEnrollmentInSession<Id extends SecondFactorId>(
  ports: MfaPorts,
  one: SessionFactor<Id> & AtHost,
): Promise<StartedEnrollment<FactorSetups[Id]>> {
  await refuseAround(ports, ports, one, await findCallSession(ports, ports, one.session))
  const enrollee = await enrolleeOf(ports, one)
  const started = await secondFactor(one.factor).enrollment.start(ports, enrollee)
  if (started === 'gone') throw sessionGone(ports.brand, one.session)
  if (started === 'exists') throw new Failure('MFA_EXISTS')
  return started
}

/** Throws UNAUTHORIZED; MFA_ENROLLMENT_NOT_STARTED if none is verified and this session has not started one. */
export async function findEnrollmentInSession<Id extends SecondFactorId>(
  ports: MfaPorts,
  one: SessionFactor<Id> & AtHost,
): Promise<FoundEnrollment<FactorSetups[Id]>> {
  const enrollee = await enrolleeOf(ports, one)
  const enrollment = await secondFactor(one.factor).enrollment.find(ports, enrollee)
  if (enrollment === undefined) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  return enrollment
}

/**
 * Throws MFA_ENROLLMENT_NOT_STARTED, MFA_INVALID_TOKEN, RATE_LIMITED, FACTOR_NOT_PROVEN, LOGIN_TOO_OLD, UNAUTHORIZED;
 * for a passkey PASSKEY_INVALID, PASSKEY_EXISTS, MAX_PASSKEYS_REACHED. Returns the passkey that was added.
 */
export async function verifyEnrollmentInSession(
  ports: MfaPorts,
  one: SessionFactor,
  { answer, caller }: { readonly answer: string; readonly caller: Caller },
): Promise<Passkey | undefined> {
  const { identityId, sessionId } = one.session
  const { enrollment } = secondFactor(one.factor)
  await refuseAround(ports, ports, one, await findCallSession(ports, ports, one.session))
  const verdict = await enrollment.prove(ports, { ...proverOf(one), caller }, answer)
  if (verdict.verdict === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  if (verdict.verdict !== 'matches') throw await refuse(ports, one, verdict, caller)
  const isTaken = await withIdentity(ports, one, async (tx) => {
    // Another factor may have been added since.
    await refuseAround(ports, tx, one, await holdSession(ports, tx, one.session))
    if (!(await verdict.take(tx))) return false
    const details = { factor: one.factor }
    await record(ports, tx, caller, { type: 'mfa.enrolled', identityId, sessionId, details })
    await complete(ports, tx, { ...one, by: one.factor }, caller)
    return true
  })
  if (!isTaken) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  await ports.legacySessionCache.forget(sessionId)
  return verdict.passkey
}

/** Cancels a pending enrollment; removing a verified one needs a full session and an answer. */
export async function removeEnrollmentInSession(
  ports: MfaPorts,
  one: SessionFactor,
  given: SessionAnswer,
): Promise<void> {
  const { identityId, sessionId, isPartial } = one.session
  const { enrollment } = secondFactor(one.factor)
  const outcome = await enrollment.cancel(ports, proverOf(one))
  if (outcome === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  if (outcome === 'cancelled') return
  // R090: a partial session cannot remove a verified factor.
  if (isPartial !== undefined) throw isPartial
  await spend(ports, one, given, async (tx) => {
    await enrollment.remove(tx, identityId)
    await withdrawResetWithin(ports, tx, { method: 'reset-mfa', identityId }, given.caller)
    await holdSession(ports, tx, one.session)
    const details = { factor: one.factor }
    await record(ports, tx, given.caller, { type: 'mfa.removed', identityId, sessionId, details })
  })
}

/** Throws MFA_NOT_ENROLLED. */
export async function countRecoveryCodes(
  ports: Pick<MfaPorts, keyof SecondFactorStores>,
  { identityId }: CallSession,
): Promise<number> {
  const enrolled = await listWithAnyFactor(ports, [identityId])
  if (enrolled.size === 0) throw new Failure('MFA_NOT_ENROLLED')
  return ports.recoveryCodes.count(identityId)
}

/** Throws MFA_INVALID_TOKEN, MFA_NOT_ENROLLED, RATE_LIMITED, UNAUTHORIZED. */
export async function renewRecoveryCodes(
  ports: MfaPorts,
  one: SessionFactor,
  given: SessionAnswer,
): Promise<readonly string[]> {
  const { identityId, sessionId } = one.session
  const { recoveryCodes, hashes } = freshRecoveryCodes(ports, identityId)
  await spend(ports, one, given, async (tx) => {
    await tx.recoveryCodes.replace(identityId, hashes)
    await holdSession(ports, tx, one.session)
    const renewed = { type: 'mfa.recovery-codes-renewed', identityId, sessionId } as const
    await record(ports, tx, given.caller, renewed)
  })
  return recoveryCodes
}

/**
 * Spends an answer together with what it allows, which locks the session of the call (`holdSession`). Throws
 * MFA_INVALID_TOKEN, PASSKEY_INVALID, MFA_NOT_ENROLLED, RATE_LIMITED, UNAUTHORIZED.
 */
export async function spend(
  ports: MfaPorts,
  one: SessionFactor,
  { answer, caller }: SessionAnswer,
  allowed: (tx: Stores, by: ProvenBy) => Promise<void>,
): Promise<void> {
  // A missing field does not count as a guess.
  if (answer === undefined) throw invalid('code', 'is missing')
  const verdict = await secondFactor(one.factor).check(ports, proverOf(one), answer)
  if (verdict.verdict !== 'matches') throw await refuse(ports, one, verdict, caller)
  const isTaken = await withIdentity(ports, one, async (tx) => {
    if (!(await verdict.take(tx))) return false
    if (verdict.by === 'recovery-code') {
      const { identityId } = one.session
      await record(ports, tx, caller, { type: 'mfa.recovery-code-used', identityId })
    }
    await allowed(tx, verdict.by)
    return true
  })
  if (!isTaken) throw await refuse(ports, one, spentAnswer(verdict), caller)
}

/**
 * Runs a transaction that locks the identity of the session first. So two enrollments at once are one after the other
 * and do not exceed a limit, and what is written has an identity to refer to (D-284). Throws UNAUTHORIZED if it was
 * deleted meanwhile.
 */
export function withIdentity<T>(
  ports: Pick<MfaPorts, 'transaction' | 'brand'>,
  { session }: Pick<SessionFactor, 'session'>,
  work: (tx: Stores) => Promise<T>,
): Promise<T> {
  return ports.transaction(async (tx) => {
    orSessionGone(ports, session, await tx.identities.hold(session.identityId))
    return work(tx)
  })
}

async function refuse(
  ports: MfaPorts,
  { factor, session: { identityId } }: SessionFactor,
  verdict: Exclude<FactorVerdict, { verdict: 'matches' }>,
  caller: Caller,
): Promise<Failure> {
  if (verdict.verdict === 'blocked') {
    const { retryAfterSeconds } = verdict
    return new Failure('RATE_LIMITED', { retryAfterSeconds, detail: 'too many wrong codes' })
  }
  const { reason, code, details: why } = wrongAnswer(verdict.verdict === 'wrong' ? verdict : {})
  const details = { method: factor, ...why }
  const failed = { type: 'login.failed', identityId, reason, details } as const
  await record(ports, ports, caller, failed)
  return new Failure(verdict.verdict === 'not-enrolled' ? 'MFA_NOT_ENROLLED' : code)
}

/** Records the factor on a legacy session. Other sessions proved it at their login. */
async function complete(
  ports: AuditPorts & Pick<MfaPorts, 'brand'>,
  tx: Stores,
  { factor, session: call, by }: SessionFactor & { readonly by: ProvenBy },
  caller: Caller,
): Promise<void> {
  const session = await holdSession(ports, tx, call)
  if (session.kind !== 'legacy') return
  const secondary = withFactor(session.secondary, factor, by)
  const amr = amrOf(session.primary, secondary)
  await tx.apiSessions.replaceProven({ ...session, secondary, amr })
  if (call.isPartial === undefined) return
  const event = recordEvent(ports, caller, succeeded({ ...session, amr }))
  await tx.identities.markLogin(session.identityId, event.at)
  await tx.events.insert(event)
}

/**
 * D-437: no factor is added around another one. A partial session is a login that has not proven its second factor, and
 * adds none in its place. An old login adds none at all, except the first authenticator app in a full session (D-465).
 * Throws FACTOR_NOT_PROVEN, LOGIN_TOO_OLD.
 */
async function refuseAround(
  ports: Pick<MfaPorts, 'clock'>,
  stores: EnrolledPorts,
  { factor, session: { identityId, isPartial } }: SessionFactor,
  stored: ApiSession,
): Promise<void> {
  if (isPartial !== undefined) {
    await refuseUnproven(stores, { factor, identityId }, stored.secondary.factors)
  } else if (factor !== 'passkey') {
    const enrolled = await enrolledFactors(stores, identityId)
    if ([...enrolled].every((id) => id === factor)) return
  }
  // D-465: a device never counts: its user signed in elsewhere, perhaps deceived.
  const isDevice = stored.kind === 'oidc' && stored.isDevice === true
  if (isDevice || !isRecentLogin(stored.primary, ports.clock.now())) {
    throw new Failure('LOGIN_TOO_OLD')
  }
}

export function proverOf({ session, rp }: Omit<SessionFactor, 'factor'>): Prover {
  return { identityId: session.identityId, owner: sessionOwner(session), rp }
}

/** Throws UNAUTHORIZED if the identity was deleted. */
async function enrolleeOf(
  ports: Pick<MfaPorts, 'identities' | 'brand'>,
  { session, hostname, rp }: SessionFactor & AtHost,
): Promise<Enrollee> {
  const found = await ports.identities.find(session.identityId)
  const identity = orSessionGone(ports, session, found)
  return { identity, owner: sessionOwner(session), hostname, rp }
}
