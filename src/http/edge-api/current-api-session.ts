/** GET /current-api-session, on both APIs: the session that the token belongs to. API 3.1, 4.7. */
import type { Clock } from '../../base/clock.ts'
import { toRfc3339 } from '../../base/instant.ts'
import type { CurrentApiSession } from '../../contract/current-api-session.ts'
import type { CurrentSession } from '../../domain/sessions/current-session.ts'
import { json } from '../answer.ts'
import type { Router } from '../route.ts'
import { reference, selfLink } from './links.ts'
import { API_ROUTE } from './route-defaults.ts'

export function addCurrentApiSession(
  router: Router,
  prefix: string,
  use: { readonly currentSession: CurrentSession; readonly clock: Clock },
): void {
  router.add(
    { ...API_ROUTE, method: 'GET', url: `${prefix}/current-api-session`, replies: [200, 401] },
    async ({ session: call }) => {
      const { session, identity } = await use.currentSession(call)
      const data: CurrentApiSession = {
        id: session.id,
        createdAt: toRfc3339(session.createdAt),
        updatedAt: toRfc3339(session.createdAt),
        tags: {},
        _links: selfLink('current-api-session'),
        kind: session.kind,
        identityId: identity.id,
        identity: reference('identities', identity),
        authenticatorId: session.authenticatorId,
        clientId: session.clientId,
        amr: [...session.amr],
        configTypes: [...session.configTypes],
        ipAddress: session.address,
        userAgent: session.userAgent ?? null,
        expiresAt: toRfc3339(call.expiresAt),
        expirationSeconds: Math.max(0, Math.floor((call.expiresAt - use.clock.now()) / 1_000)),
      }
      return json(200, { data, meta: {} })
    },
  )
}
