/**
 * Which routes an API binding brings. SPEC Authentication 8: what a listener does not bind does not exist there.
 */
import type { Clock } from '../base/time/clock.ts'
import type { Version } from '../contract/version.ts'
import type { AccountLogin } from '../domain/account/login.ts'
import type { OwnAuthenticators } from '../domain/account/own-authenticators.ts'
import type { AccountSessions } from '../domain/account/session.ts'
import type { AuthenticateRouter } from '../domain/calls/routers/authenticate-router.ts'
import type { CheckForRouter } from '../domain/calls/routers/check-for-router.ts'
import type { OpenRouterFeed } from '../domain/calls/routers/router-feed.ts'
import type { CheckHealth } from '../domain/health/check-health.ts'
import type { EnrollInLogin } from '../domain/login/enroll-totp.ts'
import type { ComeBack } from '../domain/login/external/come-back.ts'
import type { KeepPrimary } from '../domain/login/external/kept-primary.ts'
import type { SendAway } from '../domain/login/external/send-away.ts'
import type { QueriesOf } from '../domain/login/outstanding-queries.ts'
import type { FindRequest } from '../domain/login/request/find-request.ts'
import type { StartLogin } from '../domain/login/start.ts'
import type { SubmitPrimary } from '../domain/login/submit-primary.ts'
import type { SubmitTotp } from '../domain/login/submit-totp.ts'
import type { ManagementPorts } from '../domain/management/ports.ts'
import type { Rules } from '../domain/policies/rules.ts'
import type { AuthenticateLegacy } from '../domain/sessions/authenticate-legacy.ts'
import type {
  CurrentIdentityOf,
  CurrentSession,
  LogOut,
  UserinfoOf,
} from '../domain/sessions/current-session.ts'
import type { OwnSessions } from '../domain/sessions/own-sessions.ts'
import type { SessionPorts } from '../domain/sessions/ports.ts'
import type { SessionMfa } from '../domain/sessions/session-mfa.ts'
import type { Stores } from '../domain/stores.ts'
import type { EndByHint } from '../domain/tokens/end-by-hint.ts'
import type { ExchangeCode } from '../domain/tokens/exchange-code.ts'
import type { Introspect } from '../domain/tokens/introspect.ts'
import type { SigningKeys } from '../domain/tokens/keys/signing-keys.ts'
import type { RefreshTokensOf } from '../domain/tokens/refresh.ts'
import type { RevokeToken } from '../domain/tokens/revoke.ts'
import type { RedirectPattern } from '../protocol/redirect-uri.ts'
import { addAccount } from './account/account.ts'
import { APIS, apiAt } from './edge-api/api.ts'
import { addAuthenticate } from './edge-api/authenticate.ts'
import { addCurrentApiSession } from './edge-api/current/current-api-session.ts'
import { addCurrentIdentity } from './edge-api/current/current-identity.ts'
import { addCurrentIdentityAuthenticators } from './edge-api/current/current-identity-authenticators.ts'
import { addCurrentIdentityMfa } from './edge-api/current/current-identity-mfa.ts'
import { addSessionCertificates } from './edge-api/current/session-certificates.ts'
import { addEnroll } from './edge-api/enrollment/enroll.ts'
import { addEstCaCerts } from './edge-api/enrollment/est-cacerts.ts'
import { addExtend } from './edge-api/enrollment/extend.ts'
import { addExternalJwtSigners } from './edge-api/external-jwt-signers.ts'
import { addOpenApi } from './edge-api/openapi.ts'
import { addRouterChecks } from './edge-api/routers/router-checks.ts'
import { addRouterFeed } from './edge-api/routers/router-feed.ts'
import { addVersion } from './edge-api/version.ts'
import type { ListenerAddresses } from './issuers.ts'
import { addManagementApi, type Management } from './management-api/management.ts'
import { addHealthChecks, addMetrics, type ShownMetrics } from './monitoring/probes.ts'
import { addAuthorization } from './oidc/authorization.ts'
import { addDiscovery } from './oidc/discovery.ts'
import { addEndSession } from './oidc/end-session.ts'
import { addIntrospect } from './oidc/introspect.ts'
import { addKeys } from './oidc/keys.ts'
import { addLoginCert } from './oidc/login/login-cert.ts'
import { addLoginExtJwt } from './oidc/login/login-ext-jwt.ts'
import { addLoginExternal } from './oidc/login/login-external.ts'
import { addLoginTotp } from './oidc/login/login-totp.ts'
import { addLoginUsername } from './oidc/login/login-username.ts'
import { addTotpEnroll } from './oidc/login/totp-enroll.ts'
import { addRevoke } from './oidc/revoke.ts'
import { addToken } from './oidc/token.ts'
import { addUserinfo } from './oidc/userinfo.ts'
import type { RequestHead } from './reading/header-fields.ts'
import type { OutcomeCounters } from './request-observer.ts'
import type { Router } from './router.ts'

