/** JSON from strangers (D-44, R014, R059); properties are in test/fuzz/bodies.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areStrings, isJsonObject, isText, parseJson, shapeOf } from './json.ts'

const DEEP = 32

const TAKEN: Readonly<Record<string, string>> = {
  'a number': ' 1 ',
  'a text': '"a"',
  nothing: 'null',
  'an object of all types': '{"a":1,"b":[true,null],"c":{"a":"b"}}',
  'equal names in different objects': '[{"a":1},{"a":{"a":2}}]',
  'names in values': '{"a":"a","b":"{\\"a\\":1,\\"a\\":2}"}',
  'names that differ in case': '{"a":1,"A":2}',
  'names that only look equal': '{"é":1,"e\u0301":2}',
}

for (const [what, text] of Object.entries(TAKEN)) {
  test(`${what} is read as JSON.parse reads it`, () => {
    assert.deepEqual(parseJson(text, DEEP), { value: JSON.parse(text) })
  })
}

const REFUSED: Readonly<Record<string, string>> = {
  'an empty text': '',
  'half an object': '{"a":1',
  'something behind the value': '{} {}',
  'a byte order mark': '\ufeff{}',
  'a comment': '{"a":1 /* no */}',
  'a name twice': '{"a":1,"a":1}',
  'a name twice, with another in between': '{"a":1,"b":2,"a":3}',
  'a name twice, once as an escape': '{"a":1,"\\u0061":2}',
  'a name twice, deep down': '[[{"x":{"a":1,"a":2}}]]',
  'a name twice, behind a nested object': '{"a":{"b":1},"a":2}',
  'a name twice, behind a nested list': '{"a":["b",["c"]],"a":2}',
  'an empty name twice': '{"":1,"":2}',
  'the name __proto__ twice': '{"__proto__":1,"__proto__":2}',
}

for (const [what, text] of Object.entries(REFUSED)) {
  test(`${what} is refused`, () => {
    assert.equal(parseJson(text, DEEP), undefined)
  })
}

test('brackets are counted up to the depth that is allowed, and not one more', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.ok(parseJson(nested(DEEP), DEEP))
  assert.equal(parseJson(nested(DEEP + 1), DEEP), undefined)
  assert.ok(parseJson('{"a":[{"b":1}]}', 3))
  assert.equal(parseJson('{"a":[{"b":1}]}', 2), undefined)
  assert.ok(parseJson('1', 0))
  assert.equal(parseJson('{}', 0), undefined)
})

test('brackets one after the other are not deep', () => {
  assert.ok(parseJson(`[${'[],{},'.repeat(100)}0]`, 2))
})

test('a member named __proto__ is a member like any other', () => {
  const value = parseJson('{"__proto__":{"isAdmin":true}}', DEEP)?.value as object
  assert.deepEqual(Object.keys(value), ['__proto__'])
  assert.equal('isAdmin' in value, false)
})

test('a string of many megabytes is read like a short one', () => {
  const value = '\\"'.repeat(8 * 1024 * 1024)
  assert.ok(parseJson(JSON.stringify(value), DEEP)?.value === value)
})

for (const [text, depth, entries] of [
  ['1', 0, 0],
  ['"[{,"', 0, 0],
  ['"\\"[[,"', 0, 0],
  ['[]', 1, 1],
  ['[1]', 1, 1],
  ['[1,2,3]', 1, 3],
  ['{"a":1,"b":[1,2],"c":{"d":"x,y"}}', 2, 6],
  ['[[],[]]', 2, 4],
  ['[[[[', 4, 4],
] as const) {
  test(`measures the shape of ${text} without parsing it`, () => {
    assert.deepEqual(shapeOf(text), { depth, entries })
  })
}

test('an object is neither a list nor null; a text is not empty; strings may be', () => {
  assert.deepEqual([{}, { a: 1 }, [], null, 'a', 1].map(isJsonObject), [
    true,
    true,
    false,
    false,
    false,
    false,
  ])
  assert.deepEqual(['a', '', 1, null, ['a']].map(isText), [true, false, false, false, false])
  assert.deepEqual([['a', ''], [], ['a', 1], 'a', null].map(areStrings), [
    true,
    true,
    false,
    false,
    false,
  ])
})
