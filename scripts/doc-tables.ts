/**
 * Writes the tables of docs/errors.md, docs/sdk-authors.md and docs/audit.md from their sources, between marks in the pages; the text around
 * them is written by hand. `npm run docs` runs it, or alone: `node scripts/doc-tables.ts`. Tests fail if a page and its
 * source differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { EVENT_TYPES, type EventFacts } from '../src/domain/audit/event-types.ts'
import { ERROR_GROUPS } from '../src/errors/catalogue.ts'
import { type ErrorEntry, oauthErrorOf } from '../src/errors/entry.ts'
import { NEXT_ACTION_NAMES, NEXT_ACTIONS } from '../src/errors/next-actions.ts'
import { AUTHORIZATION_ERRORS } from '../src/protocol/oauth.ts'
import { BAD_DAYS } from '../src/testing/bad-days.ts'
import { row } from './compliance.ts'

export const ERRORS_PAGE = new URL('../docs/errors.md', import.meta.url)
export const SDK_PAGE = new URL('../docs/sdk-authors.md', import.meta.url)
export const TESTING_PAGE = new URL('../docs/testing-clients.md', import.meta.url)
export const AUDIT_PAGE = new URL('../docs/audit.md', import.meta.url)

/** Returns docs/errors.md with fresh tables. Throws if a mark is missing. */
export function withErrorTables(page: string): string {
  const errors = Object.entries(AUTHORIZATION_ERRORS).map(([error, when]) => [code(error), when])
  return replace(
    replace(page, 'codes', 'src/errors', errorCodes()),
    'authorization-errors',
    'src/protocol/oauth.ts',
    table(['`error`', 'When it happens'], errors),
  )
}

/** Returns docs/sdk-authors.md with a fresh table of what to do about each code. Throws if a mark is missing. */
export function withActionTable(page: string): string {
  const codes = Object.values(ERROR_GROUPS).flatMap((group) =>
    Object.entries<ErrorEntry>(group).map(([name, { next }]) => ({ name, next })),
  )
  const rows = NEXT_ACTION_NAMES.map((action) => {
    const named = codes.filter(({ next }) => next.includes(action)).map(({ name }) => code(name))
    return [`<a id="next-${action}"></a>${code(action)}`, NEXT_ACTIONS[action], named.join(', ')]
  })
  return replace(page, 'actions', 'src/errors', table(['`next`', 'What to do', 'Codes'], rows))
}

/** Returns docs/testing-clients.md with a fresh table of the scenarios. Throws if a mark is missing. */
export function withScenarioTable(page: string): string {
  const rows = Object.entries(BAD_DAYS).map(([name, { what, goodClient }]) => [
    code(name),
    what,
    goodClient,
  ])
  const head = ['Scenario', 'What happens', 'What a good client does']
  return replace(page, 'scenarios', 'src/testing/bad-days.ts', table(head, rows))
}

/** Returns docs/audit.md with fresh tables. Throws if a mark is missing. */
export function withAuditTables(page: string): string {
  const source = 'src/domain/audit'
  return replace(replace(page, 'types', source, eventTypes()), 'reasons', source, reasons())
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [
    row(...head),
    `|${'---|'.repeat(head.length)}`,
    ...rows.map((cells) => row(...cells)),
  ].join('\n')
}

function errorCodes(): string {
  const groups: readonly (readonly [string, Readonly<Record<string, ErrorEntry>>])[] =
    Object.entries(ERROR_GROUPS)
  const head = ['Code', 'Status', 'OAuth name', '`next`', 'When it happens', 'What to do']
  return groups
    .map(([title, entries]) => {
      const rows = Object.entries(entries).map(([name, entry]) => [
        `<a id="${name}"></a>${code(name)}`,
        String(entry.status),
        code(oauthErrorOf(entry)),
        entry.next.map(code).join(', '),
        entry.when,
        entry.advice,
      ])
      return `### ${title}\n\n${table(head, rows)}`
    })
    .join('\n\n')
}

const TYPES: readonly (readonly [string, EventFacts])[] = Object.entries(EVENT_TYPES)

function eventTypes(): string {
  const rows = TYPES.map(([type, { what, details }]) => {
    const members = Object.entries(details).map(
      ([name, when]) => `${code(name)}${when === 'always' ? '' : '?'}`,
    )
    return [code(type), what, members.join(', ')]
  })
  return table(['Type', 'What happened', '`details`'], rows)
}

function reasons(): string {
  return TYPES.filter(([, facts]) => facts.reasons !== undefined)
    .map(([type, facts]) => {
      const rows = Object.entries(facts.reasons ?? {}).map(([reason, what]) => [code(reason), what])
      return `### ${code(type)}\n\n${table(['Reason', ''], rows)}`
    })
    .join('\n\n')
}

function code(text: string): string {
  return `\`${text}\``
}

const END = '<!-- end of what is generated -->'

/** The page with `text` between the marks of this name. */
function replace(page: string, name: string, source: string, text: string): string {
  const begin = `<!-- ${name}: written by \`npm run docs\` from ${source}; change it there -->`
  const start = page.indexOf(begin)
  const end = page.indexOf(END, start)
  if (start < 0 || end < 0) throw new Error(`the page has no marks for "${name}"`)
  return `${page.slice(0, start)}${begin}\n\n${text}\n\n${page.slice(end)}`
}

/** Writes the pages again. */
export function writeDocTables(): void {
  writeFileSync(ERRORS_PAGE, withErrorTables(readFileSync(ERRORS_PAGE, 'utf8')))
  writeFileSync(SDK_PAGE, withActionTable(readFileSync(SDK_PAGE, 'utf8')))
  writeFileSync(TESTING_PAGE, withScenarioTable(readFileSync(TESTING_PAGE, 'utf8')))
  writeFileSync(AUDIT_PAGE, withAuditTables(readFileSync(AUDIT_PAGE, 'utf8')))
}

if (import.meta.main) writeDocTables()
