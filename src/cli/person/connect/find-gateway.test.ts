/** Where the text before the slash leads, and whether a public certificate is enough there. D-423, D-425. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CommandFailed, Misuse } from '../../terminal/io.ts'
import { type ListedGateway, placeOf } from './find-gateway.ts'
import { readTarget } from './target.ts'

const LISTED: readonly ListedGateway[] = [
  {
    name: 'gw1',
    hosts: [
      { host: 'gw1.example.com', port: 0 },
      { host: '10.1.2.3', port: 9000 },
    ],
  },
  { name: 'edge', hosts: [{ host: 'edge.example.com', port: 443 }] },
]

const found = (text: string, listed = LISTED, ca?: string) => {
  const { at, isListed } = placeOf(readTarget(`${text}/db`), listed, ca)
  return `${at.host}:${at.port}${isListed ? ' listed' : ''}`
}

test('a name resolves to the first host of its router, and an address to itself', () => {
  assert.equal(found('gw1'), 'gw1.example.com:8443 listed')
  assert.equal(found('gw1:9443'), 'gw1.example.com:9443 listed')
  assert.equal(found('edge'), 'edge.example.com:443 listed')
  assert.equal(found('edge.example.com'), 'edge.example.com:443 listed')
  assert.equal(found('10.1.2.3'), '10.1.2.3:9000 listed')
  assert.equal(found('GW1.example.com'), 'gw1.example.com:8443 listed')
})

// Attack: a public certificate is easy to get for a name of one's own; only listed hosts may show one.
test('an address that no router has is not listed, nor is another port of one that has a port', () => {
  assert.equal(found('evil.example.com'), 'evil.example.com:8443')
  assert.equal(found('edge.example.com:8443'), 'edge.example.com:8443')
  assert.equal(found('gw1.example.com.evil.com'), 'gw1.example.com.evil.com:8443')
  assert.equal(found('[::1]:9000'), '::1:9000')
})

test('rejects an unknown name and lists the known ones, unless the text must be a host', () => {
  const says = (listed: readonly ListedGateway[]) => {
    try {
      return found('gw2', listed)
    } catch (error) {
      assert.ok(error instanceof CommandFailed)
      return `${error.exit} ${error.message}`
    }
  }
  assert.equal(says(LISTED), '66 there is no gateway called "gw2"; the controller lists: gw1, edge')
  assert.match(says([]), /^66 .*the controller lists none; give its address, HOST:PORT$/)
  assert.equal(found('gw2:8443'), 'gw2:8443')
  assert.equal(found('gw2', LISTED, 'ca'), 'gw2:8443')
})

for (const text of ['', 'db', '/db', 'gw1/', 'gw1/a b', 'gw1/-a', 'gw1:0/db', 'gw1:70000/db']) {
  test(`${JSON.stringify(text)} is not a target`, () => {
    assert.throws(() => readTarget(text), Misuse)
  })
}
