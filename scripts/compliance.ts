/**
 * docs/compliance.md: every requirement of test/compliance/*.json with the test that shows it and the result of its last
 * run. `npm test` records the results (scripts/test.mjs); `npm run docs` writes the page again and keeps them. D-327.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

const COMPLIANCE_PAGE = new URL('../docs/compliance.md', import.meta.url)

/** With `test`: shown by it. With `why`: does not apply, or is not met, and why. */
export interface Requirement {
  readonly section: string
  readonly must: string
  readonly test?: readonly [file: string, title: string]
  readonly why?: string
}

export interface Source {
  readonly name: string
  readonly title: string
  readonly requirements: readonly Requirement[]
}

export type Result = 'passed' | 'failed'
/** By `keyOf` a test. */
export type Results = ReadonlyMap<string, Result>

const FOLDER = new URL('../test/compliance/', import.meta.url)

export function readSources(): readonly Source[] {
  const paths = globSync(`${fileURLToPath(FOLDER)}*.json`).toSorted()
  return paths.map((path) => {
    const source: Omit<Source, 'name'> = JSON.parse(readFileSync(path, 'utf8'))
    return { name: basename(path, '.json'), ...source }
  })
}

export const keyOf = ([file, title]: readonly [string, string]) => `\`${file}\`: ${title}`

/** Matches the name of a test as it runs: `${…}` in a title stands for any text. */
export function namePattern(title: string): RegExp {
  const parts = title.split(/\$\{[^}]*\}/)
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join('.*')}$`)
}

const INTRODUCTION = `# Compliance

<!-- Written by \`npm test\` and \`npm run docs\` from test/compliance. Change it there. -->

Every requirement that binds the service, in our words, with the section that has it, the test that shows it, and the
result of that test when it ran last. A requirement without a test fails the run, and so does a test that no longer exists
(D-327). What does not apply, or is not met, says why. Duties of clients are listed where \`latchkey/client\` has a test.
`

export function compliancePage(sources: readonly Source[], results: Results): string {
  const all = sources.flatMap(({ requirements }) => requirements)
  const shown = all.filter(({ test }) => test !== undefined)
  const sum = `${all.length} requirements: ${shown.length} shown by tests, ${all.length - shown.length} that do not apply or are not met.`
  return [INTRODUCTION, `${sum}\n`, ...sources.map((source) => section(source, results))].join('\n')
}

function section({ title, requirements }: Source, results: Results): string {
  const shown = requirements.flatMap(({ section: at, must, test }) =>
    test === undefined
      ? []
      : [row(at, must, keyOf(test), results.get(keyOf(test)) ?? 'not run yet')],
  )
  const others = requirements.flatMap(({ section: at, must, why }) =>
    why === undefined ? [] : [row(at, must, why)],
  )
  return [
    `## ${title}\n`,
    row('Section', 'Requirement', 'Shown by', 'Last result'),
    '|---|---|---|---|',
    ...shown,
    ...(others.length === 0
      ? []
      : ['', row('Section', 'Requirement', 'Why it has no test'), '|---|---|---|', ...others]),
    '',
  ].join('\n')
}

/** A row of cells, with the characters that would end a cell escaped. */
export function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** The results that a page has. */
export function resultsIn(page: string): Results {
  const rows = page.matchAll(/^\| [^\n]* \| (`[^`\n]+`: [^\n]+) \| (passed|failed) \|$/gm)
  return new Map(
    Array.from(rows, ([, key = '', result]) => [key.replaceAll('\\|', '|'), result as Result]),
  )
}

/** Writes the page again, with these results in place of the earlier ones. */
export function writeCompliance(fresh: Results = new Map()): void {
  const before = readPage()
  const page = compliancePage(readSources(), new Map([...resultsIn(before), ...fresh]))
  if (page !== before) writeFileSync(COMPLIANCE_PAGE, page)
}

export function readPage(): string {
  try {
    return readFileSync(COMPLIANCE_PAGE, 'utf8')
  } catch {
    return ''
  }
}

interface Outcome {
  readonly name: string
  readonly result: 'pass' | 'fail' | 'skip'
}

/** Collects the results of the linked tests during a run. A test that runs several times passes if every run did. */
export function createComplianceRecorder(sources: readonly Source[] = readSources()) {
  const linked = sources
    .flatMap(({ requirements }) =>
      requirements.flatMap(({ test }) => (test === undefined ? [] : [test])),
    )
    .map((test) => ({ key: keyOf(test), file: test[0], pattern: namePattern(test[1]) }))
  const results = new Map<string, Result>()
  const skipped = new Set<string>()
  const files = new Set<string>()
  return {
    add(file: string, { name, result }: Outcome): void {
      files.add(file)
      for (const { key, file: wanted, pattern } of linked) {
        if (wanted !== file || !pattern.test(name)) continue
        if (result === 'skip') skipped.add(key)
        else if (result === 'fail') results.set(key, 'failed')
        else if (results.get(key) !== 'failed') results.set(key, 'passed')
      }
    },
    /** A file runs again: its second run decides. */
    repeat(file: string): void {
      for (const { key, file: wanted } of linked) if (wanted === file) results.delete(key)
    },
    /** The linked tests that did not run, although their file did. */
    missing(): readonly string[] {
      const gone = linked.filter(
        ({ key, file }) => files.has(file) && !results.has(key) && !skipped.has(key),
      )
      return [...new Set(gone.map(({ key }) => key))]
    },
    results: results as Results,
  }
}
