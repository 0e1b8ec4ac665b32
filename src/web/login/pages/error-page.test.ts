import assert from 'node:assert/strict'
import { test } from 'node:test'
import { presentationIn } from '../presentation.ts'
import { errorPage } from './error-page.ts'

const EN = presentationIn('en')

test('an error page says what happened and which request it was', () => {
  const page = errorPage(EN, {
    title: 'Page not found',
    message: 'Go back.',
    requestId: 'r-1',
  }).toString()
  assert.match(page, /<title>Page not found<\/title>/)
  assert.match(page, /<h1>Page not found<\/h1>\n<p>Go back\.<\/p>/)
  assert.match(page, /Request ID: <code>r-1<\/code>/)
  assert.doesNotMatch(page, /<form|<a |<script/)
})

test('no value of the page can become markup', () => {
  const hostile = '"></title><script>alert(1)</script>'
  const page = errorPage(EN, { title: hostile, message: hostile, requestId: hostile }).toString()
  assert.doesNotMatch(page, /<script/)
  assert.equal(page.match(/<\/title>/g)?.length, 1)
})
