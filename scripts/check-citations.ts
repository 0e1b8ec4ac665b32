/**
 * Checks that the citations in code and tests can be resolved. docs/architecture.md, section 10, has their forms.
 * Run by test/architecture/citations.test.ts, or alone: `node scripts/check-citations.ts`.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A text and its name in messages. */
export interface Text {
  readonly name: string
  readonly text: string
}

export interface Pages {
  readonly decisions: string
  readonly requirements: string
  readonly edgeApi: string
  readonly specification: string
}

/** Decisions below this number may wait for their feature; later ones were made for code that exists. */
const FIRST_OF_OURS = 100

/** Returns a message for each citation that cannot be resolved, and for each of our decisions that is never cited. */
export function findBrokenCitations(sources: readonly Text[], pages: Pages): string[] {
  const decisions = matches(/^### (D-\d+) /gm, pages.decisions)
  const requirements = new Set(matches(/^- \*\*(R\d{3})\*\* /gm, pages.requirements))
  const sections = new Set(matches(/^#{2,3} (\d(?:\.\d+)?)\.? /gm, pages.edgeApi))
  const specification = readSections(pages.specification)
  const problems: string[] = []

  const cited = new Set<string>()
  for (const { name, text } of sources) {
    const prose = joinComments(text)
    const report = (citation: string, page: string) =>
      problems.push(`${name} cites ${citation}, which is not in ${page}`)

    for (const decision of matches(/\b(D-\d+)\b/g, prose)) {
      cited.add(decision)
      if (!decisions.includes(decision)) report(decision, 'docs/decisions.md')
    }
    for (const requirement of matches(/\b(R\d{3})\b/g, prose)) {
      if (!requirements.has(requirement)) report(requirement, 'docs/security-requirements.md')
    }
    for (const section of matches(/\bAPI (\d+(?:\.\d+)*)/g, prose)) {
      if (!sections.has(section)) report(`API ${section}`, 'docs/edge-api.md')
    }
    for (const rest of matches(/\bSPEC ([A-Z0-9].{0,80})/g, prose)) {
      if (!namesSection(specification, rest)) report(`SPEC ${rest}`, 'docs/specification.md')
    }
  }

  for (const [index, decision] of decisions.entries()) {
    if (decisions.indexOf(decision) < index) problems.push(`${decision} is decided twice`)
    const isOurs = Number(decision.slice(2)) >= FIRST_OF_OURS
    if (isOurs && !cited.has(decision)) problems.push(`${decision} is cited nowhere`)
  }
  return problems
}

/** The headings of the specification, without parentheses, and how many numbered points each has. */
function readSections(specification: string): Map<string, number> {
  const sections = new Map<string, number>()
  for (const section of specification.split(/^#{2,3} /m).slice(1)) {
    const heading = section.split(/ \(|\n/, 1)[0] ?? ''
    const points = matches(/^(\d+)\. /gm, section).length
    sections.set(heading, Math.max(points, sections.get(heading) ?? 0))
  }
  return sections
}

/** `Limits: …`, `Authentication 10`, `States and transitions / Auth request`. */
function namesSection(sections: Map<string, number>, citation: string): boolean {
  const heading = [...sections.keys()]
    .filter((candidate) => citation.startsWith(candidate))
    // `Authentication Query` is not point Query of `Authentication`: the longest heading counts.
    .reduce((longest, candidate) => (candidate.length > longest.length ? candidate : longest), '')
  if (heading === '') return false
  const rest = citation.slice(heading.length)
  const point = /^ (\d+)/.exec(rest)?.[1]
  if (point !== undefined) {
    return Number(point) >= 1 && Number(point) <= (sections.get(heading) ?? 0)
  }
  if (rest.startsWith(' / ')) return namesSection(sections, rest.slice(3))
  // More letters, or another capitalised word: it means a heading that does not exist.
  return !/^(\w| [A-Z][a-z])/.test(rest)
}

/** Comments without their line breaks, so that a citation may wrap. */
function joinComments(text: string): string {
  return text.replace(/\n\s*(?:\*(?!\/)|\/\/) */g, ' ')
}

/** The first group of every match. */
function matches(pattern: RegExp, text: string): string[] {
  return [...text.matchAll(pattern)].flatMap((match) => match[1] ?? [])
}

/** Its samples are wrong on purpose. */
const NOT_READ = 'test/architecture/citations.test.ts'

/** Checks the citations in src, test and scripts of a checkout. */
export function checkCheckout(root: string): string[] {
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  const sources = globSync(['{src,test}/**/*.ts', 'scripts/**/*.mjs', '.dependency-cruiser.cjs'], {
    cwd: root,
  })
    .filter((name) => name !== NOT_READ)
    .sort()
    .map((name) => ({ name, text: read(name) }))
  return findBrokenCitations(sources, {
    decisions: read('docs/decisions.md'),
    requirements: read('docs/security-requirements.md'),
    edgeApi: read('docs/edge-api.md'),
    specification: read('docs/specification.md'),
  })
}

if (import.meta.main) {
  const problems = checkCheckout(join(import.meta.dirname, '..'))
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length === 0 ? 0 : 1
}
