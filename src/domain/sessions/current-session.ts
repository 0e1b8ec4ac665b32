/**
 * What a caller may read about himself: his session and his identity. The call is authenticated already; these
 * look up what the token does not carry.
 */
import { Failure } from '../../errors/catalogue.ts'
import { bearerInvalid } from '../../protocol/challenge.ts'
import type { Identity } from '../identities/identity.ts'
import type { Identities } from '../identities/stores.ts'
import type { AuthPolicy } from '../policies/auth-policy.ts'
import type { AuthPolicies } from '../policies/stores.ts'
import type { CallSession } from '../tokens/access-token.ts'
import type { ApiSession } from './api-session.ts'
import type { ApiSessions } from './stores.ts'

export type CurrentSession = (
  call: CallSession,
) => Promise<{ readonly session: ApiSession; readonly identity: Identity }>

export type CurrentIdentityOf = (
  call: CallSession,
) => Promise<{ readonly identity: Identity; readonly policy: AuthPolicy }>

interface Dependencies {
  readonly brand: string
  readonly apiSessions: Pick<ApiSessions, 'find'>
  readonly identities: Pick<Identities, 'find'>
  readonly authPolicies: Pick<AuthPolicies, 'find'>
}

export function createCurrentSession(deps: Omit<Dependencies, 'authPolicies'>): CurrentSession {
  return async ({ sessionId, identityId }) => {
    const session = await deps.apiSessions.find(sessionId)
    const identity = await deps.identities.find(identityId)
    if (session === undefined || identity === undefined) throw gone(deps.brand)
    return { session, identity }
  }
}

export function createCurrentIdentity(deps: Omit<Dependencies, 'apiSessions'>): CurrentIdentityOf {
  return async ({ identityId }) => {
    const identity = await deps.identities.find(identityId)
    const policy = identity && (await deps.authPolicies.find(identity.authPolicyId))
    if (identity === undefined || policy === undefined) throw gone(deps.brand)
    return { identity, policy }
  }
}

/** The store knows more than the copy in memory did a moment ago: the session has just ended (D-35). */
function gone(brand: string): Failure {
  return new Failure('UNAUTHORIZED', {
    challenges: [bearerInvalid(brand)],
    detail: 'the session or its identity is gone',
  })
}
