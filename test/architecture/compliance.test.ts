/**
 * Every requirement of test/compliance has a test that exists, or says why it has none; docs/compliance.md shows them.
 * D-327.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  compliancePage,
  createComplianceRecorder,
  namePattern,
  readPage,
  readSources,
  resultsIn,
  type Source,
} from '../../scripts/compliance.ts'

const SOURCES = readSources()

/** The sources that the product promises to follow. */
const PROMISED = [
  'oidc-core',
  'oidc-discovery',
  'oidc-rp-logout',
  'rfc6749',
  'rfc6750',
  'rfc7009',
  'rfc7519',
  'rfc7636',
  'rfc7662',
  'rfc8628',
  'rfc8705',
  'rfc9068',
  'rfc9207',
  'rfc9449',
  'rfc9700',
  'spec',
]

test('every source that we promise to follow is there, and no other', () => {
  assert.deepEqual(
    SOURCES.map(({ name }) => name),
    PROMISED,
  )
})

for (const { name, title, requirements } of SOURCES) {
  test(`every requirement of ${title} has a test that exists, or a reason`, () => {
    assert.ok(requirements.length > 0, name)
    for (const requirement of requirements) {
      const { section, must, test: shown, why, ...rest } = requirement
      const at = `${name} ${section}: ${must}`
      assert.deepEqual(Object.keys(rest), [], at)
      assert.match(section, /^[\w ./*-]{1,60}$/, at)
      assert.match(must, /^[\w*].{10,}\.$/, at)
      assert.equal(
        (shown === undefined) !== (why === undefined),
        true,
        `${at} needs a test or a reason`,
      )
      if (shown === undefined) assert.match(why ?? '', /^[A-Z].{15,}\.$/, at)
      else assertExists(shown, at)
    }
  })
}

/**
 * The title stands in the file as a title: quoted, after `test(` or as the first member of a row of tests; or a template
 * of the file makes it, of texts that stand there quoted.
 */
function assertExists([file, title]: readonly [string, string], at: string): void {
  assert.ok(existsSync(file), `${at}: there is no ${file}`)
  const text = readFileSync(file, 'utf8')
  const forms = [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``]
  assert.ok(
    forms.some((form) => text.includes(form)) || isMade(title, text),
    `${at}: ${file} has no test "${title}"`,
  )
}

function isMade(title: string, text: string): boolean {
  return [...text.matchAll(/`([^`\n]*\$\{[^`\n]*)`/g)].some(([, template = '']) => {
    const parts = template.split(/\$\{[^}]*\}/).map((part) => RegExp.escape(part))
    const filled = new RegExp(`^${parts.join('(.+)')}$`).exec(title)
    return filled?.slice(1).every((value) => text.includes(`'${value}'`)) ?? false
  })
}

test('a title that a template makes is found, and no other', () => {
  const [title, error] = ['$' + '{title}', '$' + '{error}']
  const text = `['R018: prompt=none', 'login_required'] test(\`${title} is refused with ${error}\`)`
  assert.equal(isMade('R018: prompt=none is refused with login_required', text), true)
  assert.equal(isMade('R018: prompt=none is refused with invalid_scope', text), false)
})

test('docs/compliance.md is what `npm run docs` writes', () => {
  const page = readPage()
  assert.equal(page, compliancePage(SOURCES, resultsIn(page)), 'run `npm run docs`')
})

test('no test of docs/compliance.md failed when it ran last', () => {
  const failed = [...resultsIn(readPage())].filter(([, result]) => result === 'failed')
  assert.deepEqual(failed, [])
})

const SOURCE: Source = {
  name: 'x',
  title: 'X',
  requirements: [
    { section: '1', must: 'A thing happens.', test: ['a.test.ts', 'a | b'] },
    { section: '2', must: 'A thing happens.', test: ['a.test.ts', `c \${d} e`] },
    { section: '3', must: 'A thing happens.', why: 'It cannot.' },
  ],
}

test('a result is kept until the test runs again, and a second run of a file decides', () => {
  const recorder = createComplianceRecorder([SOURCE])
  recorder.add('a.test.ts', { name: 'a | b', result: 'fail' })
  recorder.add('b.test.ts', { name: 'c 1 e', result: 'fail' })
  assert.deepEqual(resultsIn(compliancePage([SOURCE], recorder.results)), recorder.results)
  assert.deepEqual([...recorder.results.values()], ['failed'])
  recorder.repeat('a.test.ts')
  recorder.add('a.test.ts', { name: 'a | b', result: 'pass' })
  recorder.add('a.test.ts', { name: 'c 1 e', result: 'pass' })
  recorder.add('a.test.ts', { name: 'c 2 e', result: 'fail' })
  assert.deepEqual([...recorder.results.values()], ['passed', 'failed'])
  assert.deepEqual(resultsIn(compliancePage([SOURCE], recorder.results)), recorder.results)
})

test('a linked test that did not run, although its file did, is missed', () => {
  const recorder = createComplianceRecorder([SOURCE])
  assert.deepEqual(recorder.missing(), [])
  recorder.add('a.test.ts', { name: 'a | b', result: 'skip' })
  assert.deepEqual(recorder.missing(), [`\`a.test.ts\`: c \${d} e`])
})

test('a title with a value in it matches the names that it has when it runs', () => {
  assert.match('R1: a.b is [x]', namePattern(`R1: \${file} is [x]`))
  assert.doesNotMatch('R1: a.b is y', namePattern(`R1: \${file} is [x]`))
})
