import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentationIn } from '../presentation.ts'
import { extJwtPage } from './ext-jwt-page.ts'

const EN = presentationIn('en')

const HOSTILE = '"><script>alert(1)</script>'
const page = (...names: readonly string[]) =>
  extJwtPage(EN, { authRequestId: 'request-1', choice: { links: [] }, names }).toString()
const chooser = (error?: string) =>
  extJwtPage(EN, {
    authRequestId: 'request-1',
    choice: { links: [{ name: 'Example & Co', url: '/start?signer=a&id=b' }] },
    names: ['Example & Co', 'Partner'],
    ...(error === undefined ? {} : { error }),
  }).toString()

test('a provider that users can be sent to is a link, and only those are shown', () => {
  const link =
    '<a class="choice" href="/start?signer=a&#38;id=b">Continue with Example &#38; Co</a>'
  assert.ok(chooser().includes(link))
  assert.doesNotMatch(chooser(), /Partner|<form|<button/)
})

test('a failed try shows why, above the choice', () => {
  assert.doesNotMatch(chooser(), /role="alert"/)
  const failed = chooser('It did not work.')
  assert.match(
    failed,
    /<p class="alert" id="error" tabindex="-1" autofocus role="alert">It did not work\.<\/p>/,
  )
  assert.ok(failed.indexOf('role="alert"') < failed.indexOf('class="choice"'))
})

test('the page names the identity providers that are accepted', () => {
  const names = page('Example Corp', 'Partner')
  assert.match(names, /<li>Example Corp<\/li>\n<li>Partner<\/li>/)
})

const main = (text: string) => text.replace(/<footer.*/s, '')

test('without an identity provider the page says so', () => {
  assert.match(page(), /none is set up here/)
  assert.doesNotMatch(main(page()), /<ul|<li>/)
})

test('the password is offered, and nothing is promised that does not work', () => {
  const link = '<a href="/oidc/login/username?authRequestID=request-1">Use a password instead</a>'
  for (const shown of [page('Example Corp'), page()]) {
    assert.ok(shown.includes(link))
    assert.equal(main(shown).match(/<a /g)?.length, 1)
    assert.doesNotMatch(shown, /<form|<button/)
  }
})

test('the page needs no script and loads nothing', () => {
  assert.doesNotMatch(page('A'), /<script|javascript:|\son\w+=|\ssrc=|\sstyle=|@import|url\(/i)
})

test('no value of the page can become markup', () => {
  const shown = extJwtPage(EN, {
    authRequestId: HOSTILE,
    choice: { links: [] },
    names: [HOSTILE],
  }).toString()
  assert.doesNotMatch(shown, /<script/)
  const links = [{ name: HOSTILE, url: HOSTILE }]
  const chosen = extJwtPage(EN, { authRequestId: HOSTILE, choice: { links }, names: [] }).toString()
  assert.doesNotMatch(chosen, /<script/)
  assert.match(shown, /<li>&#34;&#62;&#60;script&#62;alert\(1\)&#60;\/script&#62;<\/li>/)
})
