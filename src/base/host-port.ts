/**
 * `HOST:PORT` as users and Host fields write it: a name, an IPv4 address or a bracketed IPv6 address (RFC 3986
 * §3.2.2). Two spellings of the same place compare equal: names in lower case, IPv6 in its short form.
 */
import { isIPv4, isIPv6 } from 'node:net'

export interface HostPort {
  /** Without brackets, as sockets and certificates want it. */
  readonly host: string
  readonly port: number
}

const SHAPE = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(0|[1-9][0-9]{0,4}))?$/i
const MAX_PORT = 65_535

/**
 * Parses the text; undefined if it is not valid. `defaultPort` is used if the text has no port; without it, the port
 * is required.
 */
export function parseHostPort(text: string, defaultPort?: number): HostPort | undefined {
  const match = SHAPE.exec(text)
  if (match === null) return undefined
  const [, ipv6, name, digits] = match
  // Convert to lower case only after the check for ASCII: the Kelvin sign would become a plain k.
  const host = ipv6 === undefined ? checkName((name ?? '').toLowerCase()) : shortIpv6(ipv6)
  const port = digits === undefined ? defaultPort : Number(digits)
  if (host === undefined || port === undefined || port > MAX_PORT) return undefined
  return { host, port }
}

/** Returns the text that `parseHostPort` parses back to the same value. */
export function formatHostPort({ host, port }: HostPort): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Returns the host as sockets and certificates want it: a URL has IPv6 addresses in brackets. */
export function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/** Returns whether the host is always this machine: `localhost`, 127.0.0.0/8 (RFC 1122 §3.2.1.3), `::1`. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

/** Returns whether the host means every interface: a server can listen there, but no client can connect to it. */
export function isWildcardHost(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

const MAX_NAME_LENGTH = 253
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/

function checkName(name: string): string | undefined {
  const labels = name.split('.')
  if (name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) return undefined
  // URL parses every host that ends in a number as IPv4, so `127.1` would become another host in a browser.
  const endsInNumber = /^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '')
  return endsInNumber && !isIPv4(name) ? undefined : name
}

function shortIpv6(text: string): string | undefined {
  if (!isIPv6(text)) return undefined
  return new URL(`http://[${text}]`).hostname.slice(1, -1)
}
