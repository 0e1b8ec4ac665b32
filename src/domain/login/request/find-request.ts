/**
 * Every login step starts here: finds the request for the id that the caller presents. If the id is unknown, expired,
 * finished or presented by another browser, the answer is the same: start again (D-12, R024).
 */

import { Failure } from '../../../errors/catalogue.ts'
import type { LoginPorts } from '../ports.ts'
import type { AwaitingPrimary, CodeIssued, PartiallyAuthenticated } from './auth-request.ts'
import { refuseStep, type StepOrigin } from './browser-binding.ts'
import { openRequest, sealRequest } from './sealed-request.ts'

/** A login that is not finished: it accepts a primary credential, and then a second factor. */
export type OpenRequest = AwaitingPrimary | PartiallyAuthenticated

type FindPorts = Pick<LoginPorts, 'vault' | 'clock' | 'authRequests'>

/** Throws INVALID_AUTH_REQUEST, also if the code has been issued (D-13). */
export async function findOpenRequest(
  ports: FindPorts,
  id: string,
  step: StepOrigin,
): Promise<OpenRequest> {
  const found = await find(ports, id, step)
  if (found.state === 'code-issued') throw ended(id, found, 'the auth request has its code already')
  return found
}

/** Second factors need a proven primary factor (R027). D-20: after an enrollment, a code is still accepted. */
export async function findRequestForTotp(
  ports: FindPorts,
  id: string,
  step: StepOrigin,
): Promise<PartiallyAuthenticated | CodeIssued> {
  const found = await find(ports, id, step)
  if (found.state === 'awaiting-primary') throw startAgain('no primary factor is proven')
  if (found.state === 'code-issued' && !found.byEnrollment) {
    throw ended(id, found, 'the auth request has its code already')
  }
  return found
}

/** Enrollment also needs a proven primary factor, and is no longer possible once the code is issued (D-19). */
export async function findRequestForEnrollment(
  ports: FindPorts,
  id: string,
  step: StepOrigin,
): Promise<PartiallyAuthenticated> {
  const found = await findOpenRequest(ports, id, step)
  if (found.state === 'awaiting-primary') throw startAgain('no primary factor is proven')
  return found
}

async function find({ vault, clock, authRequests }: FindPorts, id: string, step: StepOrigin) {
  const sealed = openRequest(vault, id)
  if (sealed === undefined) throw startAgain('the id is not one of ours')
  if (sealed.expiresAt <= clock.now()) throw ended(id, sealed, 'the auth request has expired')
  const refusal = refuseStep(vault, sealed, step)
  const mayBeOver = refusal === undefined || !step.isForeignPost
  const found = mayBeOver ? ((await authRequests.find(sealed.key)) ?? sealed) : sealed
  if (refusal !== undefined) {
    // A browser gives the cookie back with the last step. A login that is still open belongs to another one (D-10).
    const isOpen = found.state === 'awaiting-primary' || found.state === 'partially-authenticated'
    throw isOpen ? startAgain(refusal) : ended(id, sealed, refusal)
  }
  if (found.state === 'tokens-issued') {
    throw ended(id, sealed, 'the auth request has its tokens already')
  }
  if (found.state === 'ended') {
    throw ended(id, sealed, 'too many wrong codes ended the auth request')
  }
  return found
}

function ended(id: string, { browser }: Pick<OpenRequest, 'browser'>, detail: string): Failure {
  return browser === undefined ? startAgain(detail) : new EndedLogin(detail, id)
}

/** Another step of this login was faster, for example the same form, sent twice (R028). */
export function overtaken(
  vault: LoginPorts['vault'],
  { key, ask, browser, expiresAt }: Omit<AwaitingPrimary, 'state'>,
): Failure {
  const id = sealRequest(vault, { state: 'awaiting-primary', key, ask, browser, expiresAt })
  const detail = 'another step of this auth request was faster'
  return id === undefined ? startAgain(detail) : ended(id, { browser }, detail)
}

/**
 * Throws what `overtaken` returns if another step of this login was faster and proved a second factor. Called for an
 * answer that was already spent: if the same form was sent twice, that is not a wrong code (D-427). Proving the
 * first factor again excuses nothing: an attacker could send the password with every guess, and none would be counted
 * (D-18).
 */
export async function refuseOvertaken(
  { vault, authRequests }: Pick<LoginPorts, 'vault' | 'authRequests'>,
  request: PartiallyAuthenticated | CodeIssued,
): Promise<void> {
  const current = await authRequests.find(request.key)
  if (current === undefined || current.state === 'ended') return
  const isSame = current.primary.identityId === request.primary.identityId
  const isFurther =
    current.state !== 'partially-authenticated' ||
    current.secondary.factors.size > request.secondary.factors.size
  if (isSame && isFurther && current.revision !== request.revision) throw overtaken(vault, request)
}

/** The login was ours and began in a browser: its user can start it again (D-344). */
export class EndedLogin extends Failure {
  readonly authRequestId: string

  constructor(detail: string, authRequestId: string) {
    super('INVALID_AUTH_REQUEST', { detail })
    this.authRequestId = authRequestId
  }
}

export function startAgain(detail: string): Failure {
  return new Failure('INVALID_AUTH_REQUEST', { detail })
}