/** What the use cases need that handlers call: everything that is replaceable. */
export type HttpPorts = SessionPorts & ManagementPorts & Pick<Stores, 'events'>

export interface UseCases extends Management {
  readonly ports: HttpPorts
  readonly startLogin: StartLogin
  readonly findRequest: FindRequest
  readonly submitPrimary: SubmitPrimary
  readonly sendAway: SendAway
  readonly comeBack: ComeBack
  readonly keepPrimary: KeepPrimary
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
  readonly currentSession: CurrentSession
  readonly logOut: LogOut
  readonly currentIdentity: CurrentIdentityOf
  readonly ownAuthenticators: OwnAuthenticators
  readonly ownSessions: OwnSessions
  readonly accountLogin: AccountLogin
  readonly accountSessions: AccountSessions
  readonly openRouterFeed: OpenRouterFeed
  readonly authenticateRouter: AuthenticateRouter
  readonly checkForRouter: CheckForRouter
  readonly checkHealth: CheckHealth
}

export type BoundApi =
  | { readonly binding: 'edge-client' | 'edge-management' | 'health-checks' | 'metrics' }
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
    readonly metrics: ShownMetrics
    readonly counters: OutcomeCounters
    /** Aborted when the service stops. */
    readonly stopping: AbortSignal
  },
): void {
  const { addresses, ports } = given
  const totpHostname = (head: RequestHead) => given.totpHostname ?? addresses().hostnameOf(head)
  const use = { ...given, totpHostname }
  if (apis.some(({ binding }) => binding.startsWith('edge-'))) {
    const root = apiAt(router, '')
    addVersion(root, use)
    addEstCaCerts(root, ports)
  }
  for (const api of apis) {
    if (api.binding === 'health-checks') addHealthChecks(router, use)
    else if (api.binding === 'metrics') addMetrics(router, use)
    else if (api.binding === 'edge-oidc') {
      const provider = atBindPoints(router, use.addresses)
      addDiscovery(provider, use)
      addAuthorization(provider, { ...use, allowedRedirects: api.redirectPatterns })
      addLoginUsername(provider, use)
      addLoginCert(provider, use)
      addLoginExtJwt(provider, use)
      addLoginExternal(provider, use)
      addLoginTotp(provider, use)
      addTotpEnroll(provider, use)
      addToken(provider, use)
      addUserinfo(provider, use)
      addEndSession(provider, { ...use, allowedRedirects: api.postLogoutPatterns })
      addRevoke(provider, use)
      addIntrospect(provider, use)
      addKeys(provider, use)
      addAccount(provider, use)
    } else {
      const { binding } = api
      const edge = apiAt(router, APIS[binding].prefix)
      addVersion(edge, use)
      addEstCaCerts(edge, ports)
      addOpenApi(edge, binding, use)
      addAuthenticate(edge, use)
      addCurrentApiSession(edge, use)
      addCurrentIdentity(edge, use)
      addCurrentIdentityAuthenticators(edge, use)
      addCurrentIdentityMfa(edge, use)
      addExtend(edge, ports)
      if (binding === 'edge-client') {
        addExternalJwtSigners(edge, use)
        addEnroll(edge, ports, given)
        addSessionCertificates(edge, ports)
        addRouterFeed(edge, use)
        addRouterChecks(edge, use)
      } else addManagementApi(edge, ports, use)
    }
  }
}

/** D-2: the provider answers at its bind points alone, also where an answer does not name the issuer. */
function atBindPoints(router: Router, addresses: () => ListenerAddresses): Router {
  return {
    ...router,
    add: (route, handler) =>
      router.add(route, (call) => {
        addresses().baseUrlOf(call)
        return handler(call)
      }),
  }
}
