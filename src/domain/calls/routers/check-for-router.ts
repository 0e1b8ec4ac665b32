/** Whether a `zt-session` presented to an edge router is valid, the one thing a router cannot check by itself. D-42. */
import { Secret } from '../../../base/secrets/secret.ts'
import type { Instant } from '../../../base/time/instant.ts'
import { Failure } from '../../../errors/catalogue.ts'
import type { LoginProof } from '../../../protocol/policy-demands.ts'
import type { Identity } from '../../identities/identity.ts'
import type { CallSession } from '../../sessions/call-session.ts'
import { authenticateLegacySession, type LegacyCallPorts } from '../../sessions/legacy-sessions.ts'

export interface CheckedSession {
  readonly session: CallSession
  readonly identity: Pick<Identity, 'externalId' | 'roleAttributes' | 'roleVersion'>
  readonly authenticatedAt: Instant
  /** What its login proved, so that the router can compare it with policies that change (D-232). */
  readonly proof: LoginProof
}

/** Returns undefined for every invalid session, and for partial ones. */
export async function checkForRouter(
  ports: LegacyCallPorts,
  ztSession: string,
): Promise<CheckedSession | undefined> {
  try {
    const session = await authenticateLegacySession(ports, new Secret(ztSession), [], 'full')
    const identity = await ports.identities.find(session.identityId)
    const stored = await ports.apiSessions.find(session.sessionId)
    if (stored === undefined || identity === undefined) return undefined
    const { amr, primary } = stored
    const caId = primary.certificate?.trust?.caId
    const proof = { amr, signerId: primary.signerId, caId }
    return { session, identity, authenticatedAt: primary.at, proof }
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAUTHORIZED') return undefined
    throw error
  }
}
