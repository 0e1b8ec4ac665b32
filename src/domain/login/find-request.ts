/**
 * The door of every login step: from the id that a caller shows to a request that may go on.
 * Unknown, expired, finished, or shown by another browser: one answer, to start again (D-12, R024).
 */
import type { Clock } from '../../base/clock.ts'
import type { Vault } from '../../base/vault.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { AwaitingPrimary } from './auth-request.ts'
import { refuseStep, type StepOrigin } from './browser-binding.ts'
import { openRequest } from './sealed-request.ts'
import type { AuthRequests } from './stores.ts'

export type FindRequest = (id: string, step: StepOrigin) => Promise<AwaitingPrimary>

export function createFindRequest(deps: {
  readonly vault: Vault
  readonly clock: Clock
  readonly authRequests: Pick<AuthRequests, 'find'>
}): FindRequest {
  const { vault, clock, authRequests } = deps

  return async (id, step) => {
    const request = openRequest(vault, id)
    if (request === undefined) throw startAgain('the id is not one of ours')
    if (request.expiresAt <= clock.now()) throw startAgain('the auth request has expired')
    const refusal = refuseStep(vault, request, step)
    if (refusal !== undefined) throw startAgain(refusal)
    // D-13: after the code is issued the login endpoints refuse.
    if ((await authRequests.find(request.key)) !== undefined) {
      throw startAgain('the auth request has its code already')
    }
    return request
  }
}

export function startAgain(detail: string): Failure {
  return new Failure('INVALID_AUTH_REQUEST', { detail })
}
