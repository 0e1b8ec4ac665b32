/**
 * TOTP enrollment inside a login. SPEC TOTP enrollment during an OIDC flow; D-19, D-20, D-240. Enrollments and their
 * verification are in factors/; this file connects them with the auth request.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { recordEvent } from '../audit/record.ts'
import {
  cancelEnrollment,
  proveEnrollment,
  readEnrollment,
  type StartedEnrollment,
  startEnrollment,
} from '../factors/totp/enroll-totp.ts'
import { loginOwner } from '../factors/totp/totp-enrollment.ts'
import { checkAgain } from './check-again.ts'
import { findDemands } from './demands.ts'
import { finishStep, type LoginStep } from './finish.ts'
import type { LoginPorts } from './ports.ts'
import { refuseCode } from './refuse-code.ts'
import { acceptFactor, type PartiallyAuthenticated } from './request/auth-request.ts'
import { startAgain } from './request/find-request.ts'

type EnrollPorts = Pick<
  LoginPorts,
  | keyof AuditPorts
  | 'brand'
  | 'vault'
  | 'identities'
  | 'authenticators'
  | 'totpEnrollments'
  | 'codeGuesses'
  | 'rules'
  | 'transaction'
>

export async function startEnrollmentInLogin(
  ports: EnrollPorts,
  request: PartiallyAuthenticated,
  hostname: string,
): Promise<StartedEnrollment> {
  const { identity } = await ownerOf(ports, request)
  const started = await startEnrollment(ports, identity, loginOwner(request), hostname)
  if (started === 'exists') throw new Failure('MFA_EXISTS')
  return started
}

/** What the user needs to set up the app, while the enrollment is pending. */
export async function pendingUrlInLogin(
  ports: EnrollPorts,
  request: PartiallyAuthenticated,
  hostname: string,
): Promise<string | undefined> {
  const { identity } = await ownerOf(ports, request)
  const enrollment = await readEnrollment(ports, identity, loginOwner(request), hostname)
  return enrollment?.provisioningUrl
}

export async function verifyEnrollmentInLogin(
  ports: EnrollPorts,
  {
    request,
    code,
    caller,
  }: {
    readonly request: PartiallyAuthenticated
    readonly code: string
    readonly caller: Caller
  },
): Promise<LoginStep> {
  const { identity, policy } = await ownerOf(ports, request)
  const { id: identityId } = identity
  const verdict = await proveEnrollment(ports, identityId, loginOwner(request), code)
  if (verdict.verdict === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  if (verdict.verdict !== 'matches') throw await refuseCode(ports, request, 'totp', verdict, caller)

  const next = acceptFactor(request, 'totp')
  const demands = await findDemands(ports, identity, policy)
  const step = await finishStep(ports, {
    previous: request,
    next,
    demands,
    byEnrollment: true,
    caller,
    take: async (tx) => {
      if (!(await verdict.take(tx))) return false
      const enrolled = { type: 'mfa.enrolled', identityId } as const
      await tx.events.insert(recordEvent(ports, caller, enrolled))
      return true
    },
  })
  // Another call verified or replaced it at the same moment, so it is no longer pending.
  if (step === 'taken') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  return step
}

export async function cancelEnrollmentInLogin(
  ports: EnrollPorts,
  request: PartiallyAuthenticated,
): Promise<void> {
  const { identity } = await ownerOf(ports, request)
  const outcome = await cancelEnrollment(ports, identity.id, loginOwner(request))
  if (outcome === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  if (outcome === 'verified') throw new Failure('MFA_EXISTS')
}

async function ownerOf(ports: EnrollPorts, request: PartiallyAuthenticated) {
  const owner = await checkAgain(ports, request.primary)
  if ('refusal' in owner) throw startAgain(owner.refusal)
  return owner
}
