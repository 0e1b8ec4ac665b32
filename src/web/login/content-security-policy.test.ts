import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { contentSecurityPolicy } from './content-security-policy.ts'
import { errorPage } from './pages/error-page.ts'
import { FORM_POST_SCRIPT_SOURCE } from './pages/form-post-page.ts'
import { presentationIn } from './presentation.ts'
import { STYLESHEET_SOURCE } from './styles.ts'

const EN = presentationIn('en')

test('a page without a form may load, run, send and frame nothing (R022)', () => {
  assert.equal(
    contentSecurityPolicy({}),
    `default-src 'none'; style-src ${STYLESHEET_SOURCE}; img-src data:; form-action 'none'; ` +
      "frame-ancestors 'none'; base-uri 'none'",
  )
})

test('a form leads to our own origin and to the given ones (D-50)', () => {
  const policy = contentSecurityPolicy({
    formAction: ['http://localhost:3000', 'com.example.app:'],
  })
  assert.match(policy, /; form-action 'self' http:\/\/localhost:3000 com\.example\.app:; /)
  assert.match(contentSecurityPolicy({ formAction: [] }), /; form-action 'self'; /)
})

test('only the form_post page may run a script, and only that one', () => {
  assert.doesNotMatch(contentSecurityPolicy({ formAction: [] }), /script-src/)
  const policy = contentSecurityPolicy({ formAction: [], script: 'form-post' })
  assert.ok(policy.includes(`; script-src ${FORM_POST_SCRIPT_SOURCE}; `), policy)
  assert.doesNotMatch(policy, /unsafe/)
})

test('the console loads styles and scripts from our own address alone (D-357)', () => {
  const policy = contentSecurityPolicy({ formAction: [], assets: 'own' })
  assert.equal(
    policy,
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; " +
      "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
})

test('the stylesheet of a page is the one whose hash the policy names', () => {
  const page = errorPage(EN, { title: 'a', message: 'b', requestId: 'c' }).toString()
  const [style, ...others] = [...page.matchAll(/<style>(.*?)<\/style>/gs)]
  assert.equal(others.length, 0)
  const digest = createHash('sha256')
    .update(style?.[1] ?? '')
    .digest('base64')
  assert.ok(contentSecurityPolicy({}).includes(`style-src 'sha256-${digest}';`))
})

test('a source cannot end its directive or the header', () => {
  for (const source of ['', "x; script-src 'unsafe-inline'", 'a b', 'a,b', 'a;b', 'a\nb', 'é']) {
    assert.throws(() => contentSecurityPolicy({ formAction: [source] }), TypeError, source)
  }
})
