/**
 * Addresses and networks of IPv4 and IPv6 as comparable values: `10.1.2.3`, `10.0.0.0/8`, `fd00::/8`. All spellings of
 * an address compare equal; an IPv4 address inside IPv6 (RFC 4291 §2.5.5.2) is the IPv4 address.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { parseHostPort } from './host-port.ts'

/** 4 or 16 bytes, in the order of the network. */
export type Address = readonly number[]

export interface Network {
  readonly address: Address
  /** How many bits of the address count. */
  readonly prefix: number
}

/** A host by its name, or the addresses of a network. One address is a network of its own. */
export type HostOrNetwork =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'network'; readonly network: Network }

const MAPPED: Network = {
  address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0],
  prefix: 96,
}

/** Parses an address; undefined for any other text. The zone of a scoped address (`fe80::1%eth0`) is ignored. */
export function parseAddress(text: string): Address | undefined {
  const bytes = addressBytes(text)
  return bytes !== undefined && isIn(bytes, MAPPED) ? bytes.slice(12) : bytes
}

/** Parses an address with or without a prefix length; undefined for any other text, and if bits after it are set. */
export function parseNetwork(text: string): Network | undefined {
  const match = /^([0-9a-f:.]+)(?:\/(0|[1-9][0-9]{0,2}))?$/i.exec(text)
  const written = match?.[1] === undefined ? undefined : addressBytes(match[1])
  if (written === undefined) return undefined
  const bits = written.length * 8
  const prefix = match?.[2] === undefined ? bits : Number(match[2])
  if (prefix > bits || !isClearBehind(written, prefix)) return undefined
  return prefix >= MAPPED.prefix && isIn(written, MAPPED)
    ? { address: written.slice(12), prefix: prefix - MAPPED.prefix }
    : { address: written, prefix }
}

/** Parses a name, an address or a network; undefined for any other text, also for a host with a port. */
export function parseHostOrNetwork(text: string): HostOrNetwork | undefined {
  const network = parseNetwork(text)
  if (network !== undefined) return { kind: 'network', network }
  const host = text.includes(':') ? undefined : parseHostPort(text, 0)?.host
  return host === undefined ? undefined : { kind: 'host', host }
}

export function isIn(address: Address, network: Network): boolean {
  const { address: base, prefix } = network
  if (address.length !== base.length) return false
  return address.every((byte, i) => {
    const mask = maskOf(prefix, i)
    return (byte & mask) === ((base[i] ?? 0) & mask)
  })
}

/**
 * Returns the network that one customer has: the address itself for IPv4, the /64 for IPv6, where a count for each
 * address would limit nothing. Any other text is a network of its own.
 */
export function networkOf(address: string): string {
  const bytes = parseAddress(address)
  if (bytes === undefined) return address.slice(0, 64)
  if (bytes.length === 4) return bytes.join('.')
  const groups = [0, 2, 4, 6].map((i) => ((bytes[i] ?? 0) * 256 + (bytes[i + 1] ?? 0)).toString(16))
  return `${groups.join(':')}::/64`
}

/**
 * Returns how the text of every network begins that is in the same /48 of IPv6, which is what one site can have (RFC
 * 6177 §2). Undefined for any other network. `network` is from `networkOf`.
 */
export function siteOf(network: string): string | undefined {
  return /^(?:[0-9a-f]{1,4}:){3}(?=[0-9a-f]{1,4}::\/64$)/.exec(network)?.[0]
}

/** The bits of byte `i` that a prefix of this length covers. */
function maskOf(prefix: number, i: number): number {
  const covered = Math.min(8, Math.max(0, prefix - i * 8))
  return (0xff << (8 - covered)) & 0xff
}

function isClearBehind(address: Address, prefix: number): boolean {
  return address.every((byte, i) => (byte & ~maskOf(prefix, i) & 0xff) === 0)
}

/** Returns the bytes as written: an IPv4 address inside IPv6 keeps its 16 bytes. Undefined for any other text. */
export function addressBytes(text: string): Address | undefined {
  if (isIPv4(text)) return text.split('.').map(Number)
  return isIPv6(text) ? ipv6Bytes(text.replace(/%.*$/s, '')) : undefined
}

/** Expects a valid IPv6 address. */
function ipv6Bytes(text: string): Address {
  const [front = '', back] = text.split('::')
  const head = groupBytes(front)
  if (back === undefined) return head
  const tail = groupBytes(back)
  return [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail]
}

function groupBytes(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}
