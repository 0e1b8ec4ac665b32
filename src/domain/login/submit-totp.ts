/**
 * A TOTP or recovery code for a login that is partially authenticated. SPEC Auth request; D-17, D-18, D-20.
 */
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { CheckCode } from '../factors/totp.ts'
import type { CheckAgain } from './check-again.ts'
import type { FindDemands } from './demands.ts'
import type { FinishStep, LoginStep } from './finish.ts'
import type { RefuseCode } from './refuse-code.ts'
import { acceptTotp, type CodeIssued, type PartiallyAuthenticated } from './request/auth-request.ts'
import { startAgain } from './request/find-request.ts'

export type SubmitTotp = (submission: {
  readonly request: PartiallyAuthenticated | CodeIssued
  readonly code: string
  readonly caller: Caller
}) => Promise<LoginStep>

export function createSubmitTotp(deps: {
  readonly checkCode: CheckCode
  readonly checkAgain: CheckAgain
  readonly findDemands: FindDemands
  readonly finishStep: FinishStep
  readonly refuseCode: RefuseCode
  readonly recordEvent: RecordEvent
}): SubmitTotp {
  const { checkCode, checkAgain, findDemands, finishStep, refuseCode, recordEvent } = deps

  return async ({ request, code, caller }) => {
    const { identityId } = request.primary
    const owner = await checkAgain(request.primary)
    if ('refusal' in owner) throw startAgain(owner.refusal)
    const verdict = await checkCode(identityId, code)
    if (verdict.verdict !== 'matches') throw await refuseCode(request, verdict, caller)

    const next = request.state === 'code-issued' ? request : acceptTotp(request)
    const demands = await findDemands(owner.identity, owner.policy)
    const step = await finishStep({
      previous: request,
      next,
      demands,
      byEnrollment: false,
      caller,
      take: async (tx) => {
        if (!(await verdict.take(tx))) return false
        if (verdict.by === 'recovery-code') {
          const used = { type: 'mfa.recovery-code-used', identityId } as const
          await tx.events.insert(recordEvent(caller, used))
        }
        return true
      },
    })
    // R085: the same code at the same moment; only one of them was first.
    if (step === 'taken') throw await refuseCode(request, { verdict: 'wrong' }, caller)
    return step
  }
}
