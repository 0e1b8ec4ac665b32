/** The pages of the site: where each comes from, where it goes, and what is in it. */
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Heading, headingsOf } from './headings.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface Source {
  /** From the root of the repository: `docs/cli.md`. */
  readonly path: string
  /** In the site: `cli.html`. */
  readonly url: string
  readonly title: string
  readonly headings: readonly Heading[]
}

const BESIDE_DOCS = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']

export function readSources(): readonly Source[] {
  const paths = [...globSync('docs/**/*.md', { cwd: ROOT }), ...BESIDE_DOCS].sort()
  return paths.map((path) => {
    const headings = headingsOf(readFileSync(posix.join(ROOT, path), 'utf8'))
    return { path, url: urlOf(path), title: headings[0]?.text ?? path, headings }
  })
}

/** Returns the page for a path that Eleventy passes: there, every page is below docs. Throws if the path is unknown. */
export function sourceAt(sources: readonly Source[], inputPath: string): Source {
  const path = inputPath.replace(/^\.\//, '')
  const source = sources.find((one) => one.path === path || `docs/${one.path}` === path)
  if (source === undefined) throw new Error(`${path} is not a page of the site`)
  return source
}

function urlOf(path: string): string {
  return path
    .replace(/^docs\//, '')
    .replace(/\.md$/, '.html')
    .toLowerCase()
}

/**
 * Returns where a link of a page leads in the site, or undefined if it leads to a file of the repository that is not a
 * page. Links to other sites stay as they are.
 */
export function linkIn(sources: readonly Source[], from: Source, href: string): string | undefined {
  if (/^[a-z]+:/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (path === '') return hash
  const target = posix.join(posix.dirname(from.path), path)
  const wanted = target === 'README.md' ? 'docs/index.md' : target
  const found = sources.find((one) => one.path === wanted)
  return found && `${relativeUrl(from.url, found.url)}${target === 'README.md' ? '' : hash}`
}

/** The site works below any address, so all of its links are relative. */
export function relativeUrl(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to)
}
