/**
 * How a client opens a TCP connection through a gateway: an HTTP/1.1 upgrade on a path that belongs to the gateway
 * (RFC 9110 §7.8). After the 101, the connection carries the bytes of the service and nothing else. D-420.
 */
export const TCP_PROTOCOL = 'latchkey-tcp'

/** 1 to 63 letters, digits and hyphens, as in a label of a host name. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

export function isTcpServiceName(text: string): boolean {
  return NAME.test(text)
}

export function tcpPath(name: string): string {
  return `/.latchkey/connect/${name}`
}
