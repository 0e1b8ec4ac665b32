/**
 * Which addresses we may connect to when the URL is not our own. A URL that an administrator entered must not reach the
 * machine's own network or the credentials of its cloud (R106, API 4.5, D-110). Pure.
 */
import {
  type Address,
  type HostOrNetwork,
  isIn,
  type Network,
  parseAddress,
  parseNetwork,
} from '../base/network.ts'

export interface AddressRules {
  readonly blockPrivateAddresses: boolean
  /** Exceptions to `blockPrivateAddresses` only. */
  readonly allowed: readonly HostOrNetwork[]
  /** Overrides everything else. */
  readonly denied: readonly HostOrNetwork[]
}

/**
 * Returns why this address of this host is refused, to complete "the host …"; undefined if it is allowed. `text` is the
 * answer of the resolver; a text that is not an address is refused.
 */
export function refusalOf(text: string, host: string, rules: AddressRules): string | undefined {
  const address = parseAddress(text)
  if (address === undefined) return 'has an address that cannot be read'
  // The packet ends up at the embedded address, so both must be allowed.
  const reached = embeddedIpv4(address)
  return (
    judge(address, host, rules) ?? (reached === undefined ? undefined : judge(reached, host, rules))
  )
}

export function isLoopback(text: string): boolean {
  const address = parseAddress(text)
  return address !== undefined && isInAny(address, LOOPBACK)
}

function judge(address: Address, host: string, rules: AddressRules): string | undefined {
  const isNamed = (places: readonly HostOrNetwork[]): boolean =>
    places.some((place) =>
      place.kind === 'host' ? place.host === host : isIn(address, place.network),
    )
  if (isNamed(rules.denied)) return 'is denied by the configuration'
  if (isInAny(address, METADATA)) return 'has an address of a cloud metadata service'
  if (isInAny(address, LINK_LOCAL)) return 'has a link-local address'
  if (isInAny(address, NO_HOST)) return 'has an address that does not belong to a single host'
  const isPrivate = isInAny(address, LOOPBACK) || isInAny(address, PRIVATE)
  if (isPrivate && rules.blockPrivateAddresses && !isNamed(rules.allowed)) {
    return 'has a private address, and the configuration blocks those'
  }
  return undefined
}

// They return credentials of the machine to any local caller: AWS, GCP and Azure; AWS and GCP over IPv6; Alibaba;
// Oracle; the host agent of Azure.
const METADATA = networks(
  '169.254.169.254',
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
)
// RFC 3927, RFC 4291 §2.5.6.
const LINK_LOCAL = networks('169.254.0.0/16', 'fe80::/10')
// Unspecified, multicast, reserved and broadcast (RFC 6890); Teredo and local NAT64 (RFC 4380, RFC 8215), whose target
// cannot be determined.
const NO_HOST = networks(
  '0.0.0.0/8',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::',
  'ff00::/8',
  '2001::/32',
  '64:ff9b:1::/48',
)
const LOOPBACK = networks('127.0.0.0/8', '::1')
// RFC 1918, RFC 6598, RFC 4193; and the rest of RFC 6890 that no public host has.
const PRIVATE = networks(
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '192.0.0.0/24',
  '198.18.0.0/15',
  'fc00::/7',
  'fec0::/10',
)

// NAT64 (RFC 6052 §2.1), 6to4 (RFC 3056 §2) and IPv4-compatible addresses (RFC 4291 §2.5.5.1), with the place of
// the IPv4 address.
const EMBEDDING = [
  { network: network('64:ff9b::/96'), at: 12 },
  { network: network('2002::/16'), at: 2 },
  { network: network('::/96'), at: 12 },
] as const

function embeddedIpv4(address: Address): Address | undefined {
  if (isInAny(address, LOOPBACK)) return undefined
  const found = EMBEDDING.find((one) => isIn(address, one.network))
  return found && address.slice(found.at, found.at + 4)
}

function isInAny(address: Address, list: readonly Network[]): boolean {
  return list.some((one) => isIn(address, one))
}

function networks(...texts: readonly string[]): readonly Network[] {
  return texts.map(network)
}

function network(text: string): Network {
  const parsed = parseNetwork(text)
  if (parsed === undefined) throw new Error(`${text} is not a network`)
  return parsed
}
