/** Links from page to page lead somewhere: to a file that is there, and to a heading in it. */
import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { NAVIGATION } from '../../scripts/site/navigation.ts'
import { readSources } from '../../scripts/site/sources.ts'

const PAGES = [...globSync('*.md'), ...globSync('docs/**/*.md')]

test('every link of a page leads to a file and a heading that are there', async () => {
  const lost: string[] = []
  for (const page of PAGES) {
    for (const [, link = ''] of (await proseOf(page)).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link)) continue
      const [path = '', heading] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      const isThere =
        existsSync(target) && (heading === undefined || (await headingsOf(target)).has(heading))
      if (!isThere) lost.push(`${page}: ${link}`)
    }
  }
  assert.deepEqual(lost, [])
})

test('every page is in the navigation of the site, and in docs/index.md', async () => {
  const listed = NAVIGATION.flatMap(({ pages }) => pages)
  const pages = readSources().map(({ path }) => path)
  assert.deepEqual(listed.toSorted(), pages.toSorted(), 'see scripts/site/navigation.ts')
  const index = await proseOf('docs/index.md')
  const named = new Set(Array.from(index.matchAll(/\]\(([^)#]+)/g), ([, link = '']) => link))
  const missing = pages
    .filter((path) => !path.startsWith('docs/sdk/') && path !== 'docs/index.md')
    .map((path) => (path.startsWith('docs/') ? path.slice('docs/'.length) : `../${path}`))
    .filter((link) => !named.has(link))
  assert.deepEqual(missing, [])
})

/** A page without its blocks, which may hold anything. */
async function proseOf(page: string): Promise<string> {
  return (await readFile(page, 'utf8')).replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
}

/** As GitHub writes them behind a `#`; and anchors. */
async function headingsOf(page: string): Promise<ReadonlySet<string>> {
  const prose = await proseOf(page)
  const headings = Array.from(prose.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
  const anchors = Array.from(prose.matchAll(/<a id="(\w+)">/g), ([, id = '']) => id)
  return new Set([...headings, ...anchors])
}
