/**
 * Enrolls a second factor during a login. SPEC TOTP enrollment during an OIDC flow; D-19, D-20, D-240. Verifying it
 * proves the factor in the same step of the auth request.
 */
import { Failure } from '../../errors/catalogue.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { Caller } from '../audit/events.ts'
import { record } from '../audit/record.ts'
import { loginOwner } from '../factors/factor-owner.ts'
import type { RelyingParty } from '../factors/passkey/relying-party.ts'
import { isRecentLogin } from '../factors/recent-login.ts'
import { refuseUnproven } from '../factors/refuse-unproven.ts'
import type { StartedEnrollment } from '../factors/second-factor.ts'
import { type FactorSetups, secondFactor } from '../factors/second-factors.ts'
import { checkAgain } from './check-again.ts'
import { findDemands } from './demands.ts'
import { finishStep, type LoginStep } from './finish.ts'
import { holdReused, holdStep, refuseUnregistered } from './hold-login.ts'
import type { SecondFactorStepPorts } from './ports.ts'
import { refuseCode } from './refuse-code.ts'
import { acceptFactor, type PartiallyAuthenticated } from './request/auth-request.ts'
import { refuseOvertaken, startAgain } from './request/find-request.ts'

export interface LoginEnrollment<Id extends SecondFactorId> {
  readonly factor: Id
  readonly request: PartiallyAuthenticated
}

type AtHost = { readonly hostname: string; readonly rp?: RelyingParty | undefined }

/** Throws MFA_EXISTS, FACTOR_NOT_PROVEN, LOGIN_TOO_OLD, and what the factor throws. */
export async function startEnrollmentInLogin<Id extends SecondFactorId>(
  ports: SecondFactorStepPorts,
  { factor, request, hostname, rp }: LoginEnrollment<Id> & AtHost,
): Promise<StartedEnrollment<FactorSetups[Id]>> {
  const { identity } = await ownerWhoMayEnroll(ports, { factor, request })
  const enrollee = { identity, owner: loginOwner(request), hostname, rp }
  const started = await secondFactor(factor).enrollment.start(ports, enrollee)
  if (started === 'gone') throw startAgain('identity-missing')
  if (started === 'exists') throw new Failure('MFA_EXISTS')
  return started
}

/** Returns what the user needs to set the factor up; undefined unless an enrollment is pending. */
export async function pendingSetupInLogin<Id extends SecondFactorId>(
  ports: SecondFactorStepPorts,
  { factor, request, hostname }: LoginEnrollment<Id> & AtHost,
): Promise<FactorSetups[Id] | undefined> {
  const { identity } = await identityOf(ports, request)
  const enrollee = { identity, owner: loginOwner(request), hostname }
  const enrollment = await secondFactor(factor).enrollment.find(ports, enrollee)
  return enrollment?.setup
}

/**
 * Throws MFA_ENROLLMENT_NOT_STARTED, MFA_INVALID_TOKEN, RATE_LIMITED, FACTOR_NOT_PROVEN, LOGIN_TOO_OLD; for a passkey
 * PASSKEY_INVALID, PASSKEY_EXISTS, MAX_PASSKEYS_REACHED.
 */
export async function verifyEnrollmentInLogin(
  ports: SecondFactorStepPorts,
  submission: LoginEnrollment<SecondFactorId> & {
    readonly answer: string
    readonly caller: Caller
    readonly rp?: RelyingParty | undefined
  },
): Promise<LoginStep> {
  const { factor, request, answer, caller, rp } = submission
  const { identity, policy } = await ownerWhoMayEnroll(ports, { factor, request })
  const { id: identityId } = identity
  const prover = { identityId, owner: loginOwner(request), rp, caller }
  const verdict = await secondFactor(factor).enrollment.prove(ports, prover, answer)
  if (verdict.verdict === 'not-started') throw await notPending(ports, request)
  if (verdict.verdict !== 'matches') throw await refuseCode(ports, request, factor, verdict, caller)

  const next = acceptFactor(request, factor)
  const demands = await findDemands(ports, identity, policy, request.ask.stepUp)
  const step = await finishStep(ports, {
    previous: request,
    next,
    demands,
    byEnrollment: true,
    caller,
    take: async (tx) => {
      // Two enrollments at once are one after the other, so that none exceeds a limit or goes around the other.
      await holdStep(tx, request, identity, ports.clock.now())
      await refuseUnproven(tx, { factor, identityId }, request.secondary.factors)
      if (!(await verdict.take(tx))) return false
      await holdReused(tx, request)
      await record(ports, tx, caller, { type: 'mfa.enrolled', identityId, details: { factor } })
      return true
    },
  })
  // Another call verified or replaced it at the same moment, so it is no longer pending.
  if (step === 'taken') throw await notPending(ports, request)
  return step
}

async function notPending(
  ports: SecondFactorStepPorts,
  request: PartiallyAuthenticated,
): Promise<Failure> {
  await refuseOvertaken(ports, request)
  return new Failure('MFA_ENROLLMENT_NOT_STARTED')
}

/** Throws MFA_ENROLLMENT_NOT_STARTED; MFA_EXISTS for a verified one. */
export async function cancelEnrollmentInLogin(
  ports: SecondFactorStepPorts,
  { factor, request }: LoginEnrollment<SecondFactorId>,
): Promise<void> {
  const { identity } = await identityOf(ports, request)
  const prover = { identityId: identity.id, owner: loginOwner(request) }
  const outcome = await secondFactor(factor).enrollment.cancel(ports, prover)
  if (outcome === 'not-started') throw new Failure('MFA_ENROLLMENT_NOT_STARTED')
  if (outcome === 'verified') throw new Failure('MFA_EXISTS')
}

/** Throws LOGIN_TOO_OLD, FACTOR_NOT_PROVEN; INVALID_AUTH_REQUEST and NOT_READY as every step. */
async function ownerWhoMayEnroll(
  ports: SecondFactorStepPorts,
  { factor, request }: LoginEnrollment<SecondFactorId>,
) {
  const owner = await identityOf(ports, request)
  // D-465: a session that single sign-on reuses may be hours old, and its user gone.
  if (!isRecentLogin(request.primary, ports.clock.now())) throw new Failure('LOGIN_TOO_OLD')
  const { id: identityId } = owner.identity
  await refuseUnproven(ports, { factor, identityId }, request.secondary.factors)
  return owner
}

async function identityOf(ports: SecondFactorStepPorts, { primary }: PartiallyAuthenticated) {
  const owner = await checkAgain(ports, primary)
  if ('refusal' in owner) throw startAgain(owner.refusal)
  await refuseUnregistered(ports, primary)
  return owner
}
