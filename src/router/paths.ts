/** The paths of a controller's client API for routers: SPEC Versioning 1, D-42. */
export const ROUTER_FEED_PATH = '/edge/client/v1/router-feed'
export const ROUTER_CONFIRMATIONS_PATH = '/edge/client/v1/router-confirmations'
export const ROUTER_CHECKS_PATH = '/edge/client/v1/router-checks'

/** Undefined unless the text is exactly the address of a controller: `https://HOST[:PORT]`. */
export function parseControllerUrl(text: string): URL | undefined {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    return undefined
  }
  return url.pathname === '/' && url.search === '' && url.hash === '' ? url : undefined
}
