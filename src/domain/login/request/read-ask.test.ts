/** Phase two of an authorization request: what is read, and which fault has which name. SPEC Authorization; D-5, D-9. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seconds } from '../../../base/time/duration.ts'
import type { AuthorizationError } from '../../../protocol/oauth.ts'
import type { Issuer } from '../../../protocol/oidc.ts'
import type { ClientAsk } from './auth-request.ts'
import { mergeConfigTypes, readAsk, readResponseMode } from './read-ask.ts'
import type { VerifiedRedirect } from './verified-redirect.ts'

const VERIFIED = {
  clientId: 'service',
  redirectUri: 'http://127.0.0.1:4000/callback' as VerifiedRedirect,
  issuer: 'https://localhost:1280/oidc' as Issuer,
}

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

type Given = Readonly<Record<string, string | readonly string[] | undefined>>

function parameters(changes: Given = {}): ReadonlyMap<string, readonly string[]> {
  const all: Given = {
    response_type: 'code',
    scope: 'openid',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...changes,
  }
  const map = new Map<string, readonly string[]>()
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined) map.set(name, typeof value === 'string' ? [value] : value)
  }
  return map
}

function ask(changes: Given = {}): ClientAsk {
  const result = readAsk(VERIFIED, parameters(changes))
  assert.equal(result.outcome, 'asked', JSON.stringify(result))
  return result.ask
}

function refusal(changes: Given): { error: AuthorizationError; description: string } {
  const result = readAsk(VERIFIED, parameters(changes))
  assert.equal(result.outcome, 'refused')
  return result.refusal
}

test('SPEC Authorization: the least that a client may send', () => {
  assert.deepEqual(ask(), {
    ...VERIFIED,
    responseMode: 'query',
    scopes: ['openid'],
    codeChallenge: CHALLENGE,
    dpopKey: undefined,
    state: undefined,
    nonce: undefined,
    prompt: undefined,
    maxAge: undefined,
    stepUp: undefined,
    configTypes: [],
  })
})

test('SPEC Authorization: everything that a client may send', () => {
  const full = ask({
    scope: 'profile openid',
    state: 'a state',
    dpop_jkt: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    nonce: 'a nonce',
    acr_values: 'phr',
    response_mode: 'form_post',
    method: 'password',
    configTypes: ['one', 'two'],
    prompt: 'login',
    max_age: '3600',
    unknown: ['a', 'b'],
  })
  assert.deepEqual(full, {
    ...VERIFIED,
    responseMode: 'form_post',
    scopes: ['openid', 'profile'],
    codeChallenge: CHALLENGE,
    dpopKey: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
    state: 'a state',
    nonce: 'a nonce',
    prompt: 'login',
    maxAge: seconds(3_600),
    stepUp: ['passkey'],
    configTypes: ['one', 'two'],
  })
})

for (const [text, expected] of [
  ['1', 1],
  ['86400', 86_400],
  ['007', 7],
  ['999999999', 999_999_999],
] as const) {
  test(`OIDC Core §3.1.2.1: max_age=${text} is read as ${expected} seconds, and does not force a login`, () => {
    const { maxAge, prompt } = ask({ max_age: text })
    assert.deepEqual([maxAge, prompt], [seconds(expected), undefined])
  })
}

test('OIDC Core §3.1.2.1: max_age=0 is prompt=login', () => {
  assert.deepEqual([ask({ max_age: '0' }).prompt, ask({ max_age: '0' }).maxAge], ['login', 0])
})

for (const text of [
  '',
  '-1',
  '1.5',
  '1e3',
  ' 60',
  '60s',
  '+60',
  '0x10',
  '1000000000',
  '٣',
  '9'.repeat(400),
]) {
  test(`OIDC Core §3.1.2.1: max_age=${JSON.stringify(text.slice(0, 20))} is refused`, () => {
    const { error, description } = refusal({ max_age: text })
    assert.equal(error, 'invalid_request')
    assert.match(description, /^max_age must be a whole number of seconds/)
  })
}

test('RFC 6749 §3.1: a repeated max_age is refused', () => {
  const refused = refusal({ max_age: ['60', '60'] })
  assert.deepEqual(refused, { error: 'invalid_request', description: 'max_age is repeated' })
})

for (const method of ['password', 'cert', 'ext-jwt', undefined]) {
  test(`SPEC Authorization: the method hint ${method ?? 'that is not given'} is read as it is`, () => {
    const result = readAsk(VERIFIED, parameters({ method }))
    assert.ok(result.outcome === 'asked')
    assert.equal(result.method, method)
  })
}

test('R019: unknown scopes are dropped, and a part of a word is not a scope', () => {
  assert.deepEqual(ask({ scope: 'email openid  admin openid' }).scopes, ['openid'])
  assert.equal(refusal({ scope: 'openid2 xopenid OPENID' }).error, 'invalid_scope')
})

const FAULTS: readonly (readonly [what: string, changes: Given, error: AuthorizationError])[] = [
  ['no response_type', { response_type: undefined }, 'invalid_request'],
  ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
  ['the hybrid flow', { response_type: 'code id_token' }, 'unsupported_response_type'],
  ['no scope', { scope: undefined }, 'invalid_scope'],
  ['a scope without openid', { scope: 'profile' }, 'invalid_scope'],
  ['no challenge', { code_challenge: undefined }, 'invalid_request'],
  ['no challenge method', { code_challenge_method: undefined }, 'invalid_request'],
  ['the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['the method s256 in lower case', { code_challenge_method: 's256' }, 'invalid_request'],
  ['a short challenge', { code_challenge: CHALLENGE.slice(1) }, 'invalid_request'],
  ['a long challenge', { code_challenge: `${CHALLENGE}A` }, 'invalid_request'],
  ['a padded challenge', { code_challenge: `${CHALLENGE}=` }, 'invalid_request'],
  ['a challenge in base64', { code_challenge: `+/${CHALLENGE.slice(2)}` }, 'invalid_request'],
  ['a challenge with a line break', { code_challenge: `${CHALLENGE}\n` }, 'invalid_request'],
  ['an unknown response mode', { response_mode: 'fragment' }, 'invalid_request'],
  ['an unknown method', { method: 'magic' }, 'invalid_request'],
  ['a method in upper case', { method: 'CERT' }, 'invalid_request'],
  ['a method of the login paths', { method: 'username' }, 'invalid_request'],
  ['a second factor as a method', { method: 'totp' }, 'invalid_request'],
  ['an empty method', { method: '' }, 'invalid_request'],
  ['prompt=none', { prompt: 'none' }, 'login_required'],
  ['prompt=login none', { prompt: 'login none' }, 'login_required'],
  ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
  ['a request_uri', { request_uri: 'https://evil.example/' }, 'request_uri_not_supported'],
]

for (const [what, changes, error] of FAULTS) {
  test(`D-5: ${what} is refused as ${error}`, () => {
    assert.equal(refusal(changes).error, error)
  })
}

const SINGLE = [
  'response_type',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'prompt',
  'method',
  'request',
  'request_uri',
]

for (const name of SINGLE) {
  test(`R014: ${name} given twice is refused, also with the same value`, () => {
    const value = parameters().get(name)?.[0] ?? 'x'
    const { error, description } = refusal({ [name]: [value, value] })
    assert.equal(error, 'invalid_request')
    assert.equal(description, `${name} is repeated`)
  })
}

test('the answer travels in the asked mode, also when that is all that is right', () => {
  assert.equal(readResponseMode(parameters()), 'query')
  assert.equal(readResponseMode(parameters({ response_mode: 'form_post' })), 'form_post')
  assert.equal(readResponseMode(parameters({ response_mode: 'web_message' })), undefined)
  assert.equal(readResponseMode(parameters({ response_mode: ['query', 'query'] })), undefined)
})

test('D-9: configTypes are the union without repeats, in the order in which they came', () => {
  assert.deepEqual(mergeConfigTypes(['b', 'a', 'b'], ['c', 'a']), ['b', 'a', 'c'])
})

test('D-9: 64 configTypes are taken, and one more is not', () => {
  const ids = Array.from({ length: 65 }, (_, i) => `id-${i}`)
  assert.equal(mergeConfigTypes(ids.slice(0, 32), ids.slice(32, 64))?.length, 64)
  assert.equal(mergeConfigTypes(ids.slice(0, 32), ids.slice(32)), undefined)
  assert.equal(refusal({ configTypes: ids }).error, 'invalid_request')
})

test('D-9: configTypes of 2 KiB together are taken, and one byte more is not', () => {
  const half = 'x'.repeat(1_024)
  assert.equal(mergeConfigTypes([half], ['y'.repeat(1_024)])?.length, 2)
  assert.equal(mergeConfigTypes([half], ['y'.repeat(1_025)]), undefined)
  assert.equal(mergeConfigTypes(['€'.repeat(682)], [])?.length, 1) // 2046 bytes
  assert.equal(mergeConfigTypes(['€'.repeat(683)], []), undefined) // 2049 bytes
})
