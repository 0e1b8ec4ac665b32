/**
 * Where a router is reached: `HOST` or `HOST:PORT`, as its administrator wrote it. Its certificate is for these hosts,
 * and browsers may return there from a login; without a port, any port. D-391, D-392.
 */
import {
  formatHostPort,
  type HostPort,
  isWildcardHost,
  parseHostPort,
} from '../../base/host-port.ts'
import { invalid } from '../refusals.ts'
import type { Identity } from './identity.ts'

/** What logins and clients of a router need to know of it. */
export type RouterPlace = Pick<Identity, 'id' | 'name' | 'hosts' | 'disabledAt' | 'disabledUntil'>

/** Stands for "no port": real ones are never 0. */
const ANY_PORT = 0

/** Port 0: any. Undefined if the text is not one that a browser can call. */
export function parseRouterHost(text: string): HostPort | undefined {
  const place = parseHostPort(text, ANY_PORT)
  if (place === undefined || isWildcardHost(place.host)) return undefined
  return /:0$/.test(text) && !text.endsWith(']') ? undefined : place
}

/** Returns them in their normal form, each once. Throws COULD_NOT_VALIDATE. */
export function checkedHosts({ hosts, type }: Pick<Identity, 'hosts' | 'type'>): readonly string[] {
  if (hosts.length > 0 && type !== 'Router') throw invalid('hosts', 'are only for type Router')
  const normal = hosts.map((text) => {
    const place = parseRouterHost(text)
    if (place === undefined) {
      throw invalid('hosts', 'must be HOST or HOST:PORT, like gw1.example.com or 10.1.2.3:8443')
    }
    if (place.port !== ANY_PORT) return formatHostPort(place)
    return place.host.includes(':') ? `[${place.host}]` : place.host
  })
  return [...new Set(normal)]
}

/** The names of its certificate, each once, without ports or brackets. */
export function certificateNames(hosts: readonly string[]): readonly string[] {
  return [...new Set(hosts.flatMap((text) => parseRouterHost(text)?.host ?? []))]
}
