import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentationIn } from '../presentation.ts'
import { secondProofPage } from './second-proof-page.ts'

const EN = presentationIn('en')

const HOSTILE = '"><script>alert(1)</script>'
const link = { name: 'Example', url: '/start?signer=a&factor=secondary' }

test('the page has one way on, which leads to the identity provider', () => {
  const page = secondProofPage(EN, { link }).toString()
  const expected =
    '<a class="choice only" href="/start?signer=a&#38;factor=secondary">Continue with Example</a>'
  assert.ok(page.includes(expected))
  assert.equal(page.match(/<a /g)?.length, 1)
  assert.doesNotMatch(page, /<form|<button|<input|role="alert"/)
})

test('a failed try shows why, above the way on', () => {
  const page = secondProofPage(EN, { link, error: 'No.' }).toString()
  assert.match(
    page,
    /<p class="alert" id="error" tabindex="-1" autofocus role="alert">No\.<\/p>\n<a class="choice only"/,
  )
})

test('the page needs no script, and no value of it can become markup', () => {
  const page = secondProofPage(EN, {
    link: { name: HOSTILE, url: HOSTILE },
    error: HOSTILE,
  }).toString()
  assert.doesNotMatch(page, /<script|javascript:|\son\w+=|\ssrc=|\sstyle=|@import|url\(/i)
  assert.equal(page.split('&#34;&#62;&#60;script&#62;').length - 1, 3)
})
