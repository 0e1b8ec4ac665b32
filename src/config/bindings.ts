/**
 * Which API is on which listener: the auto-binding rule of SPEC Authentication 8. Pure.
 */
import type { NonEmpty } from '../base/non-empty.ts'
import { DEFAULT_REDIRECT_PATTERNS, type RedirectPattern } from '../protocol/redirect-uri.ts'
import type { Api, Binding } from './config.ts'

/** One entry of `apis`, as the file lists it. */
export interface ListedApi {
  readonly binding: Binding
  /** D-8: a configured list replaces the default. */
  readonly redirectPatterns?: readonly RedirectPattern[] | undefined
  readonly postLogoutPatterns?: readonly RedirectPattern[] | undefined
}

/**
 * Returns the APIs of each listener, in the order of the listeners. `edge-oidc` is added to every listener with
 * `edge-client`, unless that is disabled or `edge-oidc` is listed on any listener.
 */
export function bindApis(
  listeners: readonly NonEmpty<ListedApi>[],
  disableOidcAutoBinding: boolean,
): readonly NonEmpty<Api>[] {
  const isListed = listeners.some((listed) => hosts(listed, 'edge-oidc'))
  const addsOidc = !disableOidcAutoBinding && !isListed
  return listeners.map(([first, ...rest]) => {
    const apis: NonEmpty<Api> = [bind(first), ...rest.map(bind)]
    return addsOidc && hosts(apis, 'edge-client') ? [...apis, bind({ binding: 'edge-oidc' })] : apis
  })
}

function hosts(apis: readonly { readonly binding: Binding }[], binding: Binding): boolean {
  return apis.some((api) => api.binding === binding)
}

function bind({
  binding,
  redirectPatterns = DEFAULT_REDIRECT_PATTERNS,
  postLogoutPatterns = DEFAULT_REDIRECT_PATTERNS,
}: ListedApi): Api {
  if (binding !== 'edge-oidc') return { binding }
  return { binding, redirectPatterns, postLogoutPatterns }
}
