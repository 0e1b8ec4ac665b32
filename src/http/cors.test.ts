/** D-33, R112: which other origins' scripts may read an answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { corsHeaders, preflightHeaders } from './cors.ts'

const from = (origin?: string) => ({ headers: origin === undefined ? {} : { origin } })

const APP = 'https://app.example.com'
const ALLOW_ORIGIN = 'access-control-allow-origin'

test('an address without CORS never sends CORS headers', () => {
  for (const origin of [undefined, APP, 'null']) {
    assert.deepEqual(corsHeaders(from(origin), 'none', [APP]), {})
    assert.deepEqual(preflightHeaders(from(origin), 'none', [APP], ['GET']), {})
  }
})

test('an open address is open to all, and takes no credentials', () => {
  for (const origin of [undefined, APP, 'https://evil.example', 'null']) {
    assert.deepEqual(corsHeaders(from(origin), 'open', []), { [ALLOW_ORIGIN]: '*' })
    const preflight = preflightHeaders(from(origin), 'open', [], ['GET', 'HEAD'])
    assert.equal(preflight[ALLOW_ORIGIN], '*')
    assert.equal(preflight['access-control-allow-methods'], 'GET, HEAD')
    // R112: never together with `*`.
    assert.doesNotMatch(
      preflight['access-control-allow-headers'] ?? '',
      /authorization|zt-session/i,
    )
    assert.equal(preflight['access-control-allow-credentials'], undefined)
  }
})

test('a listed origin may read the answer and the fields that are ours', () => {
  const headers = corsHeaders(from(APP), 'listed', ['https://other.example', APP])
  assert.equal(headers[ALLOW_ORIGIN], APP)
  assert.equal(headers['vary'], 'Origin')
  assert.deepEqual(headers['access-control-expose-headers']?.split(', ').sort(), [
    'auth-request-id',
    'dpop-nonce',
    'expiration-seconds',
    'expires-at',
    'latchkey-ending',
    'retry-after',
    'totp-required',
    'www-authenticate',
    'x-request-id',
    'zt-session',
  ])
  assert.equal(headers['access-control-allow-credentials'], undefined)
})

test('a listed origin may send a token of either kind, and a code', () => {
  const preflight = preflightHeaders(from(APP), 'listed', [APP], ['POST'])
  assert.equal(preflight[ALLOW_ORIGIN], APP)
  assert.equal(preflight['vary'], 'Origin')
  assert.equal(preflight['access-control-allow-methods'], 'POST')
  const allowed = preflight['access-control-allow-headers']
  assert.equal(allowed, 'authorization, content-type, dpop, mfa-validation-code, zt-session')
})

const UNLISTED: Readonly<Record<string, string | undefined>> = {
  'no origin': undefined,
  'another origin': 'https://evil.example',
  'the opaque origin': 'null',
  'another scheme': 'http://app.example.com',
  'another port': 'https://app.example.com:8443',
  'a longer name': 'https://app.example.com.evil.example',
  'a shorter name': 'https://example.com',
  'another spelling': 'https://APP.example.com',
  'a slash at the end': 'https://app.example.com/',
  'a star': '*',
}

for (const [what, origin] of Object.entries(UNLISTED)) {
  test(`${what} is not the listed origin: nothing is allowed, and caches learn why`, () => {
    assert.deepEqual(corsHeaders(from(origin), 'listed', [APP]), { vary: 'Origin' })
    assert.deepEqual(preflightHeaders(from(origin), 'listed', [APP], ['GET']), { vary: 'Origin' })
  })
}

test('where no origin is listed, none is allowed', () => {
  assert.deepEqual(corsHeaders(from(APP), 'listed', []), { vary: 'Origin' })
})
