/** GET and DELETE /current-api-session, on both APIs: the session that the call belongs to. API 3.1, 4.7; D-52. */
import type { Clock } from '../../../base/time/clock.ts'
import { type Instant, toRfc3339 } from '../../../base/time/instant.ts'
import {
  type CurrentApiSession,
  CurrentApiSessionReply,
} from '../../../contract/current-api-session.ts'
import { currentSession, logOut } from '../../../domain/sessions/current-session.ts'
import type { SessionPorts } from '../../../domain/sessions/ports.ts'
import type { SessionDetail } from '../../../domain/sessions/session-detail.ts'
import { secondsLeft } from '../../router.ts'
import { found, reference, selfLink } from '../answers.ts'
import type { Api } from '../api.ts'

export function addCurrentApiSession(api: Api, ports: SessionPorts): void {
  api.add(
    {
      method: 'GET',
      path: '/current-api-session',
      access: 'partial',
      summary: 'Read the session that the call belongs to',
      answers: { 200: CurrentApiSessionReply },
    },
    async ({ session: call }) =>
      found(sessionBody(await currentSession(ports, call), call.expiresAt, ports.clock)),
  )

  api.act(
    {
      method: 'DELETE',
      path: '/current-api-session',
      access: 'logout',
      summary: 'Log out',
      description: 'Ends the session with everything that belongs to it. Needs no second factor.',
    },
    ({ session, caller }) => logOut(ports, session, caller),
  )
}

export function sessionBody(
  { session, identity, authQueries, isMfaRequired, isMfaComplete }: SessionDetail,
  expiresAt: Instant,
  clock: Clock,
): CurrentApiSession {
  return {
    id: session.id,
    createdAt: toRfc3339(session.createdAt),
    updatedAt: toRfc3339(session.createdAt),
    tags: {},
    _links: selfLink('current-api-session'),
    kind: session.kind,
    identityId: identity.id,
    identity: reference('identities', identity),
    authenticatorId: session.primary.authenticatorId ?? null,
    clientId: session.kind === 'oidc' ? session.clientId : null,
    amr: [...session.amr],
    configTypes: [...session.configTypes],
    authQueries: [...authQueries],
    isMfaRequired,
    isMfaComplete,
    ipAddress: session.address,
    userAgent: session.userAgent ?? null,
    lastActivityAt: session.kind === 'legacy' ? toRfc3339(session.lastActivityAt) : null,
    expiresAt: toRfc3339(expiresAt),
    expirationSeconds: secondsLeft(expiresAt, clock),
  }
}
