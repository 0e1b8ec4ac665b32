/**
 * POST /oidc/introspect: RFC 7662, D-31. For administrators and routers; the response for an inactive token says
 * nothing else.
 */

import type { Secret } from '../../base/secrets/secret.ts'
import { Failure } from '../../errors/catalogue.ts'
import { refreshTokenHash } from '../factors/refresh-token.ts'
import { checkFinished } from '../login/again/check-finished.ts'
import type { CallSession } from '../sessions/call-session.ts'
import type { AccessToken } from './access-token.ts'
import { tokenEnd, unmetDemandOf } from './judge-token.ts'
import { readOwnAccessToken } from './own-token.ts'
import type { TokenPorts } from './ports.ts'

export type Introspection =
  | { readonly isActive: false }
  | ({ readonly isActive: true; readonly kind: 'access' | 'refresh' } & Told)

/**
 * Only an access token has `amr` and `authenticatedAt` (RFC 9470 §6.2) and `boundTo` (RFC 8705 §3.1); a refresh token can
 * have a `boundKey`, too (RFC 9449 §6.2).
 */
type Told = Pick<
  AccessToken,
  'identityId' | 'sessionId' | 'clientId' | 'issuer' | 'scope' | 'issuedAt' | 'expiresAt'
> &
  Partial<Pick<AccessToken, 'amr' | 'authenticatedAt' | 'boundTo' | 'boundKey'>>

type IntrospectPorts = Pick<
  TokenPorts,
  | 'vault'
  | 'clock'
  | 'identities'
  | 'authenticators'
  | 'passkeys'
  | 'refreshTokens'
  | 'apiSessions'
  | 'rules'
  | 'endedSessions'
  | 'audience'
  | 'issuers'
  | 'signingKeys'
>

/** Throws FORBIDDEN if the caller is neither an administrator nor a router. */
export async function introspect(
  ports: IntrospectPorts,
  token: Secret,
  asker: CallSession,
): Promise<Introspection> {
  const isRouter = async () => (await ports.identities.find(asker.identityId))?.type === 'Router'
  if (!asker.isAdmin && !(await isRouter())) throw new Failure('FORBIDDEN')
  const access = await readOwnAccessToken(ports, token)
  if (access !== undefined) {
    const isActive = isGood(ports, access)
    return isActive ? { isActive: true, kind: 'access', ...access } : { isActive: false }
  }
  return readRefreshToken(ports, token)
}

/**
 * Judges the token as a call with nothing but the token would be judged (D-232): if the policy demands an external
 * JWT with every request, the token alone is not active. The caller compares the certificate that it is bound to (RFC
 * 8705 §3.2), and checks the proof of the key (RFC 9449 §6.2).
 */
function isGood(ports: IntrospectPorts, token: AccessToken): boolean {
  if (tokenEnd(ports, token) !== undefined || unmetDemandOf(ports, token) !== undefined)
    return false
  return ports.rules.demands(token.authPolicyId)?.requireExtJwt === null
}

async function readRefreshToken(ports: IntrospectPorts, token: Secret): Promise<Introspection> {
  const found = await ports.refreshTokens.find(refreshTokenHash(ports.vault, token))
  const isGood =
    found !== undefined && found.spent === undefined && found.expiresAt > ports.clock.now()
  const session = isGood ? await ports.apiSessions.find(found.sessionId) : undefined
  if (!isGood || session?.kind !== 'oidc') return { isActive: false }
  // The same check as for a refresh (D-27).
  const owner = await checkFinished(ports, session, 'session')
  if ('refusal' in owner) return { isActive: false }
  const { identityId, id: sessionId, clientId, issuer, scopes, boundKey } = session
  const { issuedAt, expiresAt } = found
  const scope = scopes.join(' ')
  const names = { identityId, sessionId, clientId, issuer, scope, boundKey }
  return { isActive: true, kind: 'refresh', ...names, issuedAt, expiresAt }
}
