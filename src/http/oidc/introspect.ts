/** POST /oidc/introspect: RFC 7662, D-31. The caller sends the bearer token of an administrator or a router. */

import { Secret } from '../../base/secrets/secret.ts'
import { epochSeconds } from '../../base/time/instant.ts'
import { type Introspection, introspect } from '../../domain/tokens/introspect.ts'
import type { TokenPorts } from '../../domain/tokens/ports.ts'
import { Failure } from '../../errors/catalogue.ts'
import { acrOf } from '../../protocol/factors/acr.ts'
import { json } from '../answer.ts'
import type { Router } from '../router.ts'
import { PATHS } from './paths.ts'
import { required, singleFields } from './token.ts'

export function addIntrospect(router: Router, ports: TokenPorts): void {
  router.add(
    {
      method: 'POST',
      url: PATHS.introspect,
      access: 'session',
      face: { json: 'oauth', pages: false },
      reads: ['form'],
      replies: [200, 401, 403],
    },
    async ({ body, session }) => {
      // D-31: only a bearer token is accepted.
      if (session.kind !== 'oidc') throw new Failure('UNAUTHORIZED')
      const token = new Secret(required(singleFields(body), 'token'))
      return json(200, introspectionBody(await introspect(ports, token, session)))
    },
  )
}

function introspectionBody(found: Introspection): object {
  if (!found.isActive) return { active: false }
  return {
    active: true,
    token_type: tokenType(found),
    sub: found.identityId,
    sid: found.sessionId,
    client_id: found.clientId,
    iss: found.issuer,
    scope: found.scope,
    iat: epochSeconds(found.issuedAt),
    exp: epochSeconds(found.expiresAt),
    ...authenticationOf(found),
    // RFC 8705 §3.2: the caller compares this with the certificate of the connection. RFC 9449 §6.2: and checks the proof.
    ...confirmation(found),
  }
}

type Active = Extract<Introspection, { isActive: true }>

function tokenType({ kind, boundKey }: Active): string {
  if (kind === 'refresh') return 'refresh_token'
  return boundKey === undefined ? 'Bearer' : 'DPoP'
}

function confirmation({ boundTo, boundKey }: Active): object {
  if (boundTo === undefined && boundKey === undefined) return {}
  return {
    cnf: {
      ...(boundTo === undefined ? {} : { 'x5t#S256': boundTo }),
      ...(boundKey === undefined ? {} : { jkt: boundKey }),
    },
  }
}

/** RFC 9470 §6.2: what a resource needs to ask for another authentication. */
function authenticationOf({ amr, authenticatedAt }: Active): object {
  if (amr === undefined || authenticatedAt === undefined) return {}
  return { amr, acr: acrOf(amr), auth_time: epochSeconds(authenticatedAt) }
}
