/** Where plain HTTP is sent: D-339. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listenerAddresses } from '../issuers.ts'
import { plainHttpAnswer } from './plain-http.ts'

const addresses = listenerAddresses([
  { host: 'id.example.com', port: 443 },
  { host: 'localhost', port: 1280 },
])
const locationOf = (target: string, host?: string, method = 'GET') =>
  plainHttpAnswer({ method, target, host }, addresses).headers['location']

test('a GET is redirected to the configured address that it names, with its path', () => {
  const answer = plainHttpAnswer(
    { method: 'GET', target: '/a?b=c', host: 'localhost:1280' },
    addresses,
  )
  assert.equal(answer.status, 308)
  assert.equal(answer.headers['location'], 'https://localhost:1280/a?b=c')
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.body, 'This port speaks HTTPS. Use https://localhost:1280 instead.\n')
})

// Attack: an open redirect by the Host field, which a cache or a link checker may follow.
test('R058: a Host that is not configured never becomes the target', () => {
  for (const host of [
    undefined,
    'evil.example',
    'localhost:1',
    'localhost:1280@evil.example',
    '',
  ]) {
    assert.equal(locationOf('/a', host), 'https://id.example.com/a', String(host))
  }
})

// Attack: another header field, or another authority, by way of the path.
test('a target that is not a plain path is left out', () => {
  for (const target of [
    '',
    '*',
    'http://evil.example/',
    '@evil.example',
    'evil:1',
    '/a\u0001',
    '/ä',
  ]) {
    assert.equal(locationOf(target), 'https://id.example.com/', target)
  }
  assert.equal(locationOf(`/${'a'.repeat(2_001)}`), 'https://id.example.com/')
  assert.equal(locationOf('//evil.example'), 'https://id.example.com//evil.example')
})

test('R021: a request with a body is not sent again', () => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']) {
    const answer = plainHttpAnswer({ method, target: '/oidc/token', host: undefined }, addresses)
    assert.equal(answer.status, 400, method)
    assert.equal(answer.headers['location'], undefined)
    assert.match(
      answer.body,
      /^This port speaks HTTPS\. Use https:\/\/id\.example\.com instead\.\n$/,
    )
  }
})

test('a HEAD gets the header of a GET', () => {
  const answer = plainHttpAnswer({ method: 'HEAD', target: '/', host: undefined }, addresses)
  assert.equal(answer.status, 308)
  assert.equal(answer.body, '')
})
