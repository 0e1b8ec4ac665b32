/** Every line for a shell in README and docs is run by a test, and the comparison of what they promise can fail. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { promiseOf } from '../support/guides/guide-answer.ts'

test('every page with lines for a shell is run by a test', async () => {
  const pages = await namesOf(['README.md', ...globSync('docs/**/*.md')], /^ *```sh/m)
  const tests = await Promise.all(
    globSync('test/process/**/*.test.ts').map((file) => readFile(file, 'utf8')),
  )
  const run = new Set(
    tests.flatMap((source) =>
      [...source.matchAll(/runGuide\(\s*\w+,\s*'([^']+)'/g)].map(([, page]) => page),
    ),
  )
  assert.deepEqual(
    pages.filter((page) => !run.has(page)),
    [],
  )
})

test('no page hides lines for a shell behind another mark', async () => {
  const marked = /^ *```(bash|shell|console|zsh|shellsession)/m
  assert.deepEqual(await namesOf(['README.md', ...globSync('docs/**/*.md')], marked), [])
})

async function namesOf(files: readonly string[], pattern: RegExp): Promise<readonly string[]> {
  const found: string[] = []
  for (const file of files) if (pattern.test(await readFile(file, 'utf8'))) found.push(file)
  return found
}

const fits: readonly [language: string, shown: string, output: string][] = [
  ['text', 'a … c\n…\nlast\n', 'a b c\nx\ny\nlast\n'],
  ['text', 'a\n…\nb', 'a\nb\n'],
  ['text', 'ID       ON\n…        yes', 'ID       ON\n1234567  yes'],
  ['json', '{"a":"x…","b":"…","c":[1]}', '{"a":"xyz","b":7,"c":[1]}'],
  ['json', '{"a":1,"…":"…"}', '{"a":1,"b":2}'],
  ['json', '[{"a":1},"…"]', '[{"a":1},{"a":2}]'],
  ['http', 'HTTP/1.1 204 No Content\nX-Id: …\n', 'HTTP/1.1 204 No Content\r\nx-id: 7\r\n\r\n'],
  ['http', 'HTTP/1.1 200 OK\n\n{ "a": "…" }', 'HTTP/1.1 200 OK\r\nb: c\r\n\r\n{"a":1}'],
]

for (const [language, shown, output] of fits) {
  test(`${JSON.stringify(shown)} promises ${JSON.stringify(output)}`, () => {
    promiseOf(language, shown)?.compare(output, 'here')
  })
}

const misfits: readonly [language: string, shown: string, output: string][] = [
  ['text', 'a', 'a\nb'],
  ['text', 'a … c', 'a b\nc'],
  ['text', 'a.c', 'abc'],
  ['text', '…     yes', '12 yes'],
  ['json', '{"a":1}', '{"a":1,"b":2}'],
  ['json', '{"a":1,"…":"…"}', '{"b":2}'],
  ['json', '{"a":"…"}', '{}'],
  ['json', '{"a":"x…"}', '{"a":"y"}'],
  ['json', '[1]', '[1,2]'],
  ['json', '{}', 'no JSON'],
  ['json', '"…"', ''],
  ['http', 'HTTP/1.1 200 OK\n', 'HTTP/1.1 204 No Content\r\n\r\n'],
  ['http', 'HTTP/1.1 200 OK\nA: b\n', 'HTTP/1.1 200 OK\r\nA: c\r\n\r\n'],
  ['http', 'HTTP/1.1 200 OK\n', 'HTTP/1.1 200 OK\r\n\r\nbody'],
]

for (const [language, shown, output] of misfits) {
  test(`${JSON.stringify(shown)} does not promise ${JSON.stringify(output)}`, () => {
    const promised = promiseOf(language, shown)
    assert.throws(() => promised?.compare(output, 'here'), { code: 'ERR_ASSERTION' })
  })
}
