/**
 * The names a server certificate can carry: host names and IP addresses, which RFC 5280 §4.2.1.6 writes as
 * different kinds and RFC 9110 §4.3.4 compares in different ways.
 */
import { isIPv4, isIPv6 } from 'node:net'

export interface ServerName {
  readonly type: 'dns' | 'ip'
  /** Lower case, without brackets; an IPv6 address in the form of RFC 5952, without dots. */
  readonly value: string
}

// RFC 1035 §2.3.4: at most 253 octets as text, 63 per label. The underscore is not allowed in host names, but is in
// use.
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/

/** Parses a name. Returns undefined if the text is neither a host name (in ASCII) nor an IP address. */
export function parseServerName(text: string): ServerName | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (isIPv6(bare)) {
    // A zone (`fe80::1%eth0`) is meaningful on one machine only. URL rejects it, and so do we.
    const url = URL.parse(`https://[${bare}]`)
    return url === null ? undefined : { type: 'ip', value: url.hostname.slice(1, -1) }
  }
  if (bare !== text) return undefined
  if (isIPv4(text)) return { type: 'ip', value: text }
  const name = text.toLowerCase()
  // RFC 1123 §2.1: a name that ends in a number was meant as an address.
  if (!HOST_NAME.test(name) || /(?:^|\.)\d+$/.test(name)) return undefined
  return { type: 'dns', value: name }
}
