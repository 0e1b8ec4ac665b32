/** What a request of a browser is taken for: D-411. Tables of what browsers send, and of what attackers would like. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import type { Field } from '../http/fields.ts'
import { upstreamFields } from '../http/fields.ts'
import { clearOldLogins, keepLogin, readSessionCookie } from './cookies.ts'
import { writeToBrowser } from './send.ts'
import { isCrossSite, isNavigation, originOf, safeTarget } from './visit.ts'

const ORIGIN = 'https://app.example'
const fieldsOf = (fields: Readonly<Record<string, string>>): readonly Field[] =>
  Object.entries(fields)

describe('a navigation is', () => {
  const rows: readonly (readonly [boolean, string, Readonly<Record<string, string>>])[] = [
    [true, 'GET', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    [false, 'POST', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
    [false, 'GET', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }],
    [false, 'GET', { 'sec-fetch-mode': 'cors', accept: 'text/html' }],
    [true, 'GET', { accept: 'text/html,application/xml;q=0.9' }],
    [true, 'GET', { accept: 'application/xhtml+xml, text/html' }],
    [false, 'GET', { accept: '*/*' }],
    [false, 'GET', { accept: 'application/json' }],
    [false, 'GET', { accept: 'text/htmlx' }],
    [false, 'GET', {}],
    [false, 'GET', { accept: 'text/html', 'x-requested-with': 'XMLHttpRequest' }],
  ]
  for (const [expected, method, fields] of rows) {
    test(`${expected}: ${method} ${JSON.stringify(fields)}`, () => {
      const visit = { method, fields: fieldsOf(fields), isUpgrade: false }
      assert.equal(isNavigation(visit), expected)
      assert.equal(isNavigation({ ...visit, isUpgrade: true }), false)
    })
  }
})

describe('from another site may come', () => {
  const rows: readonly (readonly [boolean, string, Readonly<Record<string, string>>])[] = [
    [false, 'GET', { 'sec-fetch-site': 'cross-site' }],
    [false, 'POST', { 'sec-fetch-site': 'same-origin', origin: ORIGIN }],
    [false, 'POST', { origin: ORIGIN }],
    [false, 'POST', { 'sec-fetch-site': 'same-origin' }],
    // A page with Referrer-Policy: no-referrer.
    [false, 'POST', { 'sec-fetch-site': 'same-origin', origin: 'null' }],
    [true, 'POST', { origin: 'null' }],
    [true, 'POST', {}],
    [true, 'POST', { 'sec-fetch-site': 'same-site', origin: ORIGIN }],
    [true, 'POST', { 'sec-fetch-site': 'cross-site' }],
    [true, 'POST', { origin: 'https://app.example.evil' }],
    [true, 'POST', { origin: 'http://app.example' }],
    [true, 'POST', { origin: 'https://app.example:8443' }],
    [false, 'WebSocket', { origin: ORIGIN }],
    [true, 'WebSocket', {}],
    [true, 'WebSocket', { 'sec-fetch-site': 'same-origin' }],
    [true, 'WebSocket', { origin: 'null', 'sec-fetch-site': 'same-origin' }],
    [true, 'WebSocket', { origin: 'https://evil.example' }],
  ]
  for (const [expected, method, fields] of rows) {
    test(`${expected}: ${method} ${JSON.stringify(fields)}`, () => {
      const isUpgrade = method === 'WebSocket'
      const visit = { origin: ORIGIN, method: isUpgrade ? 'GET' : method, isUpgrade }
      assert.equal(isCrossSite({ ...visit, fields: fieldsOf(fields) }), expected)
    })
  }
})

test('the address to return to is a path of the same origin, and not one of the gateway', () => {
  const rows: Readonly<Record<string, string>> = {
    '/a?b=c&d=%2F#e': '/a?b=c&d=%2F',
    '//evil.example': '/',
    '/\\evil.example': '/',
    '/\t/evil.example': '/',
    'https://evil.example/': '/',
    'javascript:alert(1)': '/',
    '': '/',
    '/.latchkey/sign-out': '/',
    '/.LATCHKEY/callback': '/',
    '/a/../.latchkey/callback': '/',
    [`/${'x'.repeat(2_000)}`]: '/',
    [`/short?${'x'.repeat(2_000)}`]: '/short',
  }
  for (const [text, expected] of Object.entries(rows)) {
    assert.equal(safeTarget(text, ORIGIN), expected, text)
  }
  assert.equal(safeTarget(undefined, ORIGIN), '/')
})

