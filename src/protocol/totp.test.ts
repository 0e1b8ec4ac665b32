/** One-time codes with the vectors of the RFCs, and the URL that carries the secret to an app: R084, R091. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../base/encoding.ts'
import { instant } from '../base/time/instant.ts'
import { provisioningUrl, totpCode, totpStep } from './totp.ts'

/** The secret of both RFCs. */
const SECRET = utf8('12345678901234567890')

// RFC 6238 appendix B, SHA-1. The table has eight digits; six are the same number modulo a million.
const RFC_6238: readonly [seconds: number, step: number, eightDigits: string][] = [
  [59, 0x1, '94287082'],
  [1_111_111_109, 0x23523ec, '07081804'],
  [1_111_111_111, 0x23523ed, '14050471'],
  [1_234_567_890, 0x273ef07, '89005924'],
  [2_000_000_000, 0x3f940aa, '69279037'],
  [20_000_000_000, 0x27bc86aa, '65353130'],
]

for (const [seconds, step, eightDigits] of RFC_6238) {
  test(`RFC 6238: at ${seconds} s it is step ${step}, and the code ends ${eightDigits}`, () => {
    assert.equal(totpStep(instant(seconds * 1_000)), step)
    assert.equal(totpCode(SECRET, step), eightDigits.slice(2))
  })
}

// RFC 4226 appendix D, by counter from 0.
const RFC_4226 = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ')

test('RFC 4226: the first ten codes are those of appendix D', () => {
  assert.deepEqual(
    RFC_4226.map((_, step) => totpCode(SECRET, step)),
    RFC_4226,
  )
})

test('a step begins with its first millisecond and ends before the first of the next', () => {
  assert.equal(totpStep(instant(29_999)), 0)
  assert.equal(totpStep(instant(30_000)), 1)
  assert.equal(totpStep(instant(59_999)), 1)
})

test('a code keeps the zeros in front', () => {
  // 1 111 111 109 s: 07081804 in the table, 081804 in six digits.
  assert.equal(totpCode(SECRET, 0x23523ec), '081804')
})

const URLS: Readonly<Record<string, readonly [name: string, label: string]>> = {
  'a plain name': ['ada', 'ada'],
  'a mail address': ['ada@example.org', 'ada%40example.org'],
  'a name with a colon': ['ops:ada', 'ops%3Aada'],
  'a name with a space': ['Ada Lovelace', 'Ada%20Lovelace'],
  'a name with a question mark': ['ada?secret=AAAA', 'ada%3Fsecret%3DAAAA'],
  'a name with a fragment': ['ada#1', 'ada%231'],
  'a name with an ampersand': ['a&issuer=evil', 'a%26issuer%3Devil'],
  'a name with a slash': ['a/../b', 'a%2F..%2Fb'],
  'a name with a percent sign': ['100%41', '100%2541'],
  'a name with a plus sign': ['a+b', 'a%2Bb'],
  'a name with a line break': ['a\r\nb', 'a%0D%0Ab'],
  'a name outside ASCII': ['Zoë 🔑', 'Zo%C3%AB%20%F0%9F%94%91'],
  'half a surrogate pair': ['a\ud800', 'a%EF%BF%BD'],
}

for (const [what, [name, label]] of Object.entries(URLS)) {
  test(`R091: ${what} stays inside the label`, () => {
    // RFC 4226's secret in base32, RFC 4648 §6.
    const expected = `otpauth://totp/id.example.org:${label}?issuer=id.example.org&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ`
    assert.equal(provisioningUrl({ issuer: 'id.example.org', name, secret: SECRET }), expected)
  })
}

test('R091: the issuer is escaped in the label and in the query', () => {
  const url = provisioningUrl({ issuer: '::1 & co', name: 'ada', secret: SECRET })
  assert.match(url, /^otpauth:\/\/totp\/%3A%3A1%20%26%20co:ada\?issuer=%3A%3A1%20%26%20co&secret=/)
})
