/**
 * Which routes an API binding brings. SPEC Authentication 8: what a listener does not bind does not exist there.
 */
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import type { Version } from '../contract/version.ts'
import type { ManageSessionCertificates } from '../domain/certificates/session/issue.ts'
import type { EnrollInLogin } from '../domain/login/enroll-totp.ts'
import type { FindRequest } from '../domain/login/find-request.ts'
import type { QueriesOf } from '../domain/login/outstanding-queries.ts'
import type { StartLogin } from '../domain/login/start.ts'
import type { SubmitPrimary } from '../domain/login/submit-primary.ts'
import type { SubmitTotp } from '../domain/login/submit-totp.ts'
import type { Rules } from '../domain/policies/rules.ts'
import type { AuthenticateLegacy } from '../domain/sessions/authenticate-legacy.ts'
import type { AuthenticateRouter } from '../domain/sessions/authenticate-router.ts'
import type { CheckForRouter } from '../domain/sessions/check-for-router.ts'
import type {
  CurrentIdentityOf,
  CurrentSession,
  LogOut,
  UserinfoOf,
} from '../domain/sessions/current-session.ts'
import type { EndByHint } from '../domain/sessions/end-by-hint.ts'
import type { OpenRouterFeed } from '../domain/sessions/router-feed.ts'
import type { SessionMfa } from '../domain/sessions/session-mfa.ts'
import type { ExchangeCode } from '../domain/tokens/exchange-code.ts'
import type { Introspect } from '../domain/tokens/introspect.ts'
import type { RefreshTokensOf } from '../domain/tokens/refresh.ts'
import type { RevokeToken } from '../domain/tokens/revoke.ts'
import type { SigningKeys } from '../domain/tokens/signing-keys.ts'
import type { RedirectPattern } from '../protocol/redirect-uri.ts'
import { addAuthenticate } from './edge-api/authenticate.ts'
import { addCurrentApiSession } from './edge-api/current-api-session.ts'
import { addCurrentIdentity } from './edge-api/current-identity.ts'
import { addCurrentIdentityMfa } from './edge-api/current-identity-mfa.ts'
import { addExternalJwtSigners } from './edge-api/external-jwt-signers.ts'
import { API_PREFIXES } from './edge-api/paths.ts'
import { addRouterChecks } from './edge-api/router-checks.ts'
import { addRouterFeed } from './edge-api/router-feed.ts'
import { addSessionCertificates } from './edge-api/session-certificates.ts'
import { addVersion } from './edge-api/version.ts'
import type { ListenerAddresses } from './issuers.ts'
import { addManagementApi, type Management } from './management-api/management.ts'
import { addAuthorization } from './oidc/authorization.ts'
import { addDiscovery } from './oidc/discovery.ts'
import { addEndSession } from './oidc/end-session.ts'
import { addIntrospect } from './oidc/introspect.ts'
import { addKeys } from './oidc/keys.ts'
import { addLoginCert } from './oidc/login-cert.ts'
import { addLoginExtJwt } from './oidc/login-ext-jwt.ts'
import { addLoginTotp } from './oidc/login-totp.ts'
import { addLoginUsername } from './oidc/login-username.ts'
import { addRevoke } from './oidc/revoke.ts'
import { addToken } from './oidc/token.ts'
import { addTotpEnroll } from './oidc/totp-enroll.ts'
import { addUserinfo } from './oidc/userinfo.ts'
import type { Router } from './route.ts'

export interface UseCases {
  readonly startLogin: StartLogin
  readonly findRequest: FindRequest
  readonly submitPrimary: SubmitPrimary
  readonly submitTotp: SubmitTotp
  readonly enrollInLogin: EnrollInLogin
  readonly queriesOf: QueriesOf
  readonly rules: Pick<Rules, 'signers'>
  readonly exchangeCode: ExchangeCode
  readonly refresh: RefreshTokensOf
  readonly revokeToken: RevokeToken
  readonly introspect: Introspect
  readonly endByHint: EndByHint
  readonly userinfo: UserinfoOf
  readonly signingKeys: Pick<SigningKeys, 'keySet' | 'algorithms'>
  readonly authenticateLegacy: AuthenticateLegacy
  readonly sessionMfa: SessionMfa
  readonly sessionCertificates: ManageSessionCertificates
  readonly currentSession: CurrentSession
  readonly logOut: LogOut
  readonly currentIdentity: CurrentIdentityOf
  readonly openRouterFeed: OpenRouterFeed
  readonly authenticateRouter: AuthenticateRouter
  readonly checkForRouter: CheckForRouter
  readonly management: Management
}

export type BoundApi =
  | { readonly binding: 'edge-client' | 'edge-management' }
  | {
      readonly binding: 'edge-oidc'
      readonly redirectPatterns: readonly RedirectPattern[]
      readonly postLogoutPatterns: readonly RedirectPattern[]
    }

export function addBoundApis(
  router: Router,
  apis: readonly BoundApi[],
  given: UseCases & {
    readonly brand: string
    readonly corsOrigins: readonly string[]
    readonly clock: Clock
    /** D-19: the configured one; undefined: the host of the bind point. */
    readonly totpHostname: string | undefined
    /** Known once the listener listens. */
    readonly addresses: () => ListenerAddresses
    readonly version: () => Version
    /** Aborted when the service stops. */
    readonly stopping: AbortSignal
  },
): void {
  const { addresses } = given
  const totpHostname = (request: FastifyRequest) =>
    given.totpHostname ?? addresses().hostnameOf(request)
  const use = { ...given, totpHostname }
  addVersion(router, '', use)
  for (const api of apis) {
    if (api.binding === 'edge-oidc') {
      const provider = atBindPoints(router, use.addresses)
      addDiscovery(provider, use)
      addAuthorization(provider, { ...use, allowedRedirects: api.redirectPatterns })
      addLoginUsername(provider, use)
      addLoginCert(provider, use)
      addLoginExtJwt(provider, use)
      addLoginTotp(provider, use)
      addTotpEnroll(provider, use)
      addToken(provider, use)
      addUserinfo(provider, use)
      addEndSession(provider, { ...use, allowedRedirects: api.postLogoutPatterns })
      addRevoke(provider, use)
      addIntrospect(provider, use)
      addKeys(provider, use)
    } else {
      const prefix = API_PREFIXES[api.binding]
      addVersion(router, prefix, use)
      addAuthenticate(router, prefix, use)
      addCurrentApiSession(router, prefix, use)
      addCurrentIdentity(router, prefix, use)
      addCurrentIdentityMfa(router, prefix, use)
      if (api.binding === 'edge-client') {
        addExternalJwtSigners(router, prefix, use)
        addSessionCertificates(router, prefix, use)
        addRouterFeed(router, prefix, use)
        addRouterChecks(router, prefix, use)
      } else addManagementApi(router, prefix, { ...use.management, clock: use.clock })
    }
  }
}

/** D-2: the provider answers at its bind points alone, also where an answer does not name the issuer. */
function atBindPoints(router: Router, addresses: () => ListenerAddresses): Router {
  return {
    ...router,
    add: (route, handler) =>
      router.add(route, (call) => {
        addresses().baseUrlOf(call.request)
        return handler(call)
      }),
  }
}
