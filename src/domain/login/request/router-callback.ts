/**
 * The redirect URI of a gateway: `https://HOST[:PORT]/.latchkey/callback` of a router that is not disabled, for exactly
 * the hosts that its administrator wrote. D-392. It is derived, so it is gone with the router, and nothing that a
 * gateway sends can add one.
 */
import { withoutBrackets } from '../../../base/host-port.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { isDisabled } from '../../identities/identity.ts'
import { type Rules, refuseStale } from '../../policies/rules.ts'

/** Below the paths that a gateway keeps for itself. */
const ROUTER_CALLBACK = '/.latchkey/callback'

const HTTPS_PORT = 443
const LONGEST = 2048

export interface RouterCallbackPorts {
  readonly rules: Pick<Rules, 'routersAt' | 'isStale'>
  readonly clock: Pick<Clock, 'now'>
}

/** Whether the text may be that URI of a router, past or present. */
export function looksLikeRouterCallback(text: string): boolean {
  return text.endsWith(ROUTER_CALLBACK)
}

/** Whether the text is exactly that URI of a router, in its normal form (D-8). Throws NOT_READY. */
export function isRouterCallback(ports: RouterCallbackPorts, text: string): boolean {
  if (text.length > LONGEST || !looksLikeRouterCallback(text)) return false
  const url = URL.parse(text)
  if (url?.href !== `${url?.origin}${ROUTER_CALLBACK}` || url.href !== text) return false
  if (url.protocol !== 'https:') return false
  refuseStale(ports.rules)
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  const now = ports.clock.now()
  return ports.rules
    .routersAt(withoutBrackets(url.hostname))
    .some((router) => (router.port === 0 || router.port === port) && !isDisabled(router, now))
}
