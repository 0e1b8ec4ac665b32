/**
 * What a caller may read about himself: his session and his identity. The call is authenticated already; these
 * look up what the token does not carry.
 */
import type { Caller } from '../audit/events.ts'
import type { TotpEnrollments } from '../factors/stores.ts'
import type { Identity } from '../identities/identity.ts'
import { preferredUsername } from '../identities/preferred-username.ts'
import type { Authenticators, Identities } from '../identities/stores.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { Rules } from '../policies/rules.ts'
import { type CallSession, sessionGone } from './call-session.ts'
import type { EndSession } from './ending/end-session.ts'
import type { DescribeSessions, SessionDetail } from './session-detail.ts'
import type { ApiSessions } from './stores.ts'

export type CurrentSession = (call: CallSession) => Promise<SessionDetail>

export interface IdentityDetail {
  readonly identity: Identity
  readonly policy: AuthPolicy
  readonly isMfaEnabled: boolean
}

export type CurrentIdentityOf = (call: CallSession) => Promise<IdentityDetail>

/** OIDC Core §5.3, D-29. */
export type UserinfoOf = (
  call: CallSession,
) => Promise<{ readonly identity: Identity; readonly username: string }>

/** D-52: ends the session of the call, for both kinds. */
export type LogOut = (call: CallSession, caller: Caller) => Promise<void>

interface Dependencies {
  readonly brand: string
  readonly identities: Pick<Identities, 'find'>
  readonly totpEnrollments: Pick<TotpEnrollments, 'find'>
  readonly rules: Pick<Rules, 'policy'>
}

export function createCurrentSession(deps: {
  readonly brand: string
  readonly apiSessions: Pick<ApiSessions, 'find'>
  readonly describeSessions: DescribeSessions
}): CurrentSession {
  return async (call) => {
    const session = await deps.apiSessions.find(call.sessionId)
    const [detail] = session === undefined ? [] : await deps.describeSessions([session])
    if (detail === undefined) throw sessionGone(deps.brand, call)
    return detail
  }
}

export function createCurrentIdentity(deps: Dependencies): CurrentIdentityOf {
  return async (call) => {
    const identity = await deps.identities.find(call.identityId)
    const policy = identity && deps.rules.policy(identity.authPolicyId)
    if (identity === undefined || policy === undefined) throw sessionGone(deps.brand, call)
    const enrollment = await deps.totpEnrollments.find(identity.id)
    return { identity, policy, isMfaEnabled: enrollment?.isVerified === true }
  }
}

export function createUserinfo(
  deps: Pick<Dependencies, 'brand' | 'identities'> & {
    readonly authenticators: Pick<Authenticators, 'listOf'>
  },
): UserinfoOf {
  return async (call) => {
    const identity = await deps.identities.find(call.identityId)
    if (identity === undefined) throw sessionGone(deps.brand, call)
    return { identity, username: await preferredUsername(identity, deps.authenticators) }
  }
}

export function createLogOut(deps: { readonly endSession: EndSession }): LogOut {
  return ({ sessionId, identityId }, caller) =>
    deps.endSession({ sessionId, identityId, reason: 'logout', caller })
}
