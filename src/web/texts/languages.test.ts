import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { de } from './de.ts'
import { en, type TextKey } from './en.ts'
import { LANGUAGES, type Language, partsOf, textsIn } from './languages.ts'

const KEYS = Object.keys(en) as TextKey[]
const namesIn = (text: string) => partsOf(text).filter((_, i) => i % 2 === 1)

test('every language has every text, and no other', () => {
  for (const language of Object.keys(LANGUAGES) as Language[]) {
    for (const key of KEYS) {
      assert.ok(textsIn(language).template(key).trim() !== '', `${language} ${key}`)
    }
  }
  assert.deepEqual(Object.keys(de).toSorted(), KEYS.toSorted())
})

test('a translation fills in the same names as the English text', () => {
  for (const key of KEYS) {
    const names = namesIn(en[key]).toSorted()
    // The form for one may spell the number out.
    if (key.endsWith('.one')) continue
    assert.deepEqual(namesIn(de[key]).toSorted(), names, key)
  }
})

test('every text is used', () => {
  const sources = ['..', '../../http', '../../gateway/browser']
    .flatMap((folder) => {
      const root = new URL(`${folder}/`, import.meta.url)
      return readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
        .filter((name) => !/^texts[/\\]/.test(name))
        .map((name) => readFileSync(new URL(name, root), 'utf8'))
    })
    .join('\n')
  // Keys with a part that is filled in: `page.${page}` uses every key that it can become.
  const patterns = [...sources.matchAll(/`((?:[a-z]\w*\.)+)\$\{[^}]+\}((?:\.\w+)*)`/g)].map(
    ([, start = '', end = '']) => new RegExp(`^${start}[\\w-]+${end}$`),
  )
  const inGroup = /^(?:error|accountError)\.\w+\.(?:title|message)$/
  for (const key of KEYS) {
    const base = key.replace(/\.(?:one|other)$/, '')
    const isUsed =
      sources.includes(`'${key}'`) ||
      sources.includes(`'${base}'`) ||
      inGroup.test(key) ||
      patterns.some((pattern) => pattern.test(key))
    assert.ok(isUsed, `no page uses ${key}`)
  }
})

test('no two keys of one group look alike, and every text is free of markup', () => {
  for (const key of KEYS) {
    assert.match(key, /^[a-z][A-Za-z]*(?:\.[\w-]+)+$/, key)
    for (const text of [en[key], de[key]]) assert.doesNotMatch(text, /[<>&]| {2}/, key)
  }
})

test('a count chooses the form, and a time is written as the language writes it', () => {
  const at = Date.UTC(2026, 0, 2, 3, 4)
  assert.equal(textsIn('en').count('sessions.more', 1).startsWith('One older session'), true)
  assert.equal(textsIn('de').count('sessions.more', 12).startsWith('12 ältere'), true)
  assert.equal(textsIn('en').time(at), '2 Jan 2026, 03:04 UTC')
  assert.equal(textsIn('de').time(at), '02.01.2026, 03:04 UTC')
})

test('German addresses readers as Sie', () => {
  for (const key of KEYS)
    assert.doesNotMatch(de[key], /\b(?:du|dich|dir|dein\w*|euch|euer)\b/i, key)
})
