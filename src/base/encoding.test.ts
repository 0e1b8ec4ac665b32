/** Bytes and text. Expected values are those of the RFCs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64url, fromBase64url, fromUtf8, sha256, utf8 } from './encoding.ts'

// RFC 4648 §10, without the padding.
const VECTORS: readonly [string, string][] = [
  ['', ''],
  ['f', 'Zg'],
  ['fo', 'Zm8'],
  ['foo', 'Zm9v'],
  ['foob', 'Zm9vYg'],
  ['fooba', 'Zm9vYmE'],
  ['foobar', 'Zm9vYmFy'],
]

for (const [text, encoded] of VECTORS) {
  test(`${JSON.stringify(text)} is ${JSON.stringify(encoded)} in base64url, and back`, () => {
    assert.equal(base64url(utf8(text)), encoded)
    assert.deepEqual(fromBase64url(encoded), utf8(text))
  })
}

test('base64url has - and _ where base64 has + and /', () => {
  assert.equal(base64url(Uint8Array.of(0xfb, 0xff)), '-_8')
  assert.deepEqual(fromBase64url('-_8'), Uint8Array.of(0xfb, 0xff))
})

const NOT_BASE64URL: Readonly<Record<string, string>> = {
  padding: 'Zg==',
  'the alphabet of base64': '+/8',
  'a space': 'Zm 9v',
  'a line break at the end': 'Zm9v\n',
  'a single character': 'Z',
  'bits behind the last byte': 'Zh',
  'a letter outside ASCII': 'Zm9é',
}

for (const [what, text] of Object.entries(NOT_BASE64URL)) {
  test(`${what} is not taken for base64url`, () => {
    assert.equal(fromBase64url(text), undefined)
  })
}

test('text survives UTF-8, a byte order mark and NUL included', () => {
  for (const text of ['', 'Zoë 🔑', '\ufeffa', 'a\0b']) {
    assert.equal(fromUtf8(utf8(text)), text)
  }
})

const NOT_UTF8: Readonly<Record<string, readonly number[]>> = {
  'a byte that never occurs': [0xff],
  'a sequence cut short': [0xc3],
  'a continuation without a start': [0xa9],
  'a slash in two bytes': [0xc0, 0xaf],
  'half a surrogate pair': [0xed, 0xa0, 0x80],
  'a character beyond the last': [0xf4, 0x90, 0x80, 0x80],
}

for (const [what, bytes] of Object.entries(NOT_UTF8)) {
  test(`${what} is not UTF-8`, () => {
    assert.equal(fromUtf8(Uint8Array.from(bytes)), undefined)
  })
}

test('SHA-256 gives the digest of FIPS 180-4 for abc, as text and as bytes', () => {
  const expected = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  assert.equal(Buffer.from(sha256('abc')).toString('hex'), expected)
  assert.equal(Buffer.from(sha256(utf8('abc'))).toString('hex'), expected)
})