test('an origin has no default port, and no text that is not a host', () => {
  assert.equal(originOf('App.example:443'), ORIGIN)
  assert.equal(originOf('app.example:8443'), 'https://app.example:8443')
  assert.equal(originOf(''), undefined)
})

test('a session cookie counts if there is one, of the right form', () => {
  const value = 'a'.repeat(43)
  const read = (...cookies: readonly string[]) =>
    readSessionCookie(cookies.map((cookie): Field => ['Cookie', cookie])).outcome
  assert.equal(read(`x=1; __Host-latchkey-gateway=${value}`), 'one')
  assert.equal(read('x=1'), 'none')
  assert.equal(read(`__Host-latchkey-gateway-login-x=${value}`), 'none')
  assert.equal(read(`__Host-latchkey-gateway=${value}; __Host-latchkey-gateway=b`), 'bad')
  assert.equal(read(`__Host-latchkey-gateway=${value}`, `__Host-latchkey-gateway=${value}`), 'bad')
  assert.equal(read('__Host-latchkey-gateway=short'), 'bad')
  assert.equal(read('__Host-latchkey-gateway'), 'none')
})

test('cookies of ours do not reach the upstream, in any spelling', () => {
  const own = { host: 'h', identityId: 'i', sessionId: 's', requestId: 'r' }
  const passed = (cookie: string) =>
    upstreamFields([['Cookie', cookie]], {
      ...own,
      remoteAddress: '127.0.0.1',
      forwardedHost: 'app.example',
    } as Parameters<typeof upstreamFields>[1])
      .filter(([name]) => name === 'Cookie')
      .map(([, value]) => value)
  assert.deepEqual(passed('a=1; __Host-latchkey-gateway=x; b=2'), ['a=1; b=2'])
  assert.deepEqual(passed('__HOST-Latchkey-account=x'), [])
  assert.deepEqual(passed('  =__Host-latchkey-gateway=x;a=1'), ['a=1'])
  assert.deepEqual(passed('a=__Host-latchkey-gateway'), ['a=__Host-latchkey-gateway'])
})

test('the oldest logins in progress make room for a new one', () => {
  const names = ['one', 'two', 'three']
  const cookies = names.map((state) => keepLogin(state, 'x'.repeat(2_500))[1].split(';')[0])
  const cleared = clearOldLogins([['Cookie', cookies.join('; ')]], 1_000)
  assert.deepEqual(
    cleared.map(([, value]) => /login-(\w+)=;.*Max-Age=0/.exec(value)?.[1]),
    ['one'],
  )
})

test('D-482: logins in progress have less room beside other cookies of the host, and always some', () => {
  const names = ['one', 'two', 'three', 'four', 'five', 'six', 'seven']
  const logins = names.map((state) => keepLogin(state, 'x'.repeat(300))[1].split(';')[0])
  const clearedBeside = (octets: number) => {
    const field = [`a=${'x'.repeat(octets)}`, ...logins].join('; ')
    return clearOldLogins([['cookie', field]], 400).map(
      ([, value]) => /login-(\w+)=;.*Max-Age=0/.exec(value)?.[1],
    )
  }
  assert.deepEqual(clearedBeside(4_000), [])
  // 7,500 - 6,000 - 400: three of about 340 octets.
  assert.deepEqual(clearedBeside(6_000), ['four', 'three', 'two', 'one'])
  assert.deepEqual(clearedBeside(20_000), ['four', 'three', 'two', 'one'])
})

test('what follows an answer happens too if the browser has reset its request over HTTP/2', () => {
  const ended: string[] = []
  const response = Object.assign(new EventEmitter(), { stream: { destroyed: true, closed: true } })
  const answer = { status: 200, fields: [], body: '', afterwards: () => void ended.push('x') }
  writeToBrowser({} as IncomingMessage, response as unknown as ServerResponse, answer, 'id')
  assert.equal(ended.length, 1)
})
