/**
 * Writes the index at the top of docs/decisions.md, from the headings below it. `npm run docs` runs it, or alone:
 * `node scripts/decision-index.ts`. A test fails if the index is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { anchorOf } from './site/headings.ts'

export const PAGE = new URL('../docs/decisions.md', import.meta.url)

const HEADING = '## Index\n'

/** Returns the page with a fresh index. Throws if the page has no section for it. */
export function withIndex(page: string): string {
  const start = page.indexOf(HEADING)
  if (start === -1) throw new Error('docs/decisions.md has no section "Index"')
  const introduction = page.slice(0, start + HEADING.length)
  const afterIndex = page.slice(introduction.length)
  const decisions = afterIndex.slice(afterIndex.indexOf('\n## ') + 1)
  return `${introduction}\n${indexOf(decisions)}\n${decisions}`
}

function indexOf(decisions: string): string {
  const rows: { number: number; row: string }[] = []
  let subject = ''
  for (const [, level, heading = ''] of decisions.matchAll(/^(##|###) (.*)$/gm)) {
    const [, number, title] = /^D-(\d+) (.*)$/.exec(heading) ?? []
    if (level === '##') subject = heading
    else if (number !== undefined) {
      const row = `| [D-${number}](#${anchorOf(heading)}) | ${title} | ${subject} |\n`
      rows.push({ number: Number(number), row })
    }
  }
  rows.sort((a, b) => a.number - b.number)
  return `| Number | Decision | Subject |\n|---|---|---|\n${rows.map(({ row }) => row).join('')}`
}

/** Writes the page again, with its index. */
export function writeDecisionIndex(): void {
  writeFileSync(PAGE, withIndex(readFileSync(PAGE, 'utf8')))
}

if (import.meta.main) writeDecisionIndex()
