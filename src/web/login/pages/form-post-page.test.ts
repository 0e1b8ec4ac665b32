import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { presentationIn } from '../presentation.ts'
import { FORM_POST_SCRIPT_SOURCE, formPostPage } from './form-post-page.ts'

const EN = presentationIn('en')

test('the page holds a form of hidden fields, in order, and a button for browsers without scripts', () => {
  const page = formPostPage(EN, {
    action: 'http://localhost:3000/callback?a=b&c=d',
    fields: [
      ['code', 'abc'],
      ['state', 'x y'],
    ],
  }).toString()
  assert.match(page, /<form method="post" action="http:\/\/localhost:3000\/callback\?a=b&#38;c=d">/)
  assert.match(
    page,
    /<input type="hidden" name="code" value="abc">\n<input type="hidden" name="state" value="x y">\n<button type="submit">Continue<\/button>/,
  )
})

test('the only script is the one whose hash the policy names', () => {
  const page = formPostPage(EN, { action: 'http://localhost/', fields: [] }).toString()
  const [script, ...others] = [...page.matchAll(/<script>(.*?)<\/script>/gs)]
  assert.equal(others.length, 0)
  const digest = createHash('sha256')
    .update(script?.[1] ?? '')
    .digest('base64')
  assert.equal(FORM_POST_SCRIPT_SOURCE, `'sha256-${digest}'`)
})

test('no value of the page can become markup', () => {
  const hostile = '"><script>alert(1)</script>'
  const page = formPostPage(EN, { action: hostile, fields: [[hostile, hostile]] }).toString()
  assert.equal(page.match(/<script/g)?.length, 1)
  assert.equal(page.split('&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;').length - 1, 3)
})
