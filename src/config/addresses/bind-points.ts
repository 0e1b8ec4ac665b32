/** Where a service listens and which addresses it answers to, if the operator names one address. */
import {
  formatHostPort,
  type HostPort,
  isLoopbackHost,
  isWildcardHost,
  parseHostPort,
} from '../../base/host-port.ts'
import { DEFAULT_ADDRESS } from '../environment.ts'
import { ConfigProblems } from '../problems.ts'

/** Parses LATCHKEY_ADDRESS. Throws ConfigProblems if clients cannot connect to the address. */
export function readAddress(address: string): HostPort {
  const parsed = parseHostPort(address)
  if (parsed === undefined || isWildcardHost(parsed.host)) {
    const message =
      `${JSON.stringify(address.slice(0, 80))} is not an address that clients can connect to; ` +
      `write HOST:PORT, like ${DEFAULT_ADDRESS}`
    throw new ConfigProblems('LATCHKEY_ADDRESS', [{ path: '', message }])
  }
  return parsed
}

/**
 * A local address listens on loopback only and answers to every name of this machine, the given one first. Any other
 * address listens on all interfaces: of IPv4, because not every machine can open an IPv6 socket, unless the address is
 * IPv6.
 */
export function bindPointsFor(address: HostPort): { interface: string; address: string }[] {
  const { host, port } = address
  if (!isLoopbackHost(host)) {
    const everywhere = host.includes(':') ? '::' : '0.0.0.0'
    return [point({ host: everywhere, port }, address)]
  }
  return [...new Set([host, 'localhost', '127.0.0.1', '::1'])].map((name) =>
    point({ host: name === 'localhost' ? '127.0.0.1' : name, port }, { host: name, port }),
  )
}

function point(place: HostPort, address: HostPort) {
  return { interface: formatHostPort(place), address: formatHostPort(address) }
}
