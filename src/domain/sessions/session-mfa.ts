/**
 * TOTP from inside a session: completing a partial session (D-51), and a user's own enrollment. API 3.1; D-240.
 * Enrollments and the checks of codes are in factors/.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Events } from '../audit/stores.ts'
import type { ReadEnrollment, StartedEnrollment, TotpEnrolling } from '../factors/enroll-totp.ts'
import type { TotpEnrollments } from '../factors/stores.ts'
import type { CheckCode, CodeVerdict } from '../factors/totp.ts'
import { sessionOwner } from '../factors/totp-enrollment.ts'
import type { Identity } from '../identities/identity.ts'
import type { Identities } from '../identities/stores.ts'
import type { Stores, Transaction } from '../stores.ts'
import { amrOf } from '../tokens/amr.ts'
import { succeeded } from './authenticate-legacy.ts'
import type { CallSession } from './call-session.ts'
import type { LegacySessions } from './legacy-sessions.ts'

export interface SessionMfa {
  /** POST /authenticate/mfa. */
  prove(call: CallSession, code: string, caller: Caller): Promise<void>
  start(call: CallSession, hostname: string): Promise<StartedEnrollment>
  /** Throws MFA_ENROLLMENT_NOT_STARTED if none is verified and this session has not started one. */
  read(call: CallSession, hostname: string): Promise<ReadEnrollment>
  verify(call: CallSession, code: string, caller: Caller): Promise<void>
  /** A pending one is cancelled; a verified one needs a full session and a code. */
  remove(call: CallSession, code: string | undefined, caller: Caller): Promise<void>
  countRecoveryCodes(call: CallSession): Promise<number>
  renewRecoveryCodes(
    call: CallSession,
    code: string | undefined,
    caller: Caller,
  ): Promise<readonly string[]>
}

