/** docs/audit.md and the code say the same, in both directions: types, members of details, and reasons. API 4.8, R109. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { AUDIT_PAGE, withAuditTables } from '../../scripts/doc-tables.ts'
import { EVENT_TYPES, type EventFacts } from '../../src/domain/audit/event-types.ts'

const PAGE = readFileSync(AUDIT_PAGE, 'utf8')
const TYPES: readonly (readonly [string, EventFacts])[] = Object.entries(EVENT_TYPES)

/** The rows of the table below a heading, cell by cell. */
function table(heading: string): readonly (readonly string[])[] {
  const section = PAGE.split(`\n${heading}\n`)[1]?.split(/\n#{2,3} /)[0]
  assert.ok(section !== undefined, `docs/audit.md has no section ${heading}`)
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((line) => {
    const cells = line.split('|').slice(1, -1)
    return cells.map((cell) => cell.trim())
  })
}

test('docs/audit.md lists every type of event with its details, and no other', () => {
  const documented = table('## Types').map(([type, , details]) => ({ type, details }))
  const known = TYPES.map(([type, facts]) => ({
    type: `\`${type}\``,
    details: Object.entries(facts.details)
      .map(([name, when]) => `\`${name}\`${when === 'always' ? '' : '?'}`)
      .join(', '),
  }))
  type Row = { readonly type: string | undefined }
  const byType = (a: Row, b: Row) => String(a.type).localeCompare(String(b.type))
  assert.deepEqual(documented.toSorted(byType), known.toSorted(byType))
})

test('docs/audit.md says of every type what happened', () => {
  for (const [type = '', what = ''] of table('## Types')) assert.match(what, /^[A-Z`].+\.$/, type)
})

/**
 * All code that runs in a service or in a command that writes events, except the list of types and their explanations.
 */
const EMITTERS = globSync('src/{domain,app,http}/**/*.ts', {
  cwd: new URL('../../', import.meta.url),
})
  .filter((path) => !path.endsWith('.test.ts') && !path.startsWith('src/domain/audit/'))
  .map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8'))
  .join('\n')

test('every type of event is emitted somewhere', () => {
  assert.ok(EMITTERS.includes("'login.succeeded'"), 'the sources are found')
  const silent = TYPES.map(([type]) => type).filter((type) => !EMITTERS.includes(`'${type}'`))
  assert.deepEqual(silent, [])
})

test('every reason of an event is used somewhere', () => {
  const reasons = TYPES.flatMap(([type, facts]) =>
    Object.keys(facts.reasons ?? {}).map((reason) => ({ type, reason })),
  )
  // Built from a verdict: `secondary-jwt-${verdict}`.
  const isMade = (reason: string) =>
    ['missing', 'expired', 'invalid'].some((verdict) => reason === `secondary-jwt-${verdict}`) &&
    EMITTERS.includes('`secondary-jwt-${')
  const silent = reasons.filter(
    ({ reason }) => !EMITTERS.includes(`'${reason}'`) && !isMade(reason),
  )
  assert.deepEqual(silent, [])
})

test('docs/audit.md is what `npm run docs` writes', () => {
  assert.equal(PAGE, withAuditTables(PAGE), 'run `npm run docs`')
})

for (const [type, facts] of TYPES) {
  const reasons = Object.keys(facts.reasons ?? {})
  if (reasons.length === 0) continue
  test(`docs/audit.md explains every reason of ${type}, and no other`, () => {
    const rows = table(`### \`${type}\``)
    assert.deepEqual(
      rows.map(([reason]) => reason),
      reasons.map((reason) => `\`${reason}\``),
    )
    for (const [reason = '', meaning = ''] of rows) assert.match(meaning, /\w/, reason)
  })
}
