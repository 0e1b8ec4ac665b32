/** YAML within bounds, and faults that are named without quoting the file. D-43, R108. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseYaml, readYamlFile } from './read-yaml.ts'

test('plain values, lists and maps are read', () => {
  const reading = parseYaml('a: text\nb: [1, true, null]\nc: {d: 30m}\n')
  assert.deepEqual(reading, {
    ok: true,
    tree: { a: 'text', b: [1, true, null], c: { d: '30m' } },
    repeated: [],
  })
})

test('a few aliases are allowed', () => {
  const reading = parseYaml('a: &x {b: 1}\nc: *x\n')
  assert.deepEqual(reading.ok && reading.tree, { a: { b: 1 }, c: { b: 1 } })
})

const REFUSED: readonly [string, string, string, string][] = [
  ['an open bracket', 'a: 1\nb: {c: 1\n', 'line 3', 'is not valid YAML'],
  ['an open quote', 'a: "b\n', 'line 2', 'is not valid YAML'],
  ['a tab as indentation', 'a:\n\tb: 1\n', 'line 2', 'is not valid YAML'],
  ['a bare IPv6 address', 'v: 1\na: [::1]:1280\n', 'line 2', 'a value with brackets needs quotes'],
  ['a second document', 'a: 1\n---\nb: 1\n', 'line 2', 'one file is one document'],
  ['an unknown tag', 'a: 1\nb: !file x\n', 'line 2', 'tags and directives'],
  ['a binary tag', 'a: !!binary aGk=\n', 'line 1', 'tags and directives'],
  ['a list as a key', '? [a]\n: 1\n', 'line 1', 'all keys must be strings'],
  ['an alias without an anchor', 'a: *x\n', '', 'has an alias without an anchor'],
  ['a map that contains itself', 'a: &x {b: *x, c: *x}\n', '', 'is nested too deeply'],
  ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, '', 'is nested too deeply'],
]

for (const [what, text, path, part] of REFUSED) {
  test(`${what} is refused`, () => {
    const reading = parseYaml(text)
    assert.equal(reading.ok, false)
    const [problem] = reading.ok ? [] : reading.problems
    assert.equal(problem?.path, path)
    assert.ok(problem?.message.includes(part), problem?.message)
  })
}

test('a key that is in one map twice is named with its line, and the rest is still read', () => {
  const reading = parseYaml('a: 1\nb: {c: 1, d: 2}\na: 2\n')
  assert.deepEqual(reading.ok && reading.repeated, [
    { path: 'line 3', message: 'this key is in the same map twice' },
  ])
  assert.equal(reading.ok && Object.hasOwn(Object(reading.tree), 'b'), true)
})

test('aliases that multiply are refused before they are expanded', () => {
  // Attack: nine lines of nine aliases each would be a thousand million values.
  const names = [...'abcdefghi']
  const lines = names.map((name, i) => {
    const entries = Array.from({ length: 9 }, () => (i === 0 ? 'x' : `*${names[i - 1]}`))
    return `${name}: &${name} [${entries.join(', ')}]`
  })
  assert.deepEqual(parseYaml(lines.join('\n')), {
    ok: false,
    problems: [{ path: '', message: 'has an alias without an anchor, or more than 20 aliases' }],
  })
})

test('a hundred thousand open brackets are refused as nested too deeply', () => {
  assert.deepEqual(parseYaml('['.repeat(100_000)), {
    ok: false,
    problems: [{ path: 'line 1', message: 'is nested too deeply' }],
  })
})

test('a problem never quotes the file, which may hold a password', () => {
  for (const text of [
    'a: "x" hunter2\n',
    'db: *hunter2\n',
    'db: !hunter2 x\n',
    'db: !<hunter2> x\n',
    'db: !hunter2! x\n',
    'db: !!set hunter2\n',
    '{a: 1} hunter2: b\n',
    'a: 1\n hunter2: 2\n',
    '"hunter2\n',
    '@hunter2\n',
    '%hunter2 x\n',
    '} hunter2\n',
  ]) {
    const reading = parseYaml(text)
    assert.equal(reading.ok, false, text)
    assert.equal(JSON.stringify(reading).includes('hunter2'), false, JSON.stringify(reading))
  }
})

test('a byte order mark at the beginning is passed over', () => {
  const reading = parseYaml('\uFEFFv: 1\n')
  assert.deepEqual(reading.ok && reading.tree, { v: 1 })
})

const UNREADABLE: readonly [string, Uint8Array | undefined, string][] = [
  ['a missing file', undefined, 'there is no such file'],
  ['a file that is not UTF-8', Uint8Array.of(0x76, 0xff), 'is not UTF-8 text'],
  ['a file of more than 1 MiB', Buffer.alloc(1024 * 1024 + 1, '#'), 'is larger than 1 MiB'],
]

for (const [what, content, message] of UNREADABLE) {
  test(`${what} is refused`, async (t) => {
    const path = join(folder(t), 'file.yml')
    if (content !== undefined) writeFileSync(path, content)
    assert.deepEqual(await readYamlFile(path), { ok: false, problems: [{ path: '', message }] })
  })
}

test('a folder in place of the file is refused', async (t) => {
  assert.deepEqual(await readYamlFile(folder(t)), {
    ok: false,
    problems: [{ path: '', message: 'is a folder, not a file' }],
  })
})

test('a file of exactly 1 MiB is read', async (t) => {
  const path = join(folder(t), 'file.yml')
  writeFileSync(path, Buffer.alloc(1024 * 1024, '#'))
  assert.deepEqual(await readYamlFile(path), { ok: true, tree: null, repeated: [] })
})

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'latchkey-yaml-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}
