/** Properties of the PROXY header parser (D-208): no input makes it throw, and it returns what was written. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LONGEST_PROXY_HEADER, readProxyHeader } from '../../src/https-server/proxy-header.ts'
import { rounds } from '../support/chance/rounds.ts'
import { proxyHeader } from '../support/edge/proxy-header.ts'

// Short in CI, long on demand.
fc.configureGlobal({ numRuns: rounds(1000) })

const byte = fc.integer({ min: 0, max: 255 })
const source = fc.oneof(
  fc.ipV4(),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.map((group) => group.toString(16)).join(':')),
)

test('reads what a balancer writes, with any additions and any following bytes', () => {
  const port = fc.integer({ min: 0, max: 0xffff })
  const additions = fc.uint8Array({ maxLength: 1_000 })
  fc.assert(
    fc.property(source, port, additions, fc.uint8Array(), (address, port, additions, behind) => {
      const header = proxyHeader({ source: address, port, additions })
      const read = readProxyHeader(Buffer.concat([header, behind]))
      assert.deepEqual(read, { kind: 'proxied', length: header.length, address, port })
    }),
  )
})

test('decides about any bytes after the signature within the longest header', () => {
  const seen = new Set<string>()
  const command = fc.oneof(fc.constantFrom(0x20, 0x21), byte)
  const family = fc.oneof(fc.constantFrom(0x00, 0x11, 0x21), byte)
  fc.assert(
    fc.property(
      command,
      family,
      fc.uint8Array({ maxLength: 3_000, size: 'max' }),
      (command, family, rest) => {
        const bytes = proxyHeader({ command, family, additions: rest })
        const read = readProxyHeader(bytes.subarray(0, LONGEST_PROXY_HEADER))
        assert.notEqual(read.kind, 'incomplete')
        if (read.kind === 'local' || read.kind === 'proxied')
          assert.equal(read.length, bytes.length)
        seen.add(read.kind)
      },
    ),
  )
  assert.deepEqual([...seen].toSorted(), ['invalid', 'local', 'proxied'])
})

test('no bytes make the parser throw, and bytes without the signature are never accepted', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const { kind } = readProxyHeader(Buffer.from(bytes))
      assert.ok(kind === 'invalid' || kind === 'incomplete')
    }),
  )
})
