/**
 * What callers may read about themselves: their session and their identity. The call is already authenticated; these
 * functions look up what the token does not carry.
 */
import type { Caller } from '../audit/events.ts'
import type { EnrolledPorts } from '../factors/second-factor.ts'
import type { Identity } from '../identities/identity.ts'
import { preferredUsername } from '../identities/preferred-username.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import { type CallSession, findCallSession, orSessionGone, sessionGone } from './call-session.ts'
import { endSession } from './ending/end-session.ts'
import type { SessionPorts } from './ports.ts'
import { describeSessions, type SessionDetail } from './session-detail.ts'

export async function currentSession(
  ports: EnrolledPorts & Pick<SessionPorts, 'brand' | 'apiSessions' | 'identities' | 'rules'>,
  call: CallSession,
): Promise<SessionDetail> {
  const [detail] = await describeSessions(ports, [await findCallSession(ports, ports, call)])
  return orSessionGone(ports, call, detail)
}

export interface IdentityDetail {
  readonly identity: Identity
  readonly policy: AuthPolicy
  readonly isMfaEnabled: boolean
}

export async function currentIdentity(
  ports: Pick<SessionPorts, 'brand' | 'identities' | 'rules'>,
  call: CallSession,
): Promise<IdentityDetail> {
  const found = await ports.identities.findWithFactors(call.identityId)
  const policy = found && ports.rules.policy(found.identity.authPolicyId)
  if (found === undefined || policy === undefined) throw sessionGone(ports.brand, call)
  return { ...found, policy }
}

/** OIDC Core §5.3, D-29. */
export async function userinfo(
  ports: Pick<SessionPorts, 'brand' | 'identities' | 'authenticators'>,
  call: CallSession,
): Promise<{ readonly identity: Identity; readonly username: string }> {
  const identity = orSessionGone(ports, call, await ports.identities.find(call.identityId))
  return { identity, username: await preferredUsername(identity, ports.authenticators) }
}

/** D-52: ends the session of the call, for both kinds. */
export function logOut(
  ports: Parameters<typeof endSession>[0],
  { sessionId, identityId }: CallSession,
  caller: Caller,
): Promise<void> {
  return endSession(ports, { sessionId, identityId, reason: 'logout', caller })
}
