/** GET and DELETE /current-api-session, on both APIs: the session that the call belongs to. API 3.1, 4.7; D-52. */
import type { Clock } from '../../../base/time/clock.ts'
import { type Instant, toRfc3339 } from '../../../base/time/instant.ts'
import type { CurrentApiSession } from '../../../contract/current-api-session.ts'
import { authenticatorOf } from '../../../domain/sessions/api-session.ts'
import type { CurrentSession, LogOut } from '../../../domain/sessions/current-session.ts'
import type { SessionDetail } from '../../../domain/sessions/session-detail.ts'
import { json } from '../../answer.ts'
import { type Router, secondsLeft } from '../../route.ts'
import { reference, selfLink } from '../links.ts'
import { API_ROUTE } from '../route-defaults.ts'

export function addCurrentApiSession(
  router: Router,
  prefix: string,
  use: { readonly currentSession: CurrentSession; readonly logOut: LogOut; readonly clock: Clock },
): void {
  const url = `${prefix}/current-api-session`
  router.add(
    { ...API_ROUTE, access: 'partial', method: 'GET', url, replies: [200, 401] },
    async ({ session: call }) => {
      const detail = await use.currentSession(call)
      return json(200, { data: sessionBody(detail, call.expiresAt, use.clock), meta: {} })
    },
  )

  router.add(
    { ...API_ROUTE, access: 'logout', method: 'DELETE', url, replies: [200, 401] },
    async ({ session, caller }) => {
      await use.logOut(session, caller)
      return json(200, { data: {}, meta: {} })
    },
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
    authenticatorId: authenticatorOf(session) ?? null,
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
