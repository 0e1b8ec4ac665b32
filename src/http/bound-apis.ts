/**
 * The routes of each API binding. SPEC Authentication 8: an API that a listener does not bind does not exist there.
 */

import type { AccountPorts } from '../domain/account/ports.ts'
import type { DevicePorts } from '../domain/device/ports.ts'
import type { ManagementPorts } from '../domain/management/ports.ts'
import type { OverviewPorts } from '../domain/overview/ports.ts'
import type { LedgerPorts } from '../domain/sessions/confirming/session-ledger.ts'
import type { Stores } from '../domain/stores.ts'
import type { RedirectPattern } from '../protocol/redirect-uri.ts'
import { CONSOLE_PATH } from '../web/console/navigation.ts'
import { addAccount } from './account/account.ts'
import { ACCOUNT_SITE } from './account/account-route.ts'
import { addConsole } from './console/console.ts'
import { CONSOLE_SITE } from './console/console-route.ts'
import { addDevice } from './device/device.ts'
import { addDocumentation } from './documentation/documentation.ts'
import { APIS, apiAt } from './edge-api/api.ts'
import { addAuthenticate } from './edge-api/authenticate.ts'
import { addCurrentApiSession } from './edge-api/current/current-api-session.ts'
import { addCurrentIdentity } from './edge-api/current/current-identity.ts'
import { addCurrentIdentityAuthenticators } from './edge-api/current/current-identity-authenticators.ts'
import { addCurrentIdentityMfa } from './edge-api/current/current-identity-mfa.ts'
import { addCurrentIdentityPasskeys } from './edge-api/current/current-identity-passkeys.ts'
import { addSessionCertificates } from './edge-api/current/session-certificates.ts'
import { addEnroll } from './edge-api/enrollment/enroll.ts'
import { addEstCaCerts } from './edge-api/enrollment/est-cacerts.ts'
import { addExtend } from './edge-api/enrollment/extend.ts'
import { addExternalJwtSigners } from './edge-api/external-jwt-signers.ts'
import { addOpenApi } from './edge-api/openapi.ts'
import { addGateways } from './edge-api/routers/gateways.ts'
import { addRouterChecks } from './edge-api/routers/router-checks.ts'
import { addRouterConfirmations } from './edge-api/routers/router-confirmations.ts'
import { addRouterFeed } from './edge-api/routers/router-feed.ts'
import { addVersion } from './edge-api/version.ts'
import { addInvite } from './invite/invite.ts'
import type { ListenerParts } from './listener-parts.ts'
import { addOwnConfirmations } from './management-api/confirmations.ts'
import { addManagementApi } from './management-api/management.ts'
import { addHealthChecks, addMetrics } from './monitoring/probes.ts'
import { addAuthorization } from './oidc/authorization.ts'
import { addDeviceAuthorization } from './oidc/device-authorization.ts'
import { addDiscovery } from './oidc/discovery.ts'
import { addEndSession } from './oidc/end-session.ts'
import { addIntrospect } from './oidc/introspect.ts'
import { addKeys } from './oidc/keys.ts'
import { addLoginCert } from './oidc/login/login-cert.ts'
import { addLoginExtJwt } from './oidc/login/login-ext-jwt.ts'
import { addLoginExternal } from './oidc/login/login-external.ts'
import { addLoginTotp } from './oidc/login/login-totp.ts'
import { addLoginUsername } from './oidc/login/login-username.ts'
import { addLoginPasskey } from './oidc/login/passkey/login-passkey.ts'
import { addPasskeyEnroll } from './oidc/login/passkey/passkey-enroll.ts'
import { addRestart } from './oidc/login/restart.ts'
import { addContinue } from './oidc/login/single-sign-on.ts'
import { addTotpEnroll } from './oidc/login/totp-enroll.ts'
import { addRevoke } from './oidc/revoke.ts'
import { addToken } from './oidc/token.ts'
import { addUserinfo } from './oidc/userinfo.ts'
import { openZitiLayer } from './openziti/openziti.ts'
import { addStart } from './own-site/start.ts'
import { addLogo } from './pages/logo.ts'
import type { Router } from './router.ts'

/** What the use cases that handlers call need. */
export type HttpPorts = AccountPorts &
  DevicePorts &
  ManagementPorts &
  OverviewPorts &
  LedgerPorts &
  Pick<Stores, 'events'>

