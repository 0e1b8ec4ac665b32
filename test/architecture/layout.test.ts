/** docs/architecture.md, section 2: a folder that holds too much gets a subfolder, a file that does is split. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')
const MOST_FILES = 15
const MOST_LINES = 400
/** A numbered series, which only grows: a reader looks for one number, and a released migration never moves. */
const SERIES = ['src/store/migrations']

const sources = globSync('{src,test}/**/*.ts', {
  cwd: ROOT,
  exclude: (name) => name.endsWith('node_modules') || name.endsWith('.test.ts'),
})

test('no folder has more than fifteen files, not counting tests', () => {
  const folders = Map.groupBy(sources, (file) => dirname(file))
  assert.ok(folders.size > 50)
  const full = [...folders].filter(
    ([folder, files]) => files.length > MOST_FILES && !SERIES.includes(folder),
  )
  assert.deepEqual(
    full.map(([folder, files]) => `${folder}: ${files.length}`),
    [],
  )
})

test('no file that is shipped has more than four hundred lines', () => {
  const shipped = sources.filter((file) => file.startsWith('src/'))
  const lines = (file: string) => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1
  assert.deepEqual(
    shipped.filter((file) => lines(file) > MOST_LINES),
    [],
  )
})
