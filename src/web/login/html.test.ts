import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from './html.ts'

test('a value is escaped for text and for quoted attributes', () => {
  const hostile = `"><script>alert('&')</script>`
  const escaped = '&#34;&#62;&#60;script&#62;alert(&#39;&#38;&#39;)&#60;/script&#62;'
  assert.equal(
    html`<a title="${hostile}">${hostile}</a>`.toString(),
    `<a title="${escaped}">${escaped}</a>`,
  )
})

test('a template inside a template is not escaped again', () => {
  assert.equal(html`<p>${html`<b>${'<'}</b>`}</p>`.toString(), '<p><b>&#60;</b></p>')
})

test('lists are joined, each element escaped for itself', () => {
  const items = ['<', html`<br>`, 3, ['&']]
  assert.equal(html`<p>${items}</p>`.toString(), '<p>&#60;<br>3&#38;</p>')
})

test('undefined is nothing, and the empty text and zero are themselves', () => {
  assert.equal(html`[${undefined}|${''}|${0}]`.toString(), '[||0]')
})

test('an object that only looks like safe HTML is not taken for it', () => {
  // Attack: JSON input cannot carry an instance, but it can carry a toString or a shape.
  const pretender = { toString: () => '<script>', map: () => ['<script>'] }
  assert.equal(html`${pretender as never}`.toString().includes('<'), false)
})
