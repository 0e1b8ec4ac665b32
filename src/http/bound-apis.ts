/**
 * Which routes an API binding brings. SPEC Authentication 8: what a listener does not bind does not exist there.
 */
import type { Clock } from '../base/clock.ts'
import type { Version } from '../contract/version.ts'
import type { FindRequest } from '../domain/login/find-request.ts'
import type { StartLogin } from '../domain/login/start.ts'
import type { SubmitPassword } from '../domain/login/submit-password.ts'
import type { CurrentIdentityOf, CurrentSession } from '../domain/sessions/current-session.ts'
import type { ExchangeCode } from '../domain/tokens/exchange-code.ts'
import type { SigningKeys } from '../domain/tokens/signing-keys.ts'
import type { RedirectPattern } from '../protocol/redirect-uri.ts'
import { addCurrentApiSession } from './edge-api/current-api-session.ts'
import { addCurrentIdentity } from './edge-api/current-identity.ts'
import { API_PREFIXES } from './edge-api/paths.ts'
import { addVersion } from './edge-api/version.ts'
import type { ListenerAddresses } from './issuers.ts'
import { addAuthorization } from './oidc/authorization.ts'
import { addDiscovery } from './oidc/discovery.ts'
import { addKeys } from './oidc/keys.ts'
import { addLoginUsername } from './oidc/login-username.ts'
import { addToken } from './oidc/token.ts'
import type { Router } from './route.ts'

export interface UseCases {
  readonly startLogin: StartLogin
  readonly findRequest: FindRequest
  readonly submitPassword: SubmitPassword
  readonly exchangeCode: ExchangeCode
  readonly signingKeys: Pick<SigningKeys, 'keySet' | 'algorithms'>
  readonly currentSession: CurrentSession
  readonly currentIdentity: CurrentIdentityOf
}

export type BoundApi =
  | { readonly binding: 'edge-client' | 'edge-management' }
  | { readonly binding: 'edge-oidc'; readonly redirectPatterns: readonly RedirectPattern[] }

export function addBoundApis(
  router: Router,
  apis: readonly BoundApi[],
  use: UseCases & {
    readonly brand: string
    readonly corsOrigins: readonly string[]
    readonly clock: Clock
    /** Known once the listener listens. */
    readonly addresses: () => ListenerAddresses
    readonly version: () => Version
  },
): void {
  addVersion(router, '', use)
  for (const api of apis) {
    if (api.binding === 'edge-oidc') {
      const provider = atBindPoints(router, use.addresses)
      addDiscovery(provider, use)
      addAuthorization(provider, { ...use, allowedRedirects: api.redirectPatterns })
      addLoginUsername(provider, use)
      addToken(provider, use)
      addKeys(provider, use)
    } else {
      const prefix = API_PREFIXES[api.binding]
      addVersion(router, prefix, use)
      addCurrentApiSession(router, prefix, use)
      addCurrentIdentity(router, prefix, use)
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
