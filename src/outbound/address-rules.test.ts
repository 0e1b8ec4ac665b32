/**
 * Attack (R106): a caller who may name a URL makes the service ask its own neighbours: the metadata service of the
 * cloud, a database without a password, an administration page.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HostOrNetwork, parseHostOrNetwork } from '../base/network.ts'
import { type AddressRules, isLoopback, refusalOf } from './address-rules.ts'

const OPEN: AddressRules = { blockPrivateAddresses: false, allowed: [], denied: [] }
const CLOSED: AddressRules = { ...OPEN, blockPrivateAddresses: true }
const HOST = 'idp.example.com'

const METADATA = 'has an address of a cloud metadata service'
const LINK_LOCAL = 'has a link-local address'
const NO_HOST = 'has an address that does not belong to a single host'
const PRIVATE = 'has a private address, and the configuration blocks those'
const DENIED = 'is denied by the configuration'

const ALWAYS: readonly (readonly [address: string, reason: string])[] = [
  ['169.254.169.254', METADATA],
  ['::ffff:169.254.169.254', METADATA],
  ['::ffff:a9fe:a9fe', METADATA],
  ['64:ff9b::169.254.169.254', METADATA],
  ['2002:a9fe:a9fe::', METADATA],
  ['::169.254.169.254', METADATA],
  ['fd00:ec2::254', METADATA],
  ['fd00:0ec2:0:0:0:0:0:254', METADATA],
  ['fd20:ce::254', METADATA],
  ['100.100.100.200', METADATA],
  ['192.0.0.192', METADATA],
  ['168.63.129.16', METADATA],
  ['169.254.0.1', LINK_LOCAL],
  ['169.254.255.255', LINK_LOCAL],
  ['fe80::1', LINK_LOCAL],
  ['fe80::1%eth0', LINK_LOCAL],
  ['febf::1', LINK_LOCAL],
  ['0.0.0.0', NO_HOST],
  ['0.1.2.3', NO_HOST],
  ['::', NO_HOST],
  ['::ffff:0.0.0.0', NO_HOST],
  ['224.0.0.1', NO_HOST],
  ['239.255.255.255', NO_HOST],
  ['240.0.0.1', NO_HOST],
  ['255.255.255.255', NO_HOST],
  ['ff02::1', NO_HOST],
  ['2001:0:a9fe:a9fe::', NO_HOST],
  ['64:ff9b:1::a9fe:a9fe', NO_HOST],
  ['no address', 'has an address that cannot be read'],
  ['', 'has an address that cannot be read'],
]

for (const [address, reason] of ALWAYS) {
  test(`R106: ${JSON.stringify(address)} is refused always, even where it is allowed by name`, () => {
    const rules = { ...OPEN, allowed: places(HOST, '0.0.0.0/0', '::/0') }
    assert.equal(refusalOf(address, HOST, rules), reason)
  })
}

const PRIVATES = [
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '::1',
  'fc00::1',
  'fdff::1',
  'fec0::1',
  '198.18.0.1',
  '::ffff:10.0.0.1',
  '64:ff9b::10.0.0.1',
  '2002:c0a8:101::1',
]

for (const address of PRIVATES) {
  test(`R106: the private address ${address} is fine unless private addresses are blocked`, () => {
    assert.equal(refusalOf(address, HOST, OPEN), undefined)
    assert.equal(refusalOf(address, HOST, CLOSED), PRIVATE)
  })
}

for (const address of ['93.184.216.34', '172.32.0.1', '100.128.0.1', '2606:2800::1', '11.0.0.1']) {
  test(`the public address ${address} is fine`, () => {
    assert.equal(refusalOf(address, HOST, CLOSED), undefined)
  })
}

test('R106: an allowed network or host lifts the block for itself alone', () => {
  const byNetwork = { ...CLOSED, allowed: places('10.1.0.0/16') }
  assert.equal(refusalOf('10.1.2.3', HOST, byNetwork), undefined)
  assert.equal(refusalOf('::ffff:10.1.2.3', HOST, byNetwork), undefined)
  assert.equal(refusalOf('10.2.2.3', HOST, byNetwork), PRIVATE)
  const byName = { ...CLOSED, allowed: places(HOST) }
  assert.equal(refusalOf('10.2.2.3', HOST, byName), undefined)
  assert.equal(refusalOf('10.2.2.3', `evil.${HOST}`, byName), PRIVATE)
})

test('R106: what is denied is refused, whatever is allowed', () => {
  const rules = { ...OPEN, allowed: places(HOST, '10.0.0.0/8'), denied: places('10.1.0.0/16') }
  assert.equal(refusalOf('10.1.2.3', HOST, rules), DENIED)
  assert.equal(refusalOf('64:ff9b::10.1.2.3', HOST, rules), DENIED)
  assert.equal(refusalOf('10.2.2.3', HOST, rules), undefined)
  const byName = { ...OPEN, allowed: places(HOST), denied: places(HOST) }
  assert.equal(refusalOf('93.184.216.34', HOST, byName), DENIED)
  assert.equal(refusalOf('93.184.216.34', 'other.example.com', byName), undefined)
})

test('loopback is 127.0.0.0/8 and ::1, and nothing that only looks like it', () => {
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']) {
    assert.equal(isLoopback(address), true, address)
  }
  for (const address of ['128.0.0.1', '10.0.0.1', '::2', '::127.0.0.1', '0.0.0.0', 'localhost']) {
    assert.equal(isLoopback(address), false, address)
  }
})

function places(...texts: string[]): HostOrNetwork[] {
  return texts.map((text) => {
    const place = parseHostOrNetwork(text)
    assert.ok(place, text)
    return place
  })
}
