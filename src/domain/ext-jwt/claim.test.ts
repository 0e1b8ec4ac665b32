/** The claim that names the identity (API 4.5); properties are in test/fuzz/external-jwts.test.ts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { claimedSubject, isClaimsProperty } from './claim.ts'

// RFC 6901 §5, with texts where the RFC has numbers.
const DOCUMENT: unknown = JSON.parse(
  '{"foo":["bar","baz"],"":"empty","a/b":"slash","c%d":"percent","e^f":"caret","g|h":"pipe",' +
    '"i\\\\j":"backslash","k\\"l":"quote"," ":"space","m~n":"tilde","~1":"escaped","/x":"name",' +
    '"__proto__":{"sub":"own"},"deep":{"list":[{"id":"found"}]},"number":7,"true":true,' +
    '"nothing":null,"blank":""}',
)

const FOUND: readonly [string, string][] = [
  ['/foo/0', 'bar'],
  ['/foo/1', 'baz'],
  ['/', 'empty'],
  ['/a~1b', 'slash'],
  ['/c%d', 'percent'],
  ['/e^f', 'caret'],
  ['/g|h', 'pipe'],
  ['/i\\j', 'backslash'],
  ['/k"l', 'quote'],
  ['/ ', 'space'],
  ['/m~0n', 'tilde'],
  ['/~01', 'escaped'],
  ['/~1x', 'name'],
  ['/__proto__/sub', 'own'],
  ['/deep/list/0/id', 'found'],
  ['a/b', 'slash'],
  ['m~n', 'tilde'],
]

for (const [property, subject] of FOUND) {
  test(`${property} finds ${subject}`, () => {
    assert.equal(claimedSubject(DOCUMENT, property), subject)
  })
}

const NOT_FOUND: readonly [what: string, property: string][] = [
  ['no property at all', ''],
  ['a claim that is not there', 'sub'],
  ['a pointer to nowhere', '/sub'],
  ['a step through a text', '/foo/0/0'],
  ['a step through null', '/nothing/x'],
  ['an index beyond the end', '/foo/2'],
  ['an index with a leading zero', '/foo/01'],
  ['a negative index', '/foo/-1'],
  ['the element behind the last', '/foo/-'],
  ['the length of an array', '/foo/length'],
  ['a method that every object has', 'toString'],
  ['a prototype', '/deep/__proto__'],
  ['a constructor by pointer', '/constructor/name'],
  ['a broken escape', '/m~2n'],
  ['a tilde at the end', '/m~'],
  ['a name that is written like a pointer without its slash', 'foo/0'],
  ['a number', 'number'],
  ['a truth', 'true'],
  ['null', 'nothing'],
  ['a list', 'foo'],
  ['an object', 'deep'],
  ['an empty text', 'blank'],
  ['a list by pointer', '/deep/list'],
]

for (const [what, property] of NOT_FOUND) {
  test(`R059: ${what} names no identity`, () => {
    assert.equal(claimedSubject(DOCUMENT, property), undefined)
  })
}

test('R059: a subject has 256 characters at most, and each can be stored', () => {
  const subject = (sub: string) => claimedSubject({ sub }, 'sub')
  assert.equal(subject('x'.repeat(256)), 'x'.repeat(256))
  assert.equal(subject('Zoë 🔑 O’Hara'), 'Zoë 🔑 O’Hara')
  for (const bad of ['x'.repeat(257), 'a\0b', 'a\nb', '\u009f', '\ud800', 'a\udc00b']) {
    assert.equal(subject(bad), undefined, JSON.stringify(bad))
  }
})

test('claims that are not an object name no identity', () => {
  for (const claims of [undefined, null, 'sub', 7, ['sub']]) {
    assert.equal(claimedSubject(claims, 'sub'), undefined)
  }
})

test('a property is a name or a pointer that can be read', () => {
  for (const good of ['sub', 'https://claims.example/id', '/', '/a~0b~1', 'a~b', 'x'.repeat(256)]) {
    assert.equal(isClaimsProperty(good), true, good)
  }
  for (const bad of ['', '/a~', '/a~2', '/~~', 'x'.repeat(257)]) {
    assert.equal(isClaimsProperty(bad), false, bad)
  }
})
