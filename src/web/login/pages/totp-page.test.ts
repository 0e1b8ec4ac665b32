import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HELPERS } from '../look/helpers-script.ts'
import { presentationIn } from '../presentation.ts'
import { totpPage } from './totp-page.ts'

const EN = presentationIn('en')

const HOSTILE = '"><script>alert(1)</script>'
const page = (changes: { error?: string } = {}) =>
  totpPage(EN, { authRequestId: 'request-1', ...changes }).toString()

test('the form posts the fields of the SPEC to the login endpoint', () => {
  assert.match(page(), /<form method="post" action="\/oidc\/login\/totp\?authRequestID=request-1">/)
  assert.match(page(), /<input type="hidden" name="id" value="request-1">/)
  assert.match(page(), /<label for="code">Code<\/label>\n<input id="code" [^>]*name="code"/)
  assert.equal(page().match(/<button type="submit">/g)?.length, 1)
})

test('phones offer the code, and letters can be typed for a recovery code', () => {
  assert.match(page(), /<input id="code" [^>]*autocomplete="one-time-code" inputmode="text"/)
  assert.match(page(), /<input id="code" [^>]*maxlength="20"/)
})

test('recovery codes are mentioned', () => {
  assert.match(page(), /recovery codes/)
})

test('a failed try shows why, and describes the field in focus with it', () => {
  assert.doesNotMatch(page(), /role="alert"|aria-describedby/)
  const failed = page({ error: 'Wrong.' })
  assert.match(failed, /<p class="alert" id="error" role="alert">Wrong\.<\/p>/)
  assert.match(failed, /<input id="code" [^>]*aria-describedby="error" autofocus>/)
  assert.doesNotMatch(failed, /<input id="code" [^>]*value=/)
})

test('the page needs no script and loads nothing', () => {
  const failed = page({ error: 'Wrong.' }).replace(HELPERS.toString(), '')
  assert.doesNotMatch(failed, /<script|javascript:|\son\w+=|\ssrc=|\sstyle=|@import|url\(/i)
  assert.deepEqual(failed.match(/\shref="[a-z]+:/g), [' href="data:'])
})

test('no value of the page can become markup', () => {
  const hostile = totpPage(EN, {
    authRequestId: HOSTILE,
    error: HOSTILE,
  }).toString()
  assert.doesNotMatch(hostile.replace(HELPERS.toString(), ''), /<script/)
  assert.equal(hostile.split('&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;').length - 1, 2)
})
