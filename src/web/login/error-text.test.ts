import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CATALOGUE } from '../../errors/catalogue.ts'
import { en } from '../texts/en.ts'
import { textsIn } from '../texts/languages.ts'
import { accountErrorText, errorText } from './error-text.ts'

const EN = textsIn('en')
const DE = textsIn('de')

test('every failure has a text for users: a title and whole sentences without protocol words', () => {
  for (const code of Object.keys(CATALOGUE)) {
    for (const texts of [EN, DE]) {
      for (const { title, message } of [errorText(texts, code), accountErrorText(texts, code)]) {
        assert.match(title, /^[A-Z][^.]+$/, code)
        assert.match(message, /^[A-Z].+\.$/, code)
        assert.doesNotMatch(`${title} ${message}`, /[_/]|redirect|header|token|client/i, code)
      }
    }
  }
})

test('a failure without its own text gets the general one', () => {
  assert.equal(errorText(EN, 'UNHANDLED').title, 'Something went wrong')
  assert.equal(errorText(DE, 'UNHANDLED').title, 'Etwas ist schiefgegangen')
  assert.equal(errorText(EN, 'toString').title, 'Something went wrong')
  assert.equal(accountErrorText(EN, 'UNHANDLED').title, 'Nothing was changed')
})

test('every text about a failure belongs to one that exists', () => {
  const codes = Object.keys(en).flatMap(
    (key) => /^(?:e|accountE)rror\.(\w+)\./.exec(key)?.[1] ?? [],
  )
  assert.ok(codes.length > 20)
  for (const code of codes) assert.ok(code === 'other' || code in CATALOGUE, code)
})
