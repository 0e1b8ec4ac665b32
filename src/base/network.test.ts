/** Addresses and networks, and what belongs to which; properties are in test/fuzz/addresses.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isIn,
  networkOf,
  parseAddress,
  parseHostOrNetwork,
  parseNetwork,
  siteOf,
} from './network.ts'

const v6 = (...groups: number[]): number[] => groups.flatMap((group) => [group >> 8, group & 255])

const ADDRESSES: readonly [string, readonly number[]][] = [
  ['10.1.2.3', [10, 1, 2, 3]],
  ['0.0.0.0', [0, 0, 0, 0]],
  ['255.255.255.255', [255, 255, 255, 255]],
  ['::', v6(0, 0, 0, 0, 0, 0, 0, 0)],
  ['::1', v6(0, 0, 0, 0, 0, 0, 0, 1)],
  ['1::', v6(1, 0, 0, 0, 0, 0, 0, 0)],
  ['1:2:3:4:5:6:7:8', v6(1, 2, 3, 4, 5, 6, 7, 8)],
  ['2001:DB8::A', v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0xa)],
  ['2001:db8:0:0:0:0:0:a', v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0xa)],
  ['64:ff9b::10.0.0.1', v6(0x64, 0xff9b, 0, 0, 0, 0, 0x0a00, 1)],
  // RFC 4291 §2.5.5.2: the same IPv4 address, however it is dressed.
  ['::ffff:10.1.2.3', [10, 1, 2, 3]],
  ['::FFFF:0a01:0203', [10, 1, 2, 3]],
  ['0:0:0:0:0:ffff:10.1.2.3', [10, 1, 2, 3]],
  // The zone says through which interface, not which address.
  ['fe80::1%eth0', v6(0xfe80, 0, 0, 0, 0, 0, 0, 1)],
  ['::ffff:10.1.2.3%lo', [10, 1, 2, 3]],
]

for (const [text, bytes] of ADDRESSES) {
  test(`${text} is read as an address`, () => {
    assert.deepEqual(parseAddress(text), bytes)
  })
}

const NO_ADDRESS = [
  '',
  'localhost',
  '10.1.2',
  '127.1',
  '010.1.2.3',
  '10.1.2.256',
  '0x0a010203',
  '167838211',
  '10.1.2.3%eth0',
  '[::1]',
  '::1::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '12345::',
  ' ::1',
  '::1\n',
  '10.0.0.0/8',
]

for (const text of NO_ADDRESS) {
  test(`${JSON.stringify(text)} is not an address`, () => {
    assert.equal(parseAddress(text), undefined)
  })
}

const NO_NETWORK = [
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '10.0.0.0/08',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0.1/8',
  '::/129',
  'fd00::1/8',
  'fe80::1%eth0',
  'fe80::%eth0/10',
  'example.com/8',
  '10.0.0.0/8 ',
]

for (const text of NO_NETWORK) {
  test(`${JSON.stringify(text)} is not a network`, () => {
    assert.equal(parseNetwork(text), undefined)
  })
}

const MEMBERS: readonly [network: string, inside: readonly string[], outside: readonly string[]][] =
  [
    ['10.1.2.3', ['10.1.2.3', '::ffff:10.1.2.3'], ['10.1.2.2', '10.1.2.4', '::1']],
    ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0', '::10.0.0.0']],
    ['172.16.0.0/12', ['172.16.0.0', '172.31.255.255'], ['172.15.255.255', '172.32.0.0']],
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255', '::ffff:1.2.3.4'], ['::', '::1']],
    ['::/0', ['::', 'ffff::'], ['0.0.0.0', '::ffff:1.2.3.4']],
    ['fe80::/10', ['fe80::1', 'febf:ffff::', 'fe80::1%eth0'], ['fec0::', 'fe7f::']],
    ['::ffff:10.0.0.0/104', ['10.9.9.9'], ['11.0.0.0', '::10.9.9.9']],
    ['::ffff:0:0/96', ['0.0.0.0', '9.9.9.9'], ['::9.9.9.9']],
  ]

for (const [text, inside, outside] of MEMBERS) {
  test(`${text} holds its own addresses and no others`, () => {
    const network = parseNetwork(text)
    assert.ok(network)
    const holds = (one: string): boolean => isIn(parseAddress(one) ?? [], network)
    assert.deepEqual([inside.filter(holds), outside.filter(holds)], [inside, []])
  })
}

test('a host is distinguished from an address, and has no port', () => {
  assert.deepEqual(parseHostOrNetwork('IDP.example.com'), { kind: 'host', host: 'idp.example.com' })
  assert.deepEqual(parseHostOrNetwork('10.0.0.0/8'), {
    kind: 'network',
    network: { address: [10, 0, 0, 0], prefix: 8 },
  })
  for (const text of ['', 'a.example:443', '[::1]', '*.example.com', '127.1', 'a.example/8']) {
    assert.equal(parseHostOrNetwork(text), undefined, text)
  }
})

const NETWORKS: Readonly<Record<string, string>> = {
  '192.0.2.1': '192.0.2.1',
  '::ffff:192.0.2.1': '192.0.2.1',
  '2001:db8:1:2::5': '2001:db8:1:2::/64',
  '2001:DB8:1:2:ffff:0:0:9': '2001:db8:1:2::/64',
  '::1': '0:0:0:0::/64',
  'fe80::1%eth0': 'fe80:0:0:0::/64',
  unknown: 'unknown',
}

for (const [address, network] of Object.entries(NETWORKS)) {
  test(`the network of ${address} is ${network}`, () => {
    assert.equal(networkOf(address), network)
  })
}

test('networks of IPv6 in one /48 begin in the same way, and no other does', () => {
  const site = siteOf(networkOf('2001:db8:1:ff::1'))
  assert.equal(site, '2001:db8:1:')
  assert.ok(networkOf('2001:db8:1:0::1').startsWith('2001:db8:1:'))
  for (const other of ['2001:db8:11::1', '2001:db8::1', '2001:db9:1::1']) {
    assert.ok(!networkOf(other).startsWith('2001:db8:1:'), other)
  }
  assert.equal(siteOf(networkOf('192.0.2.1')), undefined)
  assert.equal(siteOf('a:b:c:'), undefined)
})
