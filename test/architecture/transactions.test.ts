/**
 * Inside a transaction only `tx` is used: docs/architecture.md, section 5. A plain store waits for the connection that
 * the transaction holds, on SQLite for ever; on PostgreSQL it writes what no rollback takes back.
 */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '../..')

/** The signing keys and our CAs are also copies in memory under the same name. */
const IN_MEMORY = ['signingKeys', 'authorities']

/** The stores of all second factors are declared beside them (D-262). */
const declared = [
  ['src/domain/stores.ts', 'Stores'],
  ['src/domain/factors/stores.ts', 'SecondFactorStores'],
].map(([file = '', name = '']) => {
  const source = readFileSync(join(ROOT, file), 'utf8')
  const found = new RegExp(`interface ${name}\\b[^{]*\\{(.*?)\\n\\}`, 's').exec(source)
  assert.ok(found?.[1] !== undefined, `${name} in ${file}`)
  return found[1]
})
const stores = [...declared.join('\n').matchAll(/readonly (\w+):/g)]
  .map(([, name = '']) => name)
  .filter((name) => !IN_MEMORY.includes(name))

/** A use of a store that does not come from `tx`: `ports.events.insert(`, `events.insert(`. */
const PLAIN = new RegExp(`(?<![\\w.])(?:ports\\.)?(?:${stores.join('|')})\\.\\w+\\(`, 'g')

function plainUses(source: string): string[] {
  return [...source.matchAll(/\btransaction\(/g)].flatMap(({ index }) =>
    [...argumentsAt(source, source.indexOf('(', index)).matchAll(PLAIN)].map(([use]) => use),
  )
}

/** The text up to the parenthesis that closes the one at `open`. */
function argumentsAt(source: string, open: number): string {
  let depth = 0
  for (let i = open; i < source.length; i++) {
    if (source[i] === '(') depth += 1
    if (source[i] === ')') depth -= 1
    if (depth === 0) return source.slice(open, i)
  }
  return source.slice(open)
}

test('no use case uses a plain store inside a transaction', () => {
  assert.ok(stores.length > 15)
  assert.ok(stores.includes('recoveryCodes'))
  const files = globSync('src/{domain,app}/**/*.ts', { cwd: ROOT }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  const sources = files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const)
  assert.ok(sources.filter(([, source]) => source.includes('transaction(')).length > 20)
  const found = sources.flatMap(([file, source]) =>
    plainUses(source).map((use) => `${file}: ${use}`),
  )
  assert.deepEqual(found, [])
})

test('the search finds a plain store, and nothing of `tx`', () => {
  const wrong =
    'await ports.transaction(async (tx) => { await ports.events.insert(a); identities.find(b) })'
  assert.deepEqual(plainUses(wrong), ['ports.events.insert(', 'identities.find('])
  assert.deepEqual(
    plainUses('await transaction((tx) => tx.events.insert(a)); events.insert(b)'),
    [],
  )
})
