/**
 * Saves every successful login step, with the code if nothing is outstanding. What the step spends (a time step, a
 * recovery code) is spent in the same transaction, or not at all.
 */

import { base64url } from '../../base/encoding.ts'
import { type ApiSessionId, type IdentityId, newId } from '../../base/ids.ts'
import { type Duration, seconds } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import type { Caller } from '../audit/events.ts'
import type { AuditPorts } from '../audit/ports.ts'
import { recordEvent } from '../audit/record.ts'
import type { Stores } from '../stores.ts'
import { amrOf } from './amr.ts'
import { type Demands, outstandingQueries, secondaryJwtUnmet, unprovenSigner } from './demands.ts'
import type { LoginPorts } from './ports.ts'
import {
  type AuthRequest,
  type CodeIssued,
  issueCode,
  type PartiallyAuthenticated,
} from './request/auth-request.ts'
import { type ClientAnswer, codeAnswer } from './request/client-answer.ts'
import { overtaken, startAgain } from './request/find-request.ts'

/** D-7: a code lives 60 seconds. */
export const CODE_LIFE: Duration = seconds(60)

/** R029: at least 128 bits. */
const CODE_BYTES = 32

/** The state of a login after a successful step. */
export type LoginStep = (
  | {
      readonly next: 'more-factors'
      readonly identityId: IdentityId
      readonly authQueries: readonly AuthQuery[]
    }
  /** The login is finished: the code for the client. */
  | { readonly next: 'answer'; readonly identityId: IdentityId; readonly answer: ClientAnswer }
) & {
  /** After a password: the cookie that marks the device as known (D-216). */
  readonly device?: string
}

export interface Finished {
  /** The request before this step. */
  readonly previous: AuthRequest
  readonly next: PartiallyAuthenticated | CodeIssued
  /** What the policy and enrollment of the identity demand now; it may have changed since the previous step. */
  readonly demands: Demands
  /** The step verified an enrollment (D-20). */
  readonly byEnrollment?: boolean
  readonly caller: Caller
  /** Spends or writes what belongs to the step. Returns false if another call was faster; then nothing is written. */
  readonly take?: ((tx: Stores) => Promise<boolean>) | undefined
}

export type FinishOutcome = LoginStep | 'taken'

/**
 * Saves the step. Returns `taken` if `take` returned false. Throws INVALID_AUTH_REQUEST if another step was faster
 * (R028). Throws UNAUTHORIZED if the policy now demands an external JWT that was not presented: what was proven is
 * saved, and the client repeats the primary login with the JWT (D-13, D-14).
 */
export async function finishStep(
  ports: Pick<LoginPorts, keyof AuditPorts | 'brand' | 'vault' | 'transaction'>,
  { previous, next, demands, byEnrollment = false, caller, take }: Finished,
): Promise<FinishOutcome> {
  const { brand, vault, random, clock } = ports
  const { identityId } = next.primary
  const unproven = unprovenSigner(demands, next.secondary)
  if (unproven !== undefined && next.state === 'code-issued') {
    throw startAgain('the policy demands more than was proven')
  }
  const outstanding = outstandingQueries(demands, next.secondary, { brand, where: 'oidc' })
  const code = base64url(random.bytes(CODE_BYTES))
  const freshCode = {
    hash: vault.hash('authorization-code', code),
    expiresAt: plus(clock.now(), CODE_LIFE),
    sessionId: newId<ApiSessionId>(random),
  }
  const isDone = unproven === undefined && outstanding.length === 0
  const saved = isDone ? issueCode(next, freshCode, { byEnrollment }) : next
  const succeeded = recordEvent(ports, caller, {
    type: 'login.succeeded',
    identityId,
    sessionId: freshCode.sessionId,
    details: {
      method: next.primary.method,
      authenticatorId: next.primary.authenticatorId,
      amr: amrOf(next.primary, next.secondary),
      ...reusedIn(next),
    },
  })
  try {
    await ports.transaction(async (tx) => {
      if (take !== undefined && !(await take(tx))) throw new NotSaved('taken')
      if (!(await save(tx, previous, saved))) throw new NotSaved('late')
      if (isDone) await tx.events.insert(succeeded)
    })
  } catch (error) {
    if (!(error instanceof NotSaved)) throw error
    if (error.reason === 'taken') return 'taken'
    throw overtaken(vault, next)
  }
  if (unproven !== undefined) throw secondaryJwtUnmet(brand, unproven, 'missing', outstanding)
  return isDone
    ? { next: 'answer', identityId, answer: codeAnswer(next.ask, code) }
    : { next: 'more-factors', identityId, authQueries: outstanding }
}

/** For the audit event: the session whose proof was reused, and the host that the user returns to (D-345). */
function reusedIn({ reusedSession, ask }: PartiallyAuthenticated | CodeIssued) {
  if (reusedSession === undefined) return {}
  const url = URL.parse(ask.redirectUri)
  const isSite = url !== null && url.host !== ''
  return {
    reusedSession,
    application: isSite ? url.host : (ask.redirectUri.split(':', 1)[0] ?? ''),
  }
}

/** A step that came too late must not spend what it took: this rolls the transaction back. */
class NotSaved extends Error {
  readonly reason: 'late' | 'taken'
  constructor(reason: 'late' | 'taken') {
    super(reason)
    this.reason = reason
  }
}

function save(
  tx: Stores,
  previous: AuthRequest,
  next: PartiallyAuthenticated | CodeIssued,
): Promise<boolean> {
  if (previous.state === 'awaiting-primary') return tx.authRequests.insert(next)
  if (previous.state === 'ended' || previous.state === 'tokens-issued')
    return Promise.resolve(false)
  return tx.authRequests.replace(previous.revision, next)
}
