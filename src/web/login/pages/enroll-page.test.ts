/** Setting up an app in a browser: SPEC TOTP enrollment during an OIDC flow, D-17, D-19, R087. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../../base/encoding.ts'
import { provisioningUrl } from '../../../protocol/totp.ts'
import { HELPERS } from '../look/helpers-script.ts'
import { presentationIn } from '../presentation.ts'
import { qrCodeSvg } from '../qr-code.ts'
import { enrollPage, enrollStartPage } from './enroll-page.ts'

const EN = presentationIn('en')

const HOSTILE = '"><script>alert(1)</script>'
const ESCAPED = '&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;'
const secret = utf8('12345678901234567890')
const URL = provisioningUrl({ issuer: 'id.example.org', name: 'ada', secret })
const CODES = Array.from({ length: 20 }, (_, i) => `ABC2${String.fromCharCode(65 + i)}7`)

const first = () =>
  enrollPage(EN, {
    authRequestId: 'request-1',
    provisioningUrl: URL,
    recoveryCodes: CODES,
  }).toString()
const again = () =>
  enrollPage(EN, { authRequestId: 'request-1', provisioningUrl: URL, error: 'Wrong.' }).toString()

test('the way in is a button that posts: a link would start enrollments wherever it is followed', () => {
  const page = enrollStartPage(EN, { authRequestId: 'request-1' }).toString()
  assert.match(
    page,
    /<form method="post" action="\/oidc\/login\/totp\/enroll\?authRequestID=request-1">/,
  )
  assert.match(page, /<input type="hidden" name="authRequestId" value="request-1">/)
  assert.equal(page.match(/<button type="submit">/g)?.length, 1)
  assert.doesNotMatch(page.replace(/<footer.*/s, ''), /<a |role="alert"/)
})

test('what went wrong at the start is said', () => {
  const page = enrollStartPage(EN, { authRequestId: 'request-1', error: 'No.' }).toString()
  assert.match(page, /<p class="alert" id="error" tabindex="-1" autofocus role="alert">No\.<\/p>/)
})

test('the form posts the fields of the SPEC to the endpoint that verifies', () => {
  assert.match(first(), /<form method="post" action="\/oidc\/login\/totp\/enroll\/verify">/)
  assert.match(first(), /<input type="hidden" name="authRequestId" value="request-1">/)
  assert.match(first(), /<input id="code" [^>]*name="code" [^>]*inputmode="numeric"/)
})

test('the QR code is that of the provisioning URL, and has a name', () => {
  const picture = String(qrCodeSvg(URL, 'QR code for your authenticator app'))
  for (const page of [first(), again()]) assert.equal(page.split(picture).length, 2)
})

test('an app on the same device is one link away', () => {
  assert.ok(first().includes(`<a href="${URL.replaceAll('&', '&#38;')}">`))
})

test('the key can be typed: in groups of four, which are copied without spaces', () => {
  // RFC 4648 §6 of the secret.
  const groups = ['GEZD', 'GNBV', 'GY3T', 'QOJQ', 'GEZD', 'GNBV', 'GY3T', 'QOJQ']
  const key = groups.map((group) => `<span>${group}</span>`).join('')
  for (const page of [first(), again()]) {
    assert.ok(page.includes(`<code class="key">${key}</code>`))
  }
})

test('R087: the recovery codes are shown at the start', () => {
  for (const code of CODES) assert.ok(first().includes(`<li><code>${code}</code></li>`), code)
  assert.equal(first().match(/<li><code>/g)?.length, 20)
})

test('on paper the recovery codes say whose they are', () => {
  const line = '<p class="printed">Recovery codes for <bdi>ada</bdi>, id.example.org</p>'
  assert.ok(first().includes(line))
})

test('R087: the recovery codes are not shown again after a wrong code', () => {
  assert.doesNotMatch(again(), /class="codes"/)
  for (const code of CODES) assert.ok(!again().includes(code), code)
})

test('a user who has not saved the recovery codes is shown how to get new ones', () => {
  assert.match(
    again(),
    /<a href="\/oidc\/login\/totp\/enroll\?authRequestID=request-1">start over</,
  )
  assert.doesNotMatch(first(), /start over/)
})

test('a wrong code is said at the field, which is in focus', () => {
  assert.doesNotMatch(first(), /role="alert"|aria-describedby|autofocus/)
  assert.match(again(), /<p class="alert" id="error" role="alert">Wrong\.<\/p>\n<label for="code">/)
  assert.match(again(), /<input id="code" [^>]*aria-describedby="error" autofocus>/)
})

test('a name that is too long for a QR code leaves the link and the key', () => {
  const name = '🔑'.repeat(256)
  const url = provisioningUrl({ issuer: 'id.example.org', name, secret })
  const page = enrollPage(EN, { authRequestId: 'request-1', provisioningUrl: url }).toString()
  assert.doesNotMatch(page, /class="qr"/)
  assert.match(page, /<a href="otpauth:\/\/totp\//)
  assert.match(page, /<span>GEZD<\/span>/)
})

test('the pages load nothing, and have no script but the one that the policy allows', () => {
  for (const page of [first(), again(), enrollStartPage(EN, { authRequestId: 'a' }).toString()]) {
    const without = page.replace(HELPERS.toString(), '')
    assert.doesNotMatch(without, /<script|javascript:|\son\w+=|\ssrc=|\sstyle=|@import|url\(/i)
  }
})

test('no value of the pages can become markup', () => {
  const page = enrollPage(EN, {
    authRequestId: HOSTILE,
    provisioningUrl: `otpauth://totp/a?secret=${encodeURIComponent(HOSTILE)}`,
    recoveryCodes: [HOSTILE],
    error: HOSTILE,
  }).toString()
  assert.doesNotMatch(page.replace(HELPERS.toString(), ''), /<script/)
  assert.equal(page.split(ESCAPED).length - 1, 3)
  const start = enrollStartPage(EN, { authRequestId: HOSTILE, error: HOSTILE }).toString()
  assert.doesNotMatch(start, /<script/)
  assert.equal(start.split(ESCAPED).length - 1, 2)
})
