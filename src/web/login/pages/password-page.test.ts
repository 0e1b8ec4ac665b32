import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HELPERS } from '../look/helpers-script.ts'
import { presentationIn } from '../presentation.ts'
import { passwordPage } from './password-page.ts'

const EN = presentationIn('en')

const HOSTILE = '"><script>alert(1)</script>'

test('the form posts the fields of the SPEC to the login endpoint', () => {
  const page = passwordPage(EN, { authRequestId: 'request-1' }).toString()
  assert.match(
    page,
    /<form method="post" action="\/oidc\/login\/username\?authRequestID=request-1">/,
  )
  assert.match(page, /<input type="hidden" name="authRequestId" value="request-1">/)
  assert.match(
    page,
    /<input id="username" name="username" type="text" value="" [^>]*autocomplete="username"/,
  )
  assert.match(
    page,
    /<input id="password" name="password" type="password" [^>]*autocomplete="current-password"/,
  )
  assert.equal(page.match(/<button type="submit">/g)?.length, 1)
})

test('every field has a label, and the page a language, a title and a viewport', () => {
  const page = passwordPage(EN, { authRequestId: 'request-1' }).toString()
  assert.match(page, /^<!doctype html>\n<html lang="en">/)
  assert.match(page, /<title>Sign in<\/title>/)
  assert.match(page, /<h1>Sign in<\/h1>/)
  assert.match(page, /<meta name="viewport" content="width=device-width, initial-scale=1">/)
  assert.match(page, /<label for="username">Username<\/label>/)
  assert.match(page, /<label for="password">Password<\/label>/)
})

test('the page loads nothing, and has no script but the one that the policy allows', () => {
  const page = passwordPage(EN, {
    authRequestId: 'request-1',
    username: 'ada',
    error: 'No.',
  }).toString()
  const without = page.replace(HELPERS.toString(), '')
  assert.doesNotMatch(without, /<script|javascript:|\son\w+=|\ssrc=|@import|url\(/i)
  assert.deepEqual(page.match(/\shref="[a-z]+:/g), [' href="data:'])
})

test('the first visit has no error and starts at the username', () => {
  const page = passwordPage(EN, { authRequestId: 'request-1' }).toString()
  assert.doesNotMatch(page, /role="alert"|aria-describedby/)
  assert.match(page, /<input id="username" [^>]*autofocus>/)
  assert.equal(page.match(/autofocus/g)?.length, 1)
})

test('a failed try shows why, keeps the username and goes on at the password', () => {
  const page = passwordPage(EN, {
    authRequestId: 'request-1',
    username: 'ada',
    error: 'No match.',
  }).toString()
  assert.match(page, /<p class="alert" id="error" role="alert">No match\.<\/p>/)
  assert.match(page, /<input id="username" [^>]*value="ada" [^>]*aria-describedby="error">/)
  assert.match(page, /<input id="password" [^>]*aria-describedby="error" autofocus>/)
  assert.equal(page.match(/autofocus/g)?.length, 1)
})

test('a failed try never sends a password back', () => {
  const page = passwordPage(EN, {
    authRequestId: 'request-1',
    username: 'ada',
    error: 'No match.',
  }).toString()
  assert.doesNotMatch(page, /<input id="password" [^>]*value=/)
})

test('no value of the page can become markup', () => {
  const page = passwordPage(EN, {
    authRequestId: HOSTILE,
    username: HOSTILE,
    error: HOSTILE,
  }).toString()
  assert.doesNotMatch(page.replace(HELPERS.toString(), ''), /<script/)
  assert.equal(page.split('&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;').length - 1, 3)
})

test('other ways to sign in are below the form, with a link to the rest', () => {
  const links = [{ name: 'A <b>', url: '/start?a=1&b=2' }]
  const page = passwordPage(EN, { authRequestId: 'x', choice: { links, more: '/all' } }).toString()
  const link = '<a class="choice" href="/start?a=1&#38;b=2">Continue with A &#60;b&#62;</a>'
  assert.ok(page.indexOf(link) > page.indexOf('</form>'))
  assert.ok(page.includes('<a href="/all">More ways to sign in</a>'))
  const alone = passwordPage(EN, { authRequestId: 'x', choice: { links: [] } }).toString()
  assert.doesNotMatch(alone, /class="(?:choice|or|instead)"/)
})

test('the title of the tab says first that something went wrong', () => {
  const titleIn = (page: object) => /<title>(.*)<\/title>/.exec(`${page}`)?.[1]
  assert.equal(titleIn(passwordPage(EN, { authRequestId: 'a' })), 'Sign in')
  assert.equal(titleIn(passwordPage(EN, { authRequestId: 'a', error: 'No.' })), 'Error: Sign in')
})

test('D-446: browsers offer a passkey in the field for the username, until one was refused', () => {
  const page = { authRequestId: 'request-1', passkey: { challenge: 'x' } }
  const first = passwordPage(EN, page).toString()
  assert.match(first, /autocomplete="username webauthn"/)
  assert.match(first, /<form class="passkey"[^>]* data-autofill/)
  const typed = passwordPage(EN, { ...page, error: 'No match.' }).toString()
  assert.match(typed, /<form class="passkey"[^>]* data-autofill/)
  const refused = passwordPage(EN, { ...page, error: 'No.', isPasskeyRefused: true }).toString()
  assert.match(refused, /autocomplete="username"/)
  assert.match(refused, /<form class="passkey"/)
  assert.doesNotMatch(refused, /data-autofill/)
})