export type BoundApi =
  | {
      readonly binding: 'edge-client' | 'edge-management' | 'console' | 'health-checks' | 'metrics'
    }
  | {
      readonly binding: 'edge-oidc'
      readonly redirectPatterns: readonly RedirectPattern[]
      readonly postLogoutPatterns: readonly RedirectPattern[]
    }

export function addBoundApis(
  plain: Router,
  apis: readonly BoundApi[],
  ports: HttpPorts,
  listener: ListenerParts,
): void {
  const layer =
    listener.compatibility === 'openziti' ? openZitiLayer(plain, ports, listener) : undefined
  const router = layer?.router ?? plain
  if (apis.some(({ binding }) => binding.startsWith('edge-'))) {
    const root = apiAt(router, '')
    addVersion(root, ports, listener)
    addEstCaCerts(root, ports, listener)
    const isBound = (binding: BoundApi['binding']) => apis.some((api) => api.binding === binding)
    addStart(plain, ports, listener, {
      account: isBound('edge-oidc') ? ACCOUNT_SITE : undefined,
      console: isBound('console') ? CONSOLE_SITE : undefined,
    })
    addDocumentation(router)
  }
  for (const api of apis) {
    if (api.binding === 'health-checks') addHealthChecks(router, listener)
    else if (api.binding === 'metrics') addMetrics(router, listener)
    else if (api.binding === 'console') addConsole(atBindPoints(router, listener), ports, listener)
    else if (api.binding === 'edge-oidc') {
      const provider = atBindPoints(router, listener)
      const { redirectPatterns, postLogoutPatterns } = api
      addDiscovery(provider, ports, listener, layer?.endpoints)
      addAuthorization(provider, ports, { ...listener, allowedRedirects: redirectPatterns })
      addRestart(provider, ports, { ...listener, allowedRedirects: redirectPatterns })
      addContinue(provider, ports, listener)
      addLoginUsername(provider, ports, listener)
      addLoginCert(provider, ports, listener)
      addLoginExtJwt(provider, ports, listener)
      addLoginExternal(provider, ports, listener)
      addLoginTotp(provider, ports, listener)
      addTotpEnroll(provider, ports, listener)
      addLoginPasskey(provider, ports, listener)
      addPasskeyEnroll(provider, ports, listener)
      addToken(provider, ports, { ...listener, allowedRedirects: redirectPatterns })
      addDeviceAuthorization(provider, ports, listener)
      addDevice(provider, ports, listener)
      addUserinfo(provider, ports)
      addEndSession(provider, ports, { ...listener, allowedRedirects: postLogoutPatterns })
      addRevoke(provider, ports)
      addIntrospect(provider, ports)
      addKeys(provider, ports)
      const hasConsole = apis.some(({ binding }) => binding === 'console')
      const consolePath = hasConsole ? CONSOLE_PATH : undefined
      addAccount(provider, ports, { ...listener, consolePath })
      addInvite(provider, ports, listener)
      addLogo(provider, listener)
      layer?.addProvider(provider, redirectPatterns)
    } else {
      const { binding } = api
      const edge = apiAt(router, APIS[binding].prefix)
      addVersion(edge, ports, listener)
      addEstCaCerts(edge, ports, listener)
      addOpenApi(edge, binding, listener)
      addAuthenticate(edge, ports)
      addCurrentApiSession(edge, ports)
      addCurrentIdentity(edge, ports)
      addCurrentIdentityAuthenticators(edge, ports)
      addCurrentIdentityMfa(edge, ports, listener)
      addCurrentIdentityPasskeys(edge, ports, listener)
      addExtend(edge, ports)
      if (binding === 'edge-client') {
        addExternalJwtSigners(edge, ports)
        addEnroll(edge, ports, listener)
        addSessionCertificates(edge, ports)
        addRouterFeed(edge, ports, listener)
        addGateways(edge, ports)
        addRouterChecks(edge, ports)
        addRouterConfirmations(edge, ports)
        addOwnConfirmations(edge, ports)
      } else addManagementApi(edge, ports)
      layer?.addApi(binding, APIS[binding].prefix)
    }
  }
}

/** D-2: the provider responds only at its bind points, even if a response does not name the issuer. */
function atBindPoints(router: Router, { addresses }: ListenerParts): Router {
  return {
    ...router,
    add: (route, handler) =>
      router.add(route, (call) => {
        addresses().baseUrlOf(call)
        return handler(call)
      }),
  }
}
