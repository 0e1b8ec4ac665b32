/** What an API call knows about its caller, whichever credential it came with. SPEC Access token; D-34, D-36. */
import type { ApiSessionId, AuthPolicyId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { bearerInvalid, ztSessionInvalid } from '../../protocol/challenge.ts'

export interface CallSession {
  readonly kind: 'oidc' | 'legacy'
  readonly sessionId: ApiSessionId
  readonly identityId: IdentityId
  readonly isAdmin: boolean
  readonly authPolicyId: AuthPolicyId
  readonly configTypes: readonly string[]
  /** When the token, or the idle session, ends (D-39, D-53). */
  readonly expiresAt: Instant
  /** What anything but the completion of its login is answered; undefined when nothing is outstanding (D-51). */
  readonly isPartial: Failure | undefined
}

/**
 * How much of its login a call must have behind it: all of it; or less, to complete a legacy login (D-51); or nothing
 * but the primary factor, to log out (D-52).
 */
export type CallNeeds = 'full' | 'partial' | 'logout'

/** The store knows more than the copy in memory did a moment ago: the session has just ended (D-35). */
export function sessionGone(brand: string, { kind }: Pick<CallSession, 'kind'>): Failure {
  return new Failure('UNAUTHORIZED', {
    challenges: [kind === 'oidc' ? bearerInvalid(brand) : ztSessionInvalid()],
    detail: 'the session or its identity is gone',
  })
}
