/** R113, D-211: cookies by name and by prefix, however many others stand around them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cookieOf, cookiesWith } from './cookies.ts'

const withCookies = (cookie: string | undefined) => ({ headers: { cookie } })

const READ: readonly (readonly [what: string, field: string | undefined, value?: string])[] = [
  ['no field', undefined],
  ['an empty field', ''],
  ['the cookie alone', 'a=1', '1'],
  ['the cookie behind others', 'b=2; c=3; a=1', '1'],
  ['no space behind the semicolon', 'b=2;a=1;c=3', '1'],
  ['blanks around the pair', ' \t a=1 \t ; b=2', '1'],
  ['the first of two', 'a=1; a=2', '1'],
  ['an empty value', 'b=2; a=; a=1', ''],
  ['an equals sign in the value', 'a=b=c', 'b=c'],
  ['a name that ends in the same letters', 'xa=1'],
  ['a value that has the name in it', 'b=a=1'],
  ['such a value before the cookie', 'b= a=2; a=1', '1'],
  ['a name without a value', 'a; b=2'],
  ['a name that is longer', 'ab=1'],
  ['another case', 'A=1'],
]

for (const [what, field, value] of READ) {
  test(`a cookie by its name: ${what}`, () => {
    assert.equal(cookieOf(withCookies(field), 'a'), value)
  })
}

test('cookies by the beginning of their names, in the order of the field', () => {
  const request = withCookies('login-1=a; login=b; xlogin-2=c;login-3=d ; login-=e')
  assert.deepEqual([...cookiesWith(request, 'login-')], ['1=a', '3=d', '=e'])
})

test('neither blanks nor semicolons nor almost-names hide a cookie', () => {
  for (const text of [';', ' ', 'a', '; a', 'xa=', 'xa=;', ' a ']) {
    const field = `${text.repeat(10_000)}; a=1`
    assert.equal(cookieOf(withCookies(field), 'a'), '1', text)
  }
})
