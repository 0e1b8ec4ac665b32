/**
 * Parses the header that a load balancer puts in front of a connection to name the client: PROXY protocol, version 2,
 * https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt section 2.2. Pure: it reads bytes and returns their
 * meaning. D-208.
 */

export type ProxyHeader =
  /** More bytes are needed. */
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid'; readonly reason: string }
  /** The balancer connects for itself (a health check), or does not name a client. `length`: bytes of the header. */
  | { readonly kind: 'local'; readonly length: number }
  | {
      readonly kind: 'proxied'
      readonly length: number
      readonly address: string
      readonly port: number
    }

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
/** Signature, version and command, family and protocol, length. */
const FIXED = 16
/** The most bytes of addresses and additions. HAProxy with every addition sends less than 1 KiB. */
const LONGEST_REST = 2 * 1024
export const LONGEST_PROXY_HEADER = FIXED + LONGEST_REST

const LOCAL = 0x20
const PROXY = 0x21
const UNSPECIFIED = 0x00
/** Address families over a stream, with the length of one address. Each header has two addresses and two ports. */
const STREAMS: Readonly<Record<number, number>> = { 17: 4, 33: 16 }

/** Parses the beginning of a connection. Ignores additions (TLVs). */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  const compared = Math.min(bytes.length, SIGNATURE.length)
  if (!bytes.subarray(0, compared).equals(SIGNATURE.subarray(0, compared))) {
    return invalid('does not begin with a header of version 2')
  }
  if (bytes.length < FIXED) return { kind: 'incomplete' }
  const command = bytes.readUInt8(12)
  const family = bytes.readUInt8(13)
  const rest = bytes.readUInt16BE(14)
  if (command !== LOCAL && command !== PROXY) return invalid('has an unknown version or command')
  if (rest > LONGEST_REST) return invalid('is too long')
  const size = STREAMS[family]
  if (command === PROXY && family !== UNSPECIFIED) {
    if (size === undefined) return invalid('is not of a TCP connection')
    if (rest < 2 * size + 4) return invalid('is too short for its addresses')
  }
  const length = FIXED + rest
  if (bytes.length < length) return { kind: 'incomplete' }
  if (command === LOCAL || size === undefined) return { kind: 'local', length }
  const address = bytes.subarray(FIXED, FIXED + size)
  const port = bytes.readUInt16BE(FIXED + 2 * size)
  return { kind: 'proxied', length, address: written(address), port }
}

function invalid(reason: string): ProxyHeader {
  return { kind: 'invalid', reason }
}

function written(address: Buffer): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => address.readUInt16BE(2 * i).toString(16))
  return groups.join(':')
}
