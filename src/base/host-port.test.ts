/** What is read as HOST:PORT, and what is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatHostPort, isLoopbackHost, isWildcardHost, parseHostPort } from './host-port.ts'

const READ: readonly [string, string, number][] = [
  ['localhost:1280', 'localhost', 1280],
  ['LocalHost:1280', 'localhost', 1280],
  ['id.example.com:443', 'id.example.com', 443],
  ['login_service:8443', 'login_service', 8443],
  ['xn--bcher-kva.example:1', 'xn--bcher-kva.example', 1],
  ['127.0.0.1:0', '127.0.0.1', 0],
  ['0.0.0.0:65535', '0.0.0.0', 65_535],
  ['[::1]:1280', '::1', 1280],
  ['[0:0:0:0:0:0:0:1]:1280', '::1', 1280],
  ['[2001:DB8::A]:1280', '2001:db8::a', 1280],
  ['[::]:1280', '::', 1280],
  [`${'a'.repeat(63)}.example:1`, `${'a'.repeat(63)}.example`, 1],
]

for (const [text, host, port] of READ) {
  test(`${text.slice(0, 40)} is read as a host and a port`, () => {
    assert.deepEqual(parseHostPort(text), { host, port })
  })
}

const REFUSED: readonly [string, string][] = [
  ['an empty text', ''],
  ['a host without a port', 'localhost'],
  ['a port without a host', ':1280'],
  ['an empty port', 'localhost:'],
  ['a port above 65535', 'localhost:65536'],
  ['a port with a leading zero', 'localhost:01280'],
  ['a negative port', 'localhost:-1'],
  ['a port that is not a number', 'localhost:https'],
  ['IPv6 without brackets', '::1:1280'],
  ['brackets around a name', '[localhost]:1280'],
  ['brackets around IPv4', '[127.0.0.1]:1280'],
  ['a bracket that never closes', '[::1:1280'],
  ['too many IPv6 groups', '[1:2:3:4:5:6:7:8:9]:1280'],
  ['an IPv6 zone', '[fe80::1%eth0]:1280'],
  ['an abbreviated IPv4 address', '127.1:1280'],
  ['a hexadecimal IPv4 address', '0x7f000001:1280'],
  ['IPv4 with leading zeros', '127.0.0.001:1280'],
  ['a name ending in a number', 'example.1:1280'],
  ['a trailing dot', 'example.com.:1280'],
  ['an empty label', 'a..example:1280'],
  ['a label that begins with a hyphen', '-a.example:1280'],
  ['a label that ends with a hyphen', 'a-.example:1280'],
  ['a label of 64 characters', `${'a'.repeat(64)}.example:1280`],
  ['a name of 254 characters', `${'a.'.repeat(126)}aa:1280`],
  ['a name outside ASCII', 'bücher.example:1280'],
  ['the Kelvin sign, whose lower case is k', '\u212A.example:1280'],
  ['user info', 'me@localhost:1280'],
  ['a path', 'localhost:1280/'],
  ['a scheme', 'https://localhost:1280'],
  ['a space', ' localhost:1280'],
  ['a line break at the end', 'localhost:1280\n'],
]

for (const [what, text] of REFUSED) {
  test(`${what} is not HOST:PORT`, () => {
    assert.equal(parseHostPort(text), undefined)
  })
}

test('a default port stands in for one that is left out, and for nothing else', () => {
  assert.deepEqual(parseHostPort('example.com', 443), { host: 'example.com', port: 443 })
  assert.deepEqual(parseHostPort('[::1]', 443), { host: '::1', port: 443 })
  assert.deepEqual(parseHostPort('example.com:444', 443), { host: 'example.com', port: 444 })
  assert.equal(parseHostPort('example.com:', 443), undefined)
})

test('formatting puts the brackets back', () => {
  assert.equal(formatHostPort({ host: '::1', port: 1280 }), '[::1]:1280')
  assert.equal(formatHostPort({ host: 'localhost', port: 0 }), 'localhost:0')
})

test('localhost, all of 127.0.0.0/8 and ::1 are loopback', () => {
  for (const host of ['localhost', '127.0.0.1', '127.9.8.7', '::1']) {
    assert.equal(isLoopbackHost(host), true, host)
  }
})

test('names that only look local are not loopback', () => {
  // Attack: 127.example.com resolves wherever its owner likes.
  for (const host of [
    '127.example.com',
    'localhost.example.com',
    '128.0.0.1',
    '::',
    '0.0.0.0',
    '::2',
  ]) {
    assert.equal(isLoopbackHost(host), false, host)
  }
})

test('only 0.0.0.0 and :: stand forevery interface', () => {
  assert.equal(isWildcardHost('0.0.0.0'), true)
  assert.equal(isWildcardHost('::'), true)
  assert.equal(isWildcardHost('0.0.0.1'), false)
  assert.equal(isWildcardHost('::1'), false)
})
