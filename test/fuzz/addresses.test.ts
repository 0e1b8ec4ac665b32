/**
 * Properties of addresses, networks and the rules about them (R106), with the lists of the platform as a second
 * opinion.
 */
import assert from 'node:assert/strict'
import { BlockList, isIPv6 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type HostOrNetwork,
  isIn,
  parseAddress,
  parseHostOrNetwork,
  parseNetwork,
} from '../../src/base/network.ts'
import { type AddressRules, refusalOf } from '../../src/outbound/address-rules.ts'
import { rounds } from '../support/chance/rounds.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const HOST = 'idp.example'
const OPEN: AddressRules = { blockPrivateAddresses: false, allowed: [], denied: [] }

const byte = fc.nat({ max: 255 })
/** Also the neighbourhood of what is special. */
const ipv4 = fc.oneof(
  fc.ipV4(),
  fc
    .tuple(
      fc.constantFrom('10.0', '127.0', '169.254', '172.16', '172.31', '192.168', '100.64', '0.0'),
      byte,
      byte,
    )
    .map((parts) => parts.join('.')),
)
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc
    .tuple(fc.constantFrom('fe80', 'fc00', 'fdff', 'fec0', 'ff02', '2001'), fc.nat({ max: 65_535 }))
    .map(([group, last]) => `${group}::${last.toString(16)}`),
)

const hexOf = (address: string): string => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}

test('an address is in a network exactly when the platform says so', () => {
  const cases = fc.oneof(
    fc.record({ base: ipv4, other: ipv4, prefix: fc.nat({ max: 32 }) }),
    fc.record({ base: ipv6, other: ipv6, prefix: fc.nat({ max: 128 }) }),
  )
  fc.assert(
    fc.property(cases, fc.boolean(), ({ base, other, prefix }, isSame) => {
      const address = isSame ? base : other
      const family = isIPv6(base) ? 'ipv6' : 'ipv4'
      const list = new BlockList()
      list.addSubnet(base, prefix, family)
      const bytes = parseAddress(base)
      // IPv6 that holds IPv4 is IPv4 here, and both to the platform.
      fc.pre(bytes?.length === (family === 'ipv6' ? 16 : 4))
      const parsed = parseAddress(address)
      fc.pre(parsed?.length === bytes.length)
      assert.equal(isIn(parsed, { address: bytes, prefix }), list.check(address, family))
    }),
  )
})

test('a network is read exactly when no bit behind its prefix is set', () => {
  fc.assert(
    fc.property(ipv4, fc.nat({ max: 32 }), (text, prefix) => {
      const number = text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
      const isClear = number % 2 ** (32 - prefix) === 0
      assert.equal(parseNetwork(`${text}/${prefix}`) !== undefined, isClear)
    }),
  )
})

test('R106: an address is refused always exactly when a second list says so', () => {
  const always = new BlockList()
  for (const [network, prefix] of [
    ['0.0.0.0', 8],
    ['169.254.0.0', 16],
    ['224.0.0.0', 3],
    ['100.100.100.200', 32],
    ['192.0.0.192', 32],
    ['168.63.129.16', 32],
  ] as const) {
    always.addSubnet(network, prefix, 'ipv4')
  }
  fc.assert(
    fc.property(ipv4, (address) => {
      assert.equal(refusalOf(address, HOST, OPEN) !== undefined, always.check(address))
    }),
  )
})

test('R106: a private address is refused when those are blocked, exactly when a second list says so', () => {
  const inside = new BlockList()
  for (const [network, prefix] of [
    ['10.0.0.0', 8],
    ['127.0.0.0', 8],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['100.64.0.0', 10],
    ['192.0.0.0', 24],
    ['198.18.0.0', 15],
  ] as const) {
    inside.addSubnet(network, prefix, 'ipv4')
  }
  const closed = { ...OPEN, blockPrivateAddresses: true }
  fc.assert(
    fc.property(ipv4, (address) => {
      fc.pre(refusalOf(address, HOST, OPEN) === undefined)
      assert.equal(refusalOf(address, HOST, closed) !== undefined, inside.check(address))
    }),
  )
})

const places = fc.array(
  fc.tuple(byte, fc.nat({ max: 8 })).map(([first, prefix]): HostOrNetwork => {
    const network = parseNetwork(`${(first >> (8 - prefix)) << (8 - prefix)}.0.0.0/${prefix}`)
    assert.ok(network)
    return { kind: 'network', network }
  }),
  { maxLength: 3 },
)
const rules = fc.record({ blockPrivateAddresses: fc.boolean(), allowed: places, denied: places })

test('R106: an IPv4 address gets the same verdict, however it is dressed', () => {
  fc.assert(
    fc.property(ipv4, rules, (address, given) => {
      const verdict = refusalOf(address, HOST, given)
      for (const dressed of [
        `::ffff:${address}`,
        `::FFFF:${hexOf(address)}`,
        `0:0:0:0:0:ffff:${address}%eth0`,
        `64:ff9b::${address}`,
        `2002:${hexOf(address)}::1`,
      ]) {
        assert.equal(refusalOf(dressed, HOST, given), verdict, dressed)
      }
    }),
  )
})

test('R106: no rule lifts what is refused always, and more rules about denial only refuse more', () => {
  fc.assert(
    fc.property(fc.oneof(ipv4, ipv6), rules, (address, given) => {
      const refused = refusalOf(address, HOST, given) !== undefined
      if (refusalOf(address, HOST, OPEN) !== undefined) assert.ok(refused)
      const without = refusalOf(address, HOST, { ...given, denied: [] }) !== undefined
      if (without) assert.ok(refused)
    }),
  )
})

test('no text makes reading throw, and what is read is an address, a network or a host', () => {
  const text = fc.oneof(
    fc.string(),
    fc.stringMatching(/^[0-9a-f:.%/]{0,40}$/),
    fc.tuple(fc.oneof(ipv4, ipv6), fc.string({ maxLength: 4 })).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (given) => {
      assert.ok([undefined, 4, 16].includes(parseAddress(given)?.length))
      const place = parseHostOrNetwork(given)
      if (place?.kind === 'network') {
        assert.ok(place.network.prefix <= place.network.address.length * 8)
      }
      if (place?.kind === 'host') assert.match(place.host, /^[a-z0-9._-]+$/)
    }),
  )
})
