/** Every command runs in some test: as it is meant, then as a process of its own too, and with its commonest mistake. */
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { COMMANDS } from '../../src/cli/table/commands.ts'
import { ROWS } from '../support/process/command-rows.ts'

test('every command has a row, and every row a command', () => {
  const words = COMMANDS.map((one) => one.words)
  assert.deepEqual(Object.keys(ROWS).sort(), words.sort())
})

test('every row names two tests that there are', async () => {
  const folder = new URL('./', import.meta.url)
  const titles = new Map<string, readonly string[]>()
  const texts = new Map<string, string>()
  for (const file of await readdir(folder)) {
    const text = await readFile(new URL(file, folder), 'utf8')
    texts.set(file, text)
    const found = [...text.matchAll(/\btest\(\s*(['"`])((?:(?!\1).)*)\1/g)]
    titles.set(
      file,
      found.map(([, , title = '']) => title),
    )
  }
  for (const [words, { done, mistaken }] of Object.entries(ROWS)) {
    for (const [file, title] of [done, mistaken]) {
      assert.ok(titles.get(`${file}.test.ts`)?.includes(title), `${words}: ${file}: ${title}`)
    }
    // 'migrate-store', or 'context', 'use': the mistakes of a verb are those of any of its entities.
    const typed = words.replaceAll(' ', "',\\s*'")
    assert.match(
      texts.get(`${done[0]}.test.ts`) ?? '',
      new RegExp(`'${typed}'|latchkey ${words}\\b`),
      words,
    )
  }
})
