/** `--port` and LATCHKEY_ADDRESS against an existing file: D-337. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigProblems } from '../problems.ts'
import { overrideAddress } from './override-address.ts'

const local = (port: number) => [
  { interface: `127.0.0.1:${port}`, address: `localhost:${port}` },
  { interface: `127.0.0.1:${port}`, address: `127.0.0.1:${port}` },
  { interface: `[::1]:${port}`, address: `[::1]:${port}` },
]
const FILE = { v: 1, web: [{ name: 'default', bindPoints: local(1280) }] }
const wants = (address?: string, port?: number) => ({ address, port })

test('--port changes the port of every bind point of the first listener', () => {
  const { tree, override } = overrideAddress(FILE, wants(undefined, 8443))
  assert.deepEqual(tree, { v: 1, web: [{ name: 'default', bindPoints: local(8443) }] })
  assert.deepEqual(override, {
    by: '--port',
    listener: 'default',
    from: 'localhost:1280',
    to: 'localhost:8443',
  })
})

test('--port leaves a public port alone that differs from the one we listen at', () => {
  const behind = { interface: '0.0.0.0:8443', address: 'id.example.com:443' }
  const file = { web: [{ name: 'a', bindPoints: [behind] }] }
  assert.deepEqual(overrideAddress(file, wants(undefined, 9000)).tree, {
    web: [{ name: 'a', bindPoints: [{ ...behind, interface: '0.0.0.0:9000' }] }],
  })
})

test('LATCHKEY_ADDRESS gives the first listener the bind points of a new home, and no other one', () => {
  const other = { name: 'b', bindPoints: [{ interface: '0.0.0.0:7', address: 'b.example:7' }] }
  const file = { ...FILE, web: [...FILE.web, other] }
  const { tree, override } = overrideAddress(file, wants('id.example.com:443'))
  const bindPoints = [{ interface: '0.0.0.0:443', address: 'id.example.com:443' }]
  assert.deepEqual(tree, { v: 1, web: [{ name: 'default', bindPoints }, other] })
  assert.equal(override?.by, 'LATCHKEY_ADDRESS')
})

test('both together: the host of the variable, the port of the option', () => {
  const { tree, override } = overrideAddress(FILE, wants('localhost:5', 8443))
  assert.deepEqual(tree, { v: 1, web: [{ name: 'default', bindPoints: local(8443) }] })
  assert.equal(override?.by, 'LATCHKEY_ADDRESS and --port')
})

test('an address that some listener has changes nothing', () => {
  const other = { name: 'b', bindPoints: [{ interface: '0.0.0.0:7', address: 'b.example:7' }] }
  const file = { ...FILE, web: [...FILE.web, other] }
  for (const address of ['localhost:1280', 'LOCALHOST:1280', '[::1]:1280', 'b.example:7']) {
    const result = overrideAddress(file, wants(address))
    assert.deepEqual(result, { tree: file }, address)
  }
  assert.deepEqual(overrideAddress(file, wants(undefined, 1280)), { tree: file })
})

test('edge.api.address follows the listener that it names', () => {
  const edge = { brand: 'x', api: { address: '127.0.0.1:1280' } }
  const at = (address?: string, port?: number) =>
    (overrideAddress({ ...FILE, edge }, wants(address, port)).tree as { edge: unknown }).edge
  assert.deepEqual(at(undefined, 8443), { brand: 'x', api: { address: '127.0.0.1:8443' } })
  assert.deepEqual(at('id.example.com:443'), { brand: 'x', api: { address: 'id.example.com:443' } })
})

test('a file without a usable listener is left to the checks', () => {
  for (const file of [undefined, 1, {}, { web: 'x' }, { web: [{ bindPoints: [{}] }] }]) {
    assert.deepEqual(overrideAddress(file, wants('localhost:1')), { tree: file })
  }
})

test('a value that is not an address is refused', () => {
  for (const address of ['nowhere', '0.0.0.0:1280', 'localhost:99999']) {
    assert.throws(() => overrideAddress(FILE, wants(address)), ConfigProblems)
  }
})
