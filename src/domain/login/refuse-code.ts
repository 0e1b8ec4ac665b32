/**
 * Records a wrong code, counts it against its login, and returns the failure. D-18: the login stays partially
 * authenticated; ten wrong codes end it, and ten in a row for one identity slow it down across all its logins.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { ClockOff } from '../audit/clock-off.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { recordEvent } from '../audit/record.ts'
import type { LoginPorts } from './ports.ts'
import type { CodeIssued, PartiallyAuthenticated } from './request/auth-request.ts'

/** D-18, R086. */
export const MOST_WRONG_CODES = 10

export type RefusedCode =
  | { readonly verdict: 'wrong' | 'not-enrolled'; readonly clock?: ClockOff }
  | { readonly verdict: 'blocked'; readonly retryAfterSeconds: number }

/** Returns the failure to throw. */
export async function refuseCode(
  ports: AuditPorts & Pick<LoginPorts, 'transaction'>,
  request: PartiallyAuthenticated | CodeIssued,
  method: SecondFactorId,
  refused: RefusedCode,
  caller: Caller,
): Promise<Failure> {
  const { identityId } = request.primary
  if (refused.verdict === 'blocked') {
    const { retryAfterSeconds } = refused
    return new Failure('RATE_LIMITED', { retryAfterSeconds, detail: 'too many wrong codes' })
  }
  const clock = refused.clock === undefined ? {} : { clock: refused.clock }
  const isEnded = await ports.transaction(async (tx) => {
    const { isEnded } = await tx.authRequests.addWrongCode(request.key, MOST_WRONG_CODES)
    const reason = isEnded ? 'too-many-codes' : 'wrong-code'
    const failed = {
      type: 'login.failed',
      identityId,
      reason,
      details: { method, ...clock },
    } as const
    await tx.events.insert(recordEvent(ports, caller, failed))
    return isEnded
  })
  const detail = isEnded ? 'the last of too many wrong codes' : refused.verdict
  return new Failure('MFA_INVALID_TOKEN', { detail })
}
