/**
 * A username and password for an auth request. SPEC Auth request: accepted credentials issue the code; failed
 * ones leave the request as it was, to be tried again.
 */

import type { Clock } from '../../base/clock.ts'
import { type Duration, seconds } from '../../base/duration.ts'
import { base64url } from '../../base/encoding.ts'
import type { IdentityId } from '../../base/ids.ts'
import { plus } from '../../base/instant.ts'
import type { Random } from '../../base/random.ts'
import type { Vault } from '../../base/vault.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Caller } from '../audit/events.ts'
import type { RecordEvent } from '../audit/record.ts'
import type { Events } from '../audit/stores.ts'
import type { PasswordCredentials, PasswordFactor } from '../factors/password.ts'
import type { Transaction } from '../stores.ts'
import { type AwaitingPrimary, acceptPrimary } from './auth-request.ts'
import { type ClientAnswer, codeAnswer } from './client-answer.ts'
import { startAgain } from './find-request.ts'
import { mergeConfigTypes } from './read-ask.ts'

/** D-7: a code lives 60 seconds. */
export const CODE_LIFE: Duration = seconds(60)

/** R029: at least 128 bits. */
const CODE_BYTES = 32

export interface PasswordSubmission {
  /** From `findRequest`, on this very call. */
  readonly request: AwaitingPrimary
  readonly credentials: PasswordCredentials
  /** D-9: asked for in the login body, besides those of the authorization request. */
  readonly configTypes: readonly string[]
  readonly caller: Caller
}

/** The login is finished: the code, on its way to the client. */
export interface FinishedLogin {
  readonly identityId: IdentityId
  readonly answer: ClientAnswer
}

export type SubmitPassword = (submission: PasswordSubmission) => Promise<FinishedLogin>

export function createSubmitPassword(deps: {
  readonly password: PasswordFactor
  readonly vault: Vault
  readonly random: Random
  readonly clock: Clock
  readonly events: Pick<Events, 'insert'>
  readonly transaction: Transaction
  readonly recordEvent: RecordEvent
}): SubmitPassword {
  const { password, vault, random, clock, events, transaction, recordEvent } = deps

  return async ({ request, credentials, configTypes, caller }) => {
    const allConfigTypes = mergeConfigTypes(request.ask.configTypes, configTypes)
    if (allConfigTypes === undefined) {
      const field = { field: 'configTypes', reason: 'are too many' }
      throw new Failure('COULD_NOT_VALIDATE', { field })
    }

    const verdict = await password(credentials)
    if (verdict.verdict === 'rejected') {
      const { reason, identityId } = verdict
      const details = { method: 'password', username: credentials.username } as const
      await events.insert(
        recordEvent(caller, { type: 'login.failed', identityId, reason, details }),
      )
      throw new Failure('INVALID_AUTH', { detail: reason })
    }

    const { identity, authenticator } = verdict
    const now = clock.now()
    const code = base64url(random.bytes(CODE_BYTES))
    const next = acceptPrimary(
      request,
      { method: 'password', identityId: identity.id, authenticatorId: authenticator.id, at: now },
      { hash: vault.hash('authorization-code', code), expiresAt: plus(now, CODE_LIFE) },
      allConfigTypes,
    )
    const succeeded = recordEvent(caller, {
      type: 'login.succeeded',
      identityId: identity.id,
      details: { method: 'password', authenticatorId: authenticator.id },
    })
    const isFirst = await transaction(async (tx) => {
      const inserted = await tx.authRequests.insert(next)
      if (inserted) await tx.events.insert(succeeded)
      return inserted
    })
    // R028: of two right answers at the same moment one gets the code.
    if (!isFirst) throw startAgain('another answer to this auth request was faster')
    return { identityId: identity.id, answer: codeAnswer(request.ask, code) }
  }
}
