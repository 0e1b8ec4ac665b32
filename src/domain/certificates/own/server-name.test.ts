/** Which texts are names that a server certificate can carry, and of which kind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseServerName } from './server-name.ts'

test('a host name is a DNS name in lower case', () => {
  assert.deepEqual(parseServerName('LocalHost'), { type: 'dns', value: 'localhost' })
  assert.deepEqual(parseServerName('a-1.example.ORG'), { type: 'dns', value: 'a-1.example.org' })
  assert.deepEqual(parseServerName('my_host'), { type: 'dns', value: 'my_host' })
  assert.deepEqual(parseServerName('xn--mnchen-3ya.example'), {
    type: 'dns',
    value: 'xn--mnchen-3ya.example',
  })
})

test('an IPv4 address is an IP name', () => {
  assert.deepEqual(parseServerName('127.0.0.1'), { type: 'ip', value: '127.0.0.1' })
})

test('an IPv6 address is an IP name in its short form, with brackets or without', () => {
  assert.deepEqual(parseServerName('::1'), { type: 'ip', value: '::1' })
  assert.deepEqual(parseServerName('[::1]'), { type: 'ip', value: '::1' })
  assert.deepEqual(parseServerName('2001:DB8:0:0:0:0:0:1'), { type: 'ip', value: '2001:db8::1' })
})

test('an IPv6 address that ends in dotted decimals is written without dots', () => {
  assert.deepEqual(parseServerName('::ffff:192.0.2.1'), { type: 'ip', value: '::ffff:c000:201' })
})

test('what is neither a host name nor an IP address is not a server name', () => {
  const long = `${'a'.repeat(63)}.`.repeat(4)
  for (const text of [
    '',
    ' ',
    'a b',
    'a..b',
    '.a',
    'a.',
    '-a',
    'a-',
    'a,b',
    '*.example.org',
    'https://a',
    'a:443',
    '[::1]:443',
    '[localhost]',
    '[127.0.0.1]',
    'münchen.example',
    '127.1',
    '256.1.1.1',
    '1234',
    'fe80::1%eth0',
    '::1/128',
    'a\0b',
    'a\n',
    'a'.repeat(64),
    `${long}a`,
  ]) {
    assert.equal(parseServerName(text), undefined, JSON.stringify(text))
  }
})
