import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extJwtPage } from './ext-jwt-page.ts'

const HOSTILE = '"><script>alert(1)</script>'
const page = (...names: readonly string[]) =>
  extJwtPage({ authRequestId: 'request-1', signers: names.map((name) => ({ name })) }).toString()

test('the page names the identity providers that are accepted', () => {
  const names = page('Example Corp', 'Partner')
  assert.match(names, /<li>Example Corp<\/li>\n<li>Partner<\/li>/)
})

test('without an identity provider the page says so', () => {
  assert.match(page(), /none is set up here/)
  assert.doesNotMatch(page(), /<ul|<li>/)
})

test('the password is offered, and nothing is promised that does not work', () => {
  const link = '<a href="/oidc/login/username?authRequestID=request-1">Use a password instead</a>'
  for (const shown of [page('Example Corp'), page()]) {
    assert.ok(shown.includes(link))
    assert.equal(shown.match(/<a /g)?.length, 1)
    assert.doesNotMatch(shown, /<form|<button/)
  }
})

test('the page needs no script and loads nothing', () => {
  assert.doesNotMatch(page('A'), /<script|javascript:|\son\w+=|\ssrc=|\sstyle=|@import|url\(/i)
})

test('no value of the page can become markup', () => {
  const shown = extJwtPage({ authRequestId: HOSTILE, signers: [{ name: HOSTILE }] }).toString()
  assert.doesNotMatch(shown, /<script/)
  assert.match(shown, /<li>&#34;&#62;&#60;script&#62;alert\(1\)&#60;\/script&#62;<\/li>/)
})
