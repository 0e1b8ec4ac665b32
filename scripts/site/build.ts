/**
 * Builds the documentation site from docs/ with Eleventy (D-352): one HTML file for each page, a stylesheet, a script for
 * search and copying, and the index for the search. Nothing in it comes from elsewhere, so it works below any address and
 * with a content security policy of 'self'.
 */
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BASE_STYLES } from '../../src/web/login/base-styles.ts'
import { ICON } from '../../src/web/login/layout.ts'
import { contentsPage, wholePage } from './layout.ts'
import { configureMarkdown, type MarkdownIt, type Section } from './markdown.ts'
import { ROOT, readSources, type Source, sourceAt } from './sources.ts'

/** What we use of Eleventy, which has no types. */
interface EleventyConfig {
  setUseGitIgnore(value: boolean): void
  amendLibrary(engine: 'md', amend: (markdown: MarkdownIt) => void): void
  addTemplate(path: string, content: string): void
  addGlobalData(name: string, value: unknown): void
  addTransform(
    name: string,
    transform: (this: { page: { inputPath: string } }, content: string) => string,
  ): void
}
interface Eleventy {
  disableLogger(): void
  write(): Promise<unknown>
}
type EleventyClass = new (
  input: string,
  output: string,
  options: { quietMode: boolean; configPath: false; config: (config: EleventyConfig) => object },
) => Eleventy

const HERE = fileURLToPath(new URL('.', import.meta.url))

/** Says which sources a site was built from. */
export const STAMP = 'built-from'

/** Builds the site into a folder, which it replaces. Throws if Eleventy is not installed. */
export async function buildSite(folder: string): Promise<void> {
  const sources = readSources()
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
  }
  const layout = { sources, version }
  const sections: Section[] = []
  // Another process may serve the present site: the new one takes its place at once.
  const made = `${folder}.${process.pid}`
  rmSync(made, { recursive: true, force: true })
  mkdirSync(join(made, 'assets'), { recursive: true })
  try {
    await renderPages(made, layout, (section) => sections.push(section))
    writeFileSync(join(made, 'contents.html'), contentsPage(layout))
    const css = readFileSync(join(HERE, 'site.css'), 'utf8')
    writeFileSync(join(made, 'assets', 'site.css'), `${BASE_STYLES.toString().trim()}\n${css}`)
    const icon = decodeURIComponent(ICON.replace('data:image/svg+xml,', ''))
    writeFileSync(join(made, 'assets', 'icon.svg'), icon)
    writeFileSync(join(made, 'assets', 'search.json'), JSON.stringify(sections))
    // Loaded here: an installation without tools has none of it.
    const { build } = await import('esbuild')
    await build({
      entryPoints: [join(HERE, 'browser.js')],
      outfile: join(made, 'assets', 'site.js'),
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      legalComments: 'inline',
      logLevel: 'error',
    })
    for (const picture of globSync('docs/**/*.svg', { cwd: ROOT })) {
      const target = join(made, relative('docs', picture))
      mkdirSync(dirname(target), { recursive: true })
      cpSync(join(ROOT, picture), target)
    }
    writeFileSync(join(made, STAMP), fingerprint())
    // Two names change at once, so that a service that reads the site meanwhile finds the old one or the new one.
    const old = `${made}.old`
    if (existsSync(folder)) renameSync(folder, old)
    renameSync(made, folder)
    rmSync(old, { recursive: true, force: true })
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

async function renderPages(
  folder: string,
  layout: { readonly sources: readonly Source[]; readonly version: string },
  onSection: (section: Section) => void,
): Promise<void> {
  const { sources } = layout
  const sourceOf = (inputPath: string): Source => sourceAt(sources, inputPath)
  // A name in a variable: the package has no types.
  const name: string = '@11ty/eleventy'
  // Eleventy uses an interface of Node that is deprecated, and says so.
  process.noDeprecation = true
  const { default: Eleventy } = (await import(name)) as { default: EleventyClass }
  const before = process.cwd()
  // Eleventy takes every path from the current folder.
  process.chdir(ROOT)
  try {
    const eleventy = new Eleventy('docs', relative(ROOT, folder), {
      quietMode: true,
      configPath: false,
      config: (config) => {
        config.setUseGitIgnore(false)
        config.amendLibrary('md', (markdown) => configureMarkdown(markdown, sources, onSection))
        config.addGlobalData('eleventyComputed', {
          permalink: ({ page }: { page: { inputPath: string } }) => sourceOf(page.inputPath).url,
        })
        config.addTransform('layout', function layOut(content) {
          return wholePage(layout, sourceOf(this.page.inputPath), content)
        })
        for (const { path } of sources) {
          if (path.startsWith('docs/')) continue
          config.addTemplate(path, readFileSync(join(ROOT, path), 'utf8'))
        }
        // Markdown is not a template: braces in it are braces.
        return { markdownTemplateEngine: false, templateFormats: ['md'] }
      },
    })
    eleventy.disableLogger()
    await eleventy.write()
  } finally {
    process.chdir(before)
  }
}

/** Of everything that the site is made of. */
export function fingerprint(): string {
  const hash = createHash('sha256')
  const inputs = [
    ...readSources().map(({ path }) => path),
    ...globSync('docs/**/*.svg', { cwd: ROOT }),
    ...globSync('scripts/site/*', { cwd: ROOT }),
    'src/web/login/base-styles.ts',
    'package-lock.json',
  ].sort()
  for (const path of inputs) hash.update(`${path}\0`).update(readFileSync(join(ROOT, path)))
  return hash.digest('hex')
}
