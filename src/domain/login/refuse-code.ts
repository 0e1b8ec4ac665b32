/**
 * Records a wrong code, counts it against its login, and returns the failure. D-18: the login stays partially
 * authenticated; ten wrong codes end it, and ten in a row for one identity slow it down across all its logins.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { record } from '../audit/record.ts'
import type { FactorVerdict, WrongAnswer } from '../factors/second-factor.ts'
import type { LoginPorts } from './ports.ts'
import type { CodeIssued, PartiallyAuthenticated } from './request/auth-request.ts'
import { refuseOvertaken } from './request/find-request.ts'

/** D-18, R086. */
export const MOST_WRONG_CODES = 10

type Match = Extract<FactorVerdict, { verdict: 'matches' }>

/** An answer that matched, but could not be taken. */
export function spentAnswer({ by, clock }: Pick<Match, 'by' | 'clock'>): WrongAnswer {
  return {
    verdict: 'wrong',
    ...(by === 'passkey' ? { passkey: 'challenge' } : {}),
    ...(clock === undefined ? {} : { clock }),
  }
}

/** What the event says about a wrong answer, and the code that its caller gets. */
export function wrongAnswer({ clock, passkey }: Partial<WrongAnswer>) {
  const seen = clock === undefined ? {} : { clock }
  if (passkey === undefined) {
    return { reason: 'wrong-code', code: 'MFA_INVALID_TOKEN', details: seen } as const
  }
  const reason = passkey === 'counter' ? 'passkey-cloned' : 'passkey-invalid'
  return { reason, code: 'PASSKEY_INVALID', details: { ...seen, why: passkey } } as const
}

/** Returns the failure to throw. Throws INVALID_AUTH_REQUEST if another step of this login was faster. */
export async function refuseCode(
  ports: AuditPorts & Pick<LoginPorts, 'transaction' | 'vault' | 'authRequests'>,
  request: PartiallyAuthenticated | CodeIssued,
  method: SecondFactorId,
  refused: Exclude<FactorVerdict, Match>,
  caller: Caller,
): Promise<Failure> {
  const { identityId } = request.primary
  if (refused.verdict === 'blocked') {
    const { retryAfterSeconds } = refused
    return new Failure('RATE_LIMITED', { retryAfterSeconds, detail: 'too many wrong codes' })
  }
  await refuseOvertaken(ports, request)
  const wrong = wrongAnswer(refused.verdict === 'wrong' ? refused : {})
  const isEnded = await ports.transaction(async (tx) => {
    const { isEnded } = await tx.authRequests.addWrongCode(request.key, MOST_WRONG_CODES)
    const reason = isEnded ? 'too-many-codes' : wrong.reason
    const details = { method, ...wrong.details }
    await record(ports, tx, caller, { type: 'login.failed', identityId, reason, details })
    return isEnded
  })
  const detail = isEnded ? 'the last of too many wrong codes' : refused.verdict
  return new Failure(wrong.code, { detail })
}
