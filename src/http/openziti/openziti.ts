/**
 * The compatibility layer for existing clients of OpenZiti controllers: D-314. Whatever contradicts the specification is
 * in this folder alone, and nothing of it exists with `edge.compatibility: none`. Everything else (lifetimes, rotation,
 * challenges, limits) is the code that serves other clients.
 */
import { newId } from '../../base/ids.ts'
import type { AccountPorts } from '../../domain/account/ports.ts'
import type { DevicePorts } from '../../domain/device/ports.ts'
import type { ManagementPorts } from '../../domain/management/ports.ts'
import type { RedirectPattern } from '../../protocol/redirect-uri.ts'
import { type ApiBinding, apiAt } from '../edge-api/api.ts'
import { addAuthenticate } from '../edge-api/authenticate.ts'
import { addEnroll } from '../edge-api/enrollment/enroll.ts'
import type { ListenerParts } from '../listener-parts.ts'
import { addAuthorization } from '../oidc/authorization.ts'
import type { Endpoints } from '../oidc/discovery.ts'
import { addToken } from '../oidc/token.ts'
import type { Router } from '../router.ts'
import { addCallback, throughCallback } from './callback.ts'
import { addClientLists, addManagementLists } from './network.ts'
import { reshaped } from './reshaped.ts'
import { TOKEN_EXCHANGE, tokenExchange } from './token-exchange.ts'

type LayerPorts = AccountPorts & DevicePorts & ManagementPorts

export interface CompatibilityLayer {
  /** What discovery names. */
  readonly endpoints: Endpoints
  /** Every route that is added to it reads and answers as these clients expect. */
  readonly router: Router
  addProvider(provider: Router, allowedRedirects: readonly RedirectPattern[]): void
  addApi(binding: ApiBinding, prefix: string): void
}

const PATHS = {
  authorization: '/oidc/authorize',
  callback: '/oidc/authorize/callback',
  token: '/oidc/oauth/token',
} as const

const GRANTS = { [TOKEN_EXCHANGE]: tokenExchange } as const

export function openZitiLayer(
  plain: Router,
  ports: LayerPorts,
  listener: ListenerParts,
): CompatibilityLayer {
  const router = throughCallback(
    reshaped(plain, newId(ports.random), ports),
    PATHS.callback,
    ports,
    listener,
  )
  return {
    endpoints: { ...PATHS, otherGrants: [TOKEN_EXCHANGE] },
    router,
    addProvider(provider, allowedRedirects) {
      addAuthorization(provider, ports, { ...listener, allowedRedirects }, PATHS.authorization)
      addCallback(provider, PATHS.callback, ports)
      const also = { url: PATHS.token, grants: GRANTS }
      addToken(provider, ports, { ...listener, allowedRedirects }, also)
    },
    addApi(binding, prefix) {
      const api = apiAt(router, prefix)
      if (binding === 'edge-management') return addManagementLists(api, ports)
      addClientLists(api, ports)
      // Older clients enroll and log in before they know the prefix.
      const root = apiAt(router, '')
      addEnroll(root, ports, listener)
      addAuthenticate(root, ports)
    },
  }
}
