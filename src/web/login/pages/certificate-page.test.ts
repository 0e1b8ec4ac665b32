import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HELPERS } from '../look/helpers-script.ts'
import { presentationIn } from '../presentation.ts'
import { certificatePage } from './certificate-page.ts'

const EN = presentationIn('en')

const HOSTILE = '"><script>alert(1)</script>'
const page = (changes: { hasCertificate?: boolean; error?: string } = {}) =>
  certificatePage(EN, { authRequestId: 'request-1', hasCertificate: true, ...changes }).toString()

test('the form posts the auth request to the login endpoint', () => {
  assert.match(page(), /<form method="post" action="\/oidc\/login\/cert\?authRequestID=request-1">/)
  assert.match(page(), /<input type="hidden" name="authRequestId" value="request-1">/)
  assert.equal(page().match(/<button type="submit">/g)?.length, 1)
})

test('D-6: the password is offered, with and without a certificate', () => {
  const link = '<a href="/oidc/login/username?authRequestID=request-1">Use a password instead</a>'
  assert.ok(page().includes(link))
  assert.ok(page({ hasCertificate: false }).includes(link))
})

test('without a certificate there is nothing to press', () => {
  const without = page({ hasCertificate: false })
  assert.doesNotMatch(without, /<form|<button/)
  assert.match(without, /did not send a certificate/)
})

test('a failed try shows why', () => {
  assert.doesNotMatch(page(), /role="alert"/)
  for (const hasCertificate of [true, false]) {
    const failed = page({ hasCertificate, error: 'No.' })
    assert.match(
      failed,
      /<p class="alert" id="error" tabindex="-1" autofocus role="alert">No\.<\/p>/,
    )
  }
})

test('the page needs no script and loads nothing', () => {
  const without = page().replace(HELPERS.toString(), '')
  assert.doesNotMatch(without, /<script|javascript:|\son\w+=|\ssrc=|\sstyle=|@import|url\(/i)
})

test('no value of the page can become markup, or another parameter of the link', () => {
  const hostile = certificatePage(EN, {
    authRequestId: `${HOSTILE}&id=other`,
    hasCertificate: true,
    error: HOSTILE,
  }).toString()
  assert.doesNotMatch(hostile.replace(HELPERS.toString(), ''), /<script/)
  assert.match(hostile, /authRequestID=%22%3E%3Cscript%3Ealert\(1\)%3C%2Fscript%3E%26id%3Dother"/)
})
