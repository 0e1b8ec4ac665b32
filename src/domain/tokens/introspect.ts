/**
 * POST /oidc/introspect: RFC 7662, D-31. For administrators and routers; what is not active says nothing else.
 */

import type { ApiSessionId, IdentityId } from '../../base/ids.ts'
import type { Secret } from '../../base/secrets/secret.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Instant } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import type { Identities } from '../identities/stores.ts'
import type { CheckFinished } from '../login/again/check-finished.ts'
import type { Rules } from '../policies/rules.ts'
import type { CallSession } from '../sessions/call-session.ts'
import type { EndedSessions } from '../sessions/ending/ended-sessions.ts'
import { createJudgeToken } from '../sessions/judge-token.ts'
import type { ApiSessions } from '../sessions/stores.ts'
import type { AccessToken } from './access-token.ts'
import type { OwnTokens } from './own-token.ts'
import { refreshTokenHash } from './refresh-token.ts'
import type { RefreshTokens } from './stores.ts'

export type Introspection =
  | { readonly isActive: false }
  | {
      readonly isActive: true
      readonly kind: 'access' | 'refresh'
      readonly identityId: IdentityId
      readonly sessionId: ApiSessionId
      readonly clientId: string
      readonly issuer: string
      readonly scope: string
      readonly issuedAt: Instant
      readonly expiresAt: Instant
      /** RFC 8705 §3.1, for an access token. */
      readonly boundTo?: string | undefined
    }

/** Thrown: FORBIDDEN when the caller is neither administrator nor router. */
export type Introspect = (token: Secret, asker: CallSession) => Promise<Introspection>

export function createIntrospect(deps: {
  readonly vault: Vault
  readonly clock: Clock
  readonly identities: Pick<Identities, 'find'>
  readonly refreshTokens: Pick<RefreshTokens, 'find'>
  readonly apiSessions: Pick<ApiSessions, 'find'>
  readonly ownTokens: Pick<OwnTokens, 'readAccessToken'>
  readonly endedSessions: Pick<EndedSessions, 'has'>
  readonly rules: Pick<Rules, 'demands'>
  readonly checkFinished: CheckFinished
}): Introspect {
  const { vault, clock, identities, refreshTokens, apiSessions, ownTokens } = deps
  const judgeToken = createJudgeToken(deps)

  return async (token, asker) => {
    const isRouter = async () => (await identities.find(asker.identityId))?.type === 'Router'
    if (!asker.isAdmin && !(await isRouter())) throw new Failure('FORBIDDEN')
    const access = await ownTokens.readAccessToken(token)
    if (access !== undefined) {
      return isGood(access) ? { isActive: true, kind: 'access', ...access } : { isActive: false }
    }
    return readRefreshToken(token)
  }

  /**
   * Judges the token as a call with nothing but the token would be judged (D-232): if the policy demands an external
   * JWT with every request, the token alone is not active. The caller compares the certificate that it is bound to (RFC
   * 8705 §3.2).
   */
  function isGood(token: AccessToken): boolean {
    if (judgeToken.ended(token) !== undefined || judgeToken.unmet(token) !== undefined) return false
    return deps.rules.demands(token.authPolicyId)?.requireExtJwt === null
  }

  async function readRefreshToken(token: Secret): Promise<Introspection> {
    const found = await refreshTokens.find(refreshTokenHash(vault, token))
    const isGood = found !== undefined && found.spent === undefined && found.expiresAt > clock.now()
    const session = isGood ? await apiSessions.find(found.sessionId) : undefined
    if (!isGood || session?.kind !== 'oidc') return { isActive: false }
    // What a refresh would ask (D-27).
    const owner = await deps.checkFinished(session, 'session')
    if ('refusal' in owner) return { isActive: false }
    const { identityId, id: sessionId, clientId, issuer, scopes } = session
    const { issuedAt, expiresAt } = found
    const scope = scopes.join(' ')
    const names = { identityId, sessionId, clientId, issuer, scope }
    return { isActive: true, kind: 'refresh', ...names, issuedAt, expiresAt }
  }
}