export function createSessionMfa(deps: {
  readonly checkCode: CheckCode
  readonly totpEnrolling: TotpEnrolling
  readonly totpEnrollments: Pick<TotpEnrollments, 'find' | 'countRecoveryCodes'>
  readonly identities: Pick<Identities, 'find'>
  readonly legacySessions: Pick<LegacySessions, 'forget'>
  readonly events: Pick<Events, 'insert'>
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): SessionMfa {
  const { checkCode, totpEnrolling, totpEnrollments, legacySessions, transaction, recordEvent } =
    deps

  /** Spends a code together with what it allows. Thrown: MFA_INVALID_TOKEN, MFA_NOT_ENROLLED, RATE_LIMITED. */
  async function spend(
    call: CallSession,
    code: string | undefined,
    caller: Caller,
    allowed: (tx: Stores) => Promise<void>,
  ): Promise<void> {
    if (code === undefined) {
      // A field that was forgotten is no guess.
      throw new Failure('COULD_NOT_VALIDATE', { field: { field: 'code', reason: 'is missing' } })
    }
    const verdict = await checkCode(call.identityId, code)
    if (verdict.verdict !== 'matches') throw await refuse(call, verdict, caller)
    const isTaken = await transaction(async (tx) => {
      await holdPartial(tx, call)
      if (!(await verdict.take(tx))) return false
      await allowed(tx)
      return true
    })
    if (!isTaken) throw await refuse(call, { verdict: 'wrong' }, caller)
  }

  async function refuse(
    { identityId }: CallSession,
    verdict: Exclude<CodeVerdict, { verdict: 'matches' }>,
    caller: Caller,
  ): Promise<Failure> {
    if (verdict.verdict === 'blocked') {
      const { retryAfterSeconds } = verdict
      return new Failure('RATE_LIMITED', { retryAfterSeconds, detail: 'too many wrong codes' })
    }
    const details = { method: 'totp' } as const
    const failed = { type: 'login.failed', identityId, reason: 'wrong-code', details } as const
    await deps.events.insert(recordEvent(caller, failed))
    return new Failure(
      verdict.verdict === 'not-enrolled' ? 'MFA_NOT_ENROLLED' : 'MFA_INVALID_TOKEN',
    )
  }

  /** The code of a partial session finishes a login, which writes to the identity: its row first, as at every login. */
  async function holdPartial(tx: Stores, { isPartial, identityId }: CallSession): Promise<void> {
    if (isPartial !== undefined) await tx.identities.hold(identityId)
  }

  /** A legacy session has its code now; another kind of session had it all along. */
  async function complete(tx: Stores, call: CallSession, caller: Caller): Promise<void> {
    if (call.kind !== 'legacy') return
    const session = await tx.apiSessions.find(call.sessionId)
    if (session?.kind !== 'legacy') return
    const amr = amrOf(session.primary, { ...session.secondary, totp: true })
    await tx.apiSessions.markTotpProven(session.id, amr)
    if (call.isPartial === undefined) return
    const event = recordEvent(caller, succeeded({ ...session, amr }))
    await tx.identities.markLogin(session.identityId, event.at)
    await tx.events.insert(event)
  }

  async function ownIdentity({ identityId }: CallSession): Promise<Identity> {
    const identity = await deps.identities.find(identityId)
    if (identity === undefined) throw new Failure('NOT_FOUND')
    return identity
  }

  return {
    async prove(call, code, caller) {
      await spend(call, code, caller, (tx) => complete(tx, call, caller))
      legacySessions.forget(call.sessionId)
    },

    async start(call, hostname) {
      const started = await totpEnrolling.start(
        await ownIdentity(call),
        sessionOwner(call),
        hostname,
      )
      if (started === 'exists') throw new Failure('MFA_EXISTS')
      return started
    },

    async read(call, hostname) {
      const identity = await ownIdentity(call)
      const enrollment = await totpEnrolling.read(identity, sessionOwner(call), hostname)
      if (enrollment === undefined) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      return enrollment
    },

    async verify(call, code, caller) {
      const { identityId, sessionId } = call
      const verdict = await totpEnrolling.prove(identityId, sessionOwner(call), code)
      if (verdict.verdict === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      if (verdict.verdict !== 'matches') throw await refuse(call, verdict, caller)
      const isTaken = await transaction(async (tx) => {
        await holdPartial(tx, call)
        if (!(await verdict.take(tx))) return false
        const enrolled = { type: 'mfa.enrolled', identityId, sessionId } as const
        await tx.events.insert(recordEvent(caller, enrolled))
        await complete(tx, call, caller)
        return true
      })
      if (!isTaken) throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      legacySessions.forget(sessionId)
    },

    async remove(call, code, caller) {
      const { identityId, sessionId } = call
      const outcome = await totpEnrolling.cancel(identityId, sessionOwner(call))
      if (outcome === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      if (outcome === 'cancelled') return
      // R090: who is only half in cannot take a verified factor away.
      if (call.isPartial !== undefined) throw call.isPartial
      await spend(call, code, caller, async (tx) => {
        await tx.totpEnrollments.remove(identityId)
        const removed = { type: 'mfa.removed', identityId, sessionId } as const
        await tx.events.insert(recordEvent(caller, removed))
      })
    },

    async countRecoveryCodes({ identityId }) {
      const enrollment = await totpEnrollments.find(identityId)
      if (!enrollment?.isVerified) throw new Failure('MFA_NOT_ENROLLED')
      return totpEnrollments.countRecoveryCodes(identityId)
    },

    async renewRecoveryCodes(call, code, caller) {
      const { identityId, sessionId } = call
      const fresh = totpEnrolling.renewRecoveryCodes(identityId)
      await spend(call, code, caller, async (tx) => {
        await fresh.take(tx)
        const renewed = { type: 'mfa.recovery-codes-renewed', identityId, sessionId } as const
        await tx.events.insert(recordEvent(caller, renewed))
      })
      return fresh.recoveryCodes
    },
  }
}
