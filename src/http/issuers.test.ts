/** D-2, R058: the issuers of a listener are a closed set, found by the Host of the request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Failure } from '../errors/catalogue.ts'
import { listenerAddresses } from './issuers.ts'

const to = (...hosts: string[]) => ({
  rawHeaders: hosts.flatMap((host) => ['Host', host]),
  headers: {},
})

/** The field as Node reads it, where two of them are no fault. */
const hostField = (host?: string) => ({ rawHeaders: [], headers: { host } })

const addresses = listenerAddresses([
  { host: 'id.example.com', port: 443 },
  { host: 'localhost', port: 1280 },
  { host: '::1', port: 1280 },
  { host: '::1', port: 443 },
])

test('the base URLs are those of the bind points, the default port left out', () => {
  assert.deepEqual(addresses.baseUrls, [
    'https://id.example.com',
    'https://localhost:1280',
    'https://[::1]:1280',
    'https://[::1]',
  ])
})

const FOUND: readonly [string, string][] = [
  ['id.example.com', 'https://id.example.com/oidc'],
  ['id.example.com:443', 'https://id.example.com/oidc'],
  ['ID.Example.COM', 'https://id.example.com/oidc'],
  ['localhost:1280', 'https://localhost:1280/oidc'],
  ['LOCALHOST:1280', 'https://localhost:1280/oidc'],
  ['[::1]:1280', 'https://[::1]:1280/oidc'],
  ['[0:0:0:0:0:0:0:1]:1280', 'https://[::1]:1280/oidc'],
  ['[::1]', 'https://[::1]/oidc'],
]

for (const [host, issuer] of FOUND) {
  test(`a request to ${host} has the issuer ${issuer}`, () => {
    assert.equal(addresses.issuerOf(to(host)), issuer)
    assert.equal(`${addresses.baseUrlOf(to(host))}/oidc`, issuer)
  })
}

test('D-19: the host name of a request is that of its bind point', () => {
  assert.equal(addresses.hostnameOf(hostField('LOCALHOST:1280')), 'localhost')
  assert.equal(addresses.hostnameOf(hostField('[0:0::1]:1280')), '::1')
})

for (const host of ['evil.example', 'localhost:1', 'x@localhost:1280', '', undefined]) {
  test(`R058: a request to ${JSON.stringify(host)} is shown the host name of the first bind point`, () => {
    // Attack: a Host of the attacker's choice ends up in the name that an authenticator app shows.
    assert.equal(addresses.hostnameOf(hostField(host)), 'id.example.com')
  })
}

const hasCode = (code: string) => (error: unknown) =>
  error instanceof Failure && error.code === code

const ELSEWHERE = [
  'evil.example',
  'id.example.com:1280',
  'localhost',
  'localhost:443',
  'localhost:01280',
  '127.0.0.1:1280',
  'id.example.com.',
  'id.example.com.evil.example',
  'evil.example@id.example.com',
  'id.example.com/',
  'id.example.com:443:443',
  'id.example.com:',
  '',
  '__proto__',
]

for (const host of ELSEWHERE) {
  test(`R058: a request to ${JSON.stringify(host)} has no issuer`, () => {
    // Attack: a Host of the attacker's choice becomes the issuer of a token, or a link in an answer.
    assert.throws(() => addresses.issuerOf(to(host)), hasCode('MISDIRECTED_REQUEST'))
    assert.throws(() => addresses.baseUrlOf(to(host)), hasCode('MISDIRECTED_REQUEST'))
  })
}

test('D-2: a request without Host, or with two, is refused', () => {
  assert.throws(() => addresses.issuerOf(to()), hasCode('BAD_REQUEST'))
  const two = to('id.example.com', 'evil.example')
  assert.throws(() => addresses.issuerOf(two), hasCode('BAD_REQUEST'))
  assert.throws(
    () => addresses.issuerOf(to('localhost:1280', 'localhost:1280')),
    hasCode('BAD_REQUEST'),
  )
})
