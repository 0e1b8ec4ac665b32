/** Tags in forms: what is written is read back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTags, writeTags } from './tags-text.ts'

test('tags are written one on each line, and read back as they were', () => {
  const tags = {
    team: 'payments',
    level: 3,
    'a = b': 'x = y',
    '"quoted"': '"quoted"',
    ' blank ': ' blank ',
    on: true,
    'looks like a number': '12',
    lines: 'one\ntwo',
    nothing: null,
    empty: '',
    tilde: '~[1]',
  }
  assert.deepEqual(readTags(writeTags(tags)), tags)
  assert.deepEqual(readTags(writeTags(tags).replaceAll('\n', '\r\n')), tags)
  assert.match(writeTags(tags), /^team = payments\nlevel = 3\n"a = b" = x = y\n/)
  assert.deepEqual(readTags(''), {})
  assert.deepEqual(readTags('\n  a=b  \n\n'), { a: 'b' })
})

test('a line that is not a tag is refused, and a name that comes twice', () => {
  for (const text of ['nothing', '= value', '"open = value', 'a = 1\na = 2']) {
    assert.throws(() => readTags(text), { code: 'COULD_NOT_VALIDATE' }, text)
  }
  // An object keeps no member of that name; the body is refused for it.
  assert.ok(Object.hasOwn(readTags('__proto__ = x'), '__proto__'))
})
