/** The documentation site as it is built: every page, link and word is in it, and nothing from elsewhere. D-352. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { NAVIGATION } from '../../scripts/site/navigation.ts'
import { readSources } from '../../scripts/site/sources.ts'
import { bytesBelow } from '../support/consumers/install-package.ts'
import { builtSite, pagesIn } from '../support/documentation/built-site.ts'
import { temporaryFolder } from '../support/service.ts'

test('the documentation site', async (t) => {
  const folder = await builtSite(join(await temporaryFolder(t), 'site'))
  const pages = pagesIn(folder)
  const sources = readSources()

  await t.test('has every page of docs, each once in the navigation', () => {
    const listed = NAVIGATION.flatMap((group) => group.pages)
    assert.deepEqual(listed.toSorted(), sources.map(({ path }) => path).toSorted())
    assert.deepEqual(
      [...pages.keys()].sort(),
      [...sources.map(({ url }) => url), 'contents.html'].sort(),
    )
  })

  await t.test('leads somewhere with every link and every picture', () => {
    const lost: string[] = []
    for (const [name, html] of pages) {
      for (const [, target = ''] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^(https?|mailto):/.test(target)) continue
        const [path = '', anchor] = target.split('#')
        const file = path === '' ? name : posix.join(posix.dirname(name), path)
        const isThere =
          pages.get(file) !== undefined
            ? anchor === undefined || hasAnchor(pages.get(file) ?? '', decodeURIComponent(anchor))
            : existsSync(join(folder, file)) && anchor === undefined
        if (!isThere) lost.push(`${name}: ${target}`)
      }
    }
    assert.deepEqual(lost, [])
  })

  await t.test('loads nothing from elsewhere, and has no code or style inside a page', () => {
    for (const [name, html] of pages) {
      for (const [tag] of html.matchAll(
        /<(?:script|link|img|iframe|source|object|embed)\b[^>]*>/g,
      )) {
        assert.doesNotMatch(tag, /(?:src|href)="(?:[a-z]+:|\/\/)/, `${name}: ${tag}`)
      }
      const markup = html.replaceAll(/<(pre|code)\b[\s\S]*?<\/\1>/g, '')
      assert.doesNotMatch(markup, /<script(?![^>]* src=)|<style|<[^>]+ (?:style|on\w+)=/, name)
    }
    for (const name of ['site.css', 'site.js']) {
      const text = readFileSync(join(folder, 'assets', name), 'utf8')
      assert.doesNotMatch(text, /@import|https?:\/\/|url\(/, name)
    }
  })

  await t.test('finds a page by what a reader would type', () => {
    const sections: readonly Record<'url' | 'title' | 'heading' | 'text' | 'words', string>[] =
      JSON.parse(readFileSync(join(folder, 'assets', 'search.json'), 'utf8'))
    for (const [words, url] of [
      ['lost phone', 'recipes.html#a-user-has-lost-the-phone'],
      ['edge.audit.retention', 'configuration.html'],
      ['systemd', 'install.html'],
      ['INVALID_AUTH', 'errors.html'],
    ] as const) {
      const found = sections.filter(({ title, heading, text, words: others }) => {
        const all = `${title} ${heading} ${text} ${others}`.toLowerCase()
        return words.split(' ').every((word) => all.includes(word.toLowerCase()))
      })
      assert.ok(
        found.some((one) => one.url.startsWith(url)),
        `${words}: ${found.map((one) => one.url)}`,
      )
    }
    for (const { url } of sections) assert.ok(pages.has(url.split('#')[0] ?? ''), url)
  })

  await t.test('is small, and made of files that a service serves', async () => {
    assert.ok((await bytesBelow(folder)) < 3 * 1024 * 1024)
    const other = globSync('**/*.*', { cwd: folder }).filter(
      (name) => !/\.(html|css|js|json|svg)$/.test(name),
    )
    assert.deepEqual(other, [])
  })
})

function hasAnchor(html: string, anchor: string): boolean {
  return html.includes(` id="${anchor}"`)
}
