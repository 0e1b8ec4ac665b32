import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '../../web/login/html.ts'
import { NO_BRANDING } from '../../web/login/look/branding.ts'
import { page } from '../answer.ts'
import * as http from '../pages/presented.ts'
import { askedLanguageCookie, type RequestLine } from './language.ts'

const LOOK = http.lookOf(NO_BRANDING)
const presentationOf = (request: RequestLine) => http.presentationOf(request, LOOK)

const languageOf = (headers: Record<string, string>, url = '/account', method = 'GET') =>
  presentationOf({ method, url, headers }).language

test('D-342: Accept-Language decides, in any region and by weight, and English is the default', () => {
  const cases = {
    de: 'de',
    'de-CH, en;q=0.5': 'de',
    'en-GB,en;q=0.9,de;q=0.8': 'en',
    'fr, de;q=0.2': 'de',
    fr: 'en',
    '*': 'en',
    '': 'en',
    'en;q=0, de;q=0': 'en',
  }
  for (const [field, language] of Object.entries(cases)) {
    assert.equal(languageOf({ 'accept-language': field }), language, field)
  }
  assert.equal(languageOf({}), 'en')
  // D-210: a field that is too long counts as not sent.
  assert.equal(languageOf({ 'accept-language': `de,${'x-y,'.repeat(300)}` }), 'en')
})

test('D-342: the choice of the user beats Accept-Language, and that of the application beats both', () => {
  const wants = { 'accept-language': 'de' }
  const chosen = '__Host-latchkey-language=en'
  assert.equal(languageOf({ ...wants, cookie: chosen }), 'en')
  const asked = '__Host-latchkey-asked-language=de'
  assert.equal(languageOf({ cookie: `${chosen}; ${asked}` }), 'de')
  assert.equal(languageOf({ cookie: asked }, '/account?ui_locales=en'), 'en')
  for (const value of ['fr', '', 'constructor', '__proto__', '<b>']) {
    assert.equal(languageOf({ ...wants, cookie: `__Host-latchkey-language=${value}` }), 'de')
  }
})

test('the switch is an address that GET shows again, without the switch that it already has', () => {
  const addressOf = (url: string, method = 'GET') =>
    presentationOf({ method, url, headers: {} }).address
  assert.equal(addressOf('/account?ui_locales=de'), '/account')
  assert.equal(addressOf('/a?x=1&ui_locales=de&y=2'), '/a?x=1&y=2')
  assert.equal(addressOf('/a', 'POST'), undefined)
})

// Attack: a link to //evil.example on our host shows a page whose switch leads to that host (R020).
test('R020: the switch never leads to another host', () => {
  for (const url of ['//evil.example/x', '/\\evil.example', 'https://evil.example/', '*']) {
    assert.equal(presentationOf({ method: 'GET', url, headers: {} }).address, undefined, url)
  }
})

test('D-342: a page names its language, and a choice is remembered in a __Host- cookie', () => {
  const shown = (url: string, cookie = '') =>
    http.presented(page(200, html`x`), { method: 'GET', url, headers: { cookie } }, LOOK)
  assert.equal(shown('/account').headers?.['content-language'], 'en')
  assert.equal(shown('/account').headers?.['vary'], 'Accept, Accept-Language, Cookie')
  assert.equal(shown('/account').cookies, undefined)
  const answer = shown('/account?ui_locales=de', '__Host-latchkey-asked-language=en')
  assert.equal(answer.headers?.['content-language'], 'de')
  assert.deepEqual(answer.cookies, [
    '__Host-latchkey-language=de; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=31536000',
    '__Host-latchkey-asked-language=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0',
  ])
})

test('an application names languages in the order of its preference, and unknown ones are skipped', () => {
  const asked =
    '__Host-latchkey-asked-language=de; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600'
  assert.deepEqual(askedLanguageCookie(['fr-CA de-AT en']), [asked])
  assert.deepEqual(askedLanguageCookie(['fr']), [])
  assert.deepEqual(askedLanguageCookie([]), [])
  assert.deepEqual(askedLanguageCookie(['x'.repeat(300)]), [])
})
