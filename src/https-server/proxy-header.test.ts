/** PROXY headers of version 2, byte by byte: D-208. Properties are in test/fuzz/proxy-header.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxyHeader } from '../../test/support/edge/proxy-header.ts'
import { LONGEST_PROXY_HEADER, readProxyHeader } from './proxy-header.ts'

const TLS = Buffer.from([0x16, 0x03, 0x01])

test('reads the source and the length of an IPv4 header', () => {
  // The example is written out, so that the parser is not tested against its own idea of a header.
  const bytes = Buffer.from(
    `${'0d0a0d0a000d0a515549540a'}${'21'}${'11'}${'000c'}${'c0000201'}${'c6336401'}${'d431'}${'0500'}`,
    'hex',
  )
  assert.deepEqual(readProxyHeader(Buffer.concat([bytes, TLS])), {
    kind: 'proxied',
    length: 28,
    address: '192.0.2.1',
    port: 54321,
  })
})

test('reads the source of an IPv6 header', () => {
  const bytes = proxyHeader({ source: '2001:db8::7', port: 4000 })
  assert.equal(bytes.length, 16 + 36)
  assert.deepEqual(readProxyHeader(bytes), {
    kind: 'proxied',
    length: 52,
    address: '2001:db8:0:0:0:0:0:7',
    port: 4000,
  })
})

test('ignores additions', () => {
  const bytes = proxyHeader({ source: '192.0.2.1', port: 1, additions: Buffer.alloc(500, 7) })
  const header = readProxyHeader(bytes)
  assert.ok(header.kind === 'proxied')
  assert.equal(header.length, bytes.length)
})

test('a health check of the balancer, and a connection of unknown origin, have the balancer’s address', () => {
  const local = proxyHeader({ command: 0x20, family: 0x00 })
  assert.deepEqual(readProxyHeader(local), { kind: 'local', length: 16 })
  const filled = proxyHeader({ command: 0x20, source: '192.0.2.1', port: 1 })
  assert.deepEqual(readProxyHeader(filled), { kind: 'local', length: 28 })
  const unspecified = proxyHeader({ command: 0x21, family: 0x00 })
  assert.deepEqual(readProxyHeader(unspecified), { kind: 'local', length: 16 })
})

test('half a header is incomplete, wherever it is cut', () => {
  const bytes = proxyHeader({ source: '192.0.2.1', port: 1, additions: Buffer.alloc(9) })
  for (let length = 0; length < bytes.length; length += 1) {
    assert.deepEqual(readProxyHeader(bytes.subarray(0, length)), { kind: 'incomplete' })
  }
})

const INVALID: Readonly<Record<string, readonly [Buffer, string]>> = {
  'version 1': [
    Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.1 54321 1280\r\n'),
    'does not begin with a header of version 2',
  ],
  TLS: [TLS, 'does not begin with a header of version 2'],
  'a request': [Buffer.from('GET / HTTP/1.1\r\n'), 'does not begin with a header of version 2'],
  'another version': [proxyHeader({ command: 0x31 }), 'has an unknown version or command'],
  'another command': [proxyHeader({ command: 0x22 }), 'has an unknown version or command'],
  UDP: [proxyHeader({ family: 0x12, source: '192.0.2.1' }), 'is not of a TCP connection'],
  'a UNIX socket': [
    proxyHeader({ family: 0x31, additions: Buffer.alloc(216) }),
    'is not of a TCP connection',
  ],
  'IPv6 with the bytes of IPv4': [
    proxyHeader({ family: 0x21, source: '192.0.2.1' }),
    'is too short for its addresses',
  ],
  'more than the longest': [
    proxyHeader({ source: '192.0.2.1', additions: Buffer.alloc(LONGEST_PROXY_HEADER) }),
    'is too long',
  ],
}

for (const [what, [bytes, reason]] of Object.entries(INVALID)) {
  test(`${what} is not a header`, () => {
    assert.deepEqual(readProxyHeader(bytes), { kind: 'invalid', reason })
  })
}
