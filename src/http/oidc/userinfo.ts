/** GET and POST /oidc/userinfo: returns the claims of the user an access token belongs to. D-29; OIDC Core §5.3. */
import { userinfo } from '../../domain/sessions/current-session.ts'
import type { SessionPorts } from '../../domain/sessions/ports.ts'
import { Failure } from '../../errors/catalogue.ts'
import { json } from '../answer.ts'
import type { Route } from '../route.ts'
import type { Router } from '../router.ts'
import { PATHS } from './paths.ts'

const ROUTE = {
  url: PATHS.userinfo,
  access: 'session',
  face: { json: 'oauth', pages: false },
  cors: 'listed',
  replies: [200, 401],
} as const satisfies Partial<Route>

export function addUserinfo(router: Router, ports: SessionPorts): void {
  for (const method of ['GET', 'POST'] as const) {
    // OIDC Core §5.3.1: a POST may be a form; its content is ignored.
    const reads = method === 'POST' ? (['form'] as const) : []
    router.add({ ...ROUTE, method, reads }, async ({ session }) => {
      // D-29: only a bearer access token. A legacy session has no scopes to select claims with.
      if (session.kind !== 'oidc') throw new Failure('UNAUTHORIZED')
      const { identity, username } = await userinfo(ports, session)
      const { externalId } = identity
      return json(200, {
        sub: identity.id,
        name: identity.name,
        preferred_username: username,
        ...(externalId === undefined ? {} : { external_id: externalId }),
        is_admin: identity.isAdmin,
      })
    })
  }
}
