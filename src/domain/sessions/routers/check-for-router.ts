/** Whether a `zt-session` that came to an edge router is good: the one thing that a router cannot know by itself. D-42. */
import { Secret } from '../../../base/secrets/secret.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { LoginProof } from '../../../protocol/policy-demands.ts'
import type { Identities } from '../../identities/stores.ts'
import type { CallSession } from '../call-session.ts'
import type { LegacySessions } from '../legacy-sessions.ts'
import type { ApiSessions } from '../stores.ts'

export interface CheckedSession {
  readonly session: CallSession
  readonly externalId: string | undefined
  /** What its login proved, so that the router can compare it with policies that change (D-232). */
  readonly proof: LoginProof
}

/** Undefined for every session that is not good, partial ones included. */
export type CheckForRouter = (ztSession: string) => Promise<CheckedSession | undefined>

export function createCheckForRouter(deps: {
  readonly legacySessions: Pick<LegacySessions, 'authenticate'>
  readonly identities: Pick<Identities, 'find'>
  readonly apiSessions: Pick<ApiSessions, 'find'>
}): CheckForRouter {
  return async (ztSession) => {
    try {
      const session = await deps.legacySessions.authenticate(new Secret(ztSession), [], 'full')
      const identity = await deps.identities.find(session.identityId)
      const stored = await deps.apiSessions.find(session.sessionId)
      if (stored === undefined) return undefined
      const { amr, primary } = stored
      const caId = primary.certificate?.trust?.caId
      const proof = { amr, signerId: primary.signerId, caId }
      return { session, externalId: identity?.externalId, proof }
    } catch (error) {
      if (error instanceof Failure && error.code === 'UNAUTHORIZED') return undefined
      throw error
    }
  }
}
