/**
 * TOTP enrollment inside a login. SPEC TOTP enrollment during an OIDC flow; D-19, D-20, D-240. Enrollments and their
 * verification are in factors/; this file connects them with the auth request.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { StartedEnrollment, TotpEnrolling } from '../factors/enroll-totp.ts'
import { loginOwner } from '../factors/totp-enrollment.ts'
import type { CheckAgain } from './check-again.ts'
import type { FindDemands } from './demands.ts'
import type { FinishStep, LoginStep } from './finish.ts'
import type { RefuseCode } from './refuse-code.ts'
import { acceptTotp, type PartiallyAuthenticated } from './request/auth-request.ts'
import { startAgain } from './request/find-request.ts'

export interface EnrollInLogin {
  start(request: PartiallyAuthenticated, hostname: string): Promise<StartedEnrollment>
  /** What the app is set up with, while the enrollment is pending. */
  pendingUrl(request: PartiallyAuthenticated, hostname: string): Promise<string | undefined>
  verify(submission: {
    readonly request: PartiallyAuthenticated
    readonly code: string
    readonly caller: Caller
  }): Promise<LoginStep>
  cancel(request: PartiallyAuthenticated): Promise<void>
}

export function createEnrollInLogin(deps: {
  readonly totpEnrolling: TotpEnrolling
  readonly checkAgain: CheckAgain
  readonly findDemands: FindDemands
  readonly finishStep: FinishStep
  readonly refuseCode: RefuseCode
  readonly recordEvent: RecordEvent
}): EnrollInLogin {
  const { totpEnrolling, checkAgain, findDemands, finishStep, refuseCode } = deps

  async function ownerOf(request: PartiallyAuthenticated) {
    const owner = await checkAgain(request.primary)
    if ('refusal' in owner) throw startAgain(owner.refusal)
    return owner
  }

  return {
    async start(request, hostname) {
      const { identity } = await ownerOf(request)
      const started = await totpEnrolling.start(identity, loginOwner(request), hostname)
      if (started === 'exists') throw new Failure('MFA_EXISTS')
      return started
    },

    async pendingUrl(request, hostname) {
      const { identity } = await ownerOf(request)
      const enrollment = await totpEnrolling.read(identity, loginOwner(request), hostname)
      return enrollment?.provisioningUrl
    },

    async verify({ request, code, caller }) {
      const { identity, policy } = await ownerOf(request)
      const { id: identityId } = identity
      const verdict = await totpEnrolling.prove(identityId, loginOwner(request), code)
      if (verdict.verdict === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      if (verdict.verdict !== 'matches') throw await refuseCode(request, verdict, caller)

      const next = acceptTotp(request)
      const demands = await findDemands(identity, policy)
      const step = await finishStep({
        previous: request,
        next,
        demands,
        byEnrollment: true,
        caller,
        take: async (tx) => {
          if (!(await verdict.take(tx))) return false
          const enrolled = { type: 'mfa.enrolled', identityId } as const
          await tx.events.insert(deps.recordEvent(caller, enrolled))
          return true
        },
      })
      // Another call verified or replaced it at the same moment, so it is no longer pending.
      if (step === 'taken') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      return step
    },

    async cancel(request) {
      const { identity } = await ownerOf(request)
      const outcome = await totpEnrolling.cancel(identity.id, loginOwner(request))
      if (outcome === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
      if (outcome === 'verified') throw new Failure('MFA_EXISTS')
    },
  }
}
