/** D-11, R023: a page where `Accept` prefers one, JSON otherwise. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { preferencesOf, wantedContent } from './negotiation.ts'

const wanted = (accept: string | undefined) =>
  wantedContent({ headers: accept === undefined ? {} : { accept } })

test('a caller without an Accept header gets JSON', () => {
  assert.equal(wanted(undefined), 'json')
})

const BROWSERS = [
  // Chromium, Firefox, Safari, as they open a page.
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
]
const HTML = [
  ...BROWSERS,
  'text/html',
  'TEXT/HTML',
  'text/*',
  'text/html; charset=utf-8',
  'text/html;q=0.2, application/json;q=0.1',
  'application/json;q=0.9, text/html',
  'text/html, application/json',
  '*/*;q=0.1, text/html;q=0.2',
]

for (const accept of HTML) {
  test(`Accept: ${accept} gets a page`, () => assert.equal(wanted(accept), 'html'))
}

const JSON_ANSWERS = [
  '*/*',
  'application/json',
  'application/*',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json, text/plain, */*',
  'application/json, text/html',
  'application/json;q=0.2, text/html;q=0.1',
  'text/html;q=0, */*',
  '*/*, text/html;q=0.5',
  'text/plain, */*;q=0.1',
]

for (const accept of JSON_ANSWERS) {
  test(`Accept: ${accept} gets JSON`, () => assert.equal(wanted(accept), 'json'))
}

const NEITHER = [
  'text/plain',
  'image/*',
  'application/json;q=0',
  'application/json;q=0, text/html;q=0',
  'application/json; charset=iso-8859-1',
  'json',
]

for (const accept of NEITHER) {
  test(`Accept: ${accept} gets neither`, () => assert.equal(wanted(accept), undefined))
}

test('an answer that is remembered belongs to its own field', () => {
  for (let round = 0; round < 2; round++) {
    // More different fields than are remembered.
    for (let i = 100; i < 400; i++) assert.equal(wanted(`text/html;q=0.${i}`), 'html')
    assert.equal(wanted('application/json'), 'json')
    assert.equal(wanted('image/png'), undefined)
  }
})

test('D-210: a field of more than 1,000 characters counts as not sent', () => {
  const page = (length: number) => `text/html,${'x'.repeat(length - 'text/html,'.length)}`
  assert.equal(wanted(page(1_000)), 'html')
  assert.equal(wanted(page(1_001)), 'json')
  // Attack: thousands of ranges, of which none is on offer.
  assert.equal(wanted('a/b,'.repeat(7_000)), 'json')
  const codings = (count: number) =>
    preferencesOf({ headers: { 'accept-encoding': 'gzip,'.repeat(count) } }).encodings(['gzip'])
  assert.deepEqual(codings(200), ['gzip'])
  assert.deepEqual(codings(201), [])
})
