/**
 * Submits a second factor for a login that is partially authenticated. SPEC Auth request; D-17, D-18, D-20.
 */
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { loginOwner } from '../factors/factor-owner.ts'
import type { RelyingParty } from '../factors/passkey/relying-party.ts'
import { secondFactor } from '../factors/second-factors.ts'
import { checkAgain } from './check-again.ts'
import { findDemands } from './demands.ts'
import { finishStep, type LoginStep } from './finish.ts'
import { holdReused, holdStep } from './hold-login.ts'
import type { SecondFactorStepPorts } from './ports.ts'
import { refuseCode, spentAnswer } from './refuse-code.ts'
import {
  acceptFactor,
  type CodeIssued,
  type PartiallyAuthenticated,
} from './request/auth-request.ts'
import { startAgain } from './request/find-request.ts'

export interface FactorSubmission {
  readonly factor: SecondFactorId
  readonly request: PartiallyAuthenticated | CodeIssued
  readonly code: string
  readonly caller: Caller
  /** For a passkey (D-430). */
  readonly rp?: RelyingParty | undefined
}

export async function submitSecondFactor(
  ports: SecondFactorStepPorts,
  { factor, request, code, caller, rp }: FactorSubmission,
): Promise<LoginStep> {
  const { identityId } = request.primary
  const prover = { identityId, owner: loginOwner(request), rp }
  const owner = await checkAgain(ports, request.primary)
  if ('refusal' in owner) throw startAgain(owner.refusal)
  const verdict = await secondFactor(factor).check(ports, prover, code)
  if (verdict.verdict !== 'matches') throw await refuseCode(ports, request, factor, verdict, caller)

  const next = request.state === 'code-issued' ? request : acceptFactor(request, factor, verdict.by)
  const demands = await findDemands(ports, owner.identity, owner.policy, request.ask.stepUp)
  const step = await finishStep(ports, {
    previous: request,
    next,
    demands,
    caller,
    take: async (tx) => {
      await holdStep(tx, request, owner.identity, ports.clock.now())
      if (!(await verdict.take(tx))) return false
      await holdReused(tx, request)
      if (verdict.by === 'recovery-code') {
        await record(ports, tx, caller, { type: 'mfa.recovery-code-used', identityId })
      }
      return true
    },
  })
  // R085: a parallel call used the same code first, or it is not one of the recovery codes.
  if (step === 'taken') {
    throw await refuseCode(ports, request, factor, spentAnswer(verdict), caller)
  }
  return step
}
