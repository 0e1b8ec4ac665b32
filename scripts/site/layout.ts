/** The page around the content: header with search, navigation, sections of this page, previous and next. */
import { html, type SafeHtml } from '../../src/web/login/html.ts'
import { type Group, NAVIGATION } from './navigation.ts'
import { relativeUrl, type Source, sourceAt } from './sources.ts'

/** Replaced by the content, which is already HTML. */
const CONTENT = '[content]'

export interface Layout {
  readonly sources: readonly Source[]
  readonly version: string
}

export function wholePage({ sources, version }: Layout, source: Source, content: string): string {
  const to = (url: string) => relativeUrl(source.url, url)
  const isHome = source.url === 'index.html'
  const sections = source.headings.filter(({ level }) => level === 2)
  return (
    html`<!doctype html>
<html lang="en" data-base="${to('index.html').replace(/index\.html$/, '')}">
<head>
<meta charset="utf-8">
<title>${isHome ? 'Latchkey documentation' : `${source.title} – Latchkey`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="${to('assets/icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${to('assets/site.css')}">
<script type="module" src="${to('assets/site.js')}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${to('index.html')}"><img src="${to('assets/icon.svg')}" alt="" width="28" height="28">Latchkey</a>
<div class="search" role="search">
<label class="hidden" for="search">Search the documentation</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-controls="results" hidden>
<div id="results" hidden></div>
<p id="found" class="hidden" role="status"></p>
</div>
<a class="contents" href="${to('contents.html')}">All pages</a>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages">
<details open><summary>Pages</summary>
${NAVIGATION.map((group) => groupLinks(group, sources, source))}
</details>
</nav>
<main id="content">
<article>
${CONTENT}
</article>
${neighbours(sources, source)}
</main>
${sections.length < 2 ? '' : onThisPage(sections)}
</div>
<footer>Latchkey ${version}. Apache-2.0.</footer>
</body>
</html>
`
      .toString()
      // A block that scrolls can be reached by keyboard.
      .replace(CONTENT, () => content.replaceAll('<pre>', `<pre tabindex="0">`))
  )
}

function groupLinks(
  { title, pages }: Group,
  sources: readonly Source[],
  current: Source,
): SafeHtml {
  const links = pages.map((path) => {
    const page = sourceAt(sources, path)
    const isHere = page.url === current.url
    const here = isHere ? html` aria-current="page"` : ''
    const isInner = path.startsWith('docs/sdk/')
    return html`<li${isInner ? html` class="inner"` : ''}><a href="${relativeUrl(current.url, page.url)}"${here}>${titleOf(page)}</a></li>
`
  })
  return html`<h2>${title}</h2>
<ul>
${links}</ul>
`
}

function onThisPage(sections: Source['headings']): SafeHtml {
  return html`<nav class="sections" aria-label="On this page">
<h2>On this page</h2>
<ul>
${sections.map(({ slug, text }) => html`<li><a href="#${encodeURIComponent(slug)}">${text}</a></li>\n`)}</ul>
</nav>`
}

function neighbours(sources: readonly Source[], current: Source): SafeHtml | string {
  const order = NAVIGATION.flatMap(({ pages }) => pages)
  const at = order.indexOf(current.path)
  if (at < 0) return ''
  const link = (path: string | undefined, rel: 'prev' | 'next') => {
    if (path === undefined) return ''
    const page = sourceAt(sources, path)
    const what = rel === 'prev' ? 'Previous' : 'Next'
    return html`<a rel="${rel}" href="${relativeUrl(current.url, page.url)}"><span>${what}</span>${titleOf(page)}</a>`
  }
  return html`<nav class="neighbours" aria-label="Previous and next page">
${link(order[at - 1], 'prev')}
${link(order[at + 1], 'next')}
</nav>`
}

function titleOf({ url, title }: Source): string {
  return url === 'index.html' ? 'Overview' : title
}

/** Every page with its sections: the index for readers without scripts, and for those who do not know the word. */
export function contentsPage({ sources, version }: Layout): string {
  const source: Source = { path: '', url: 'contents.html', title: 'All pages', headings: [] }
  const groups = NAVIGATION.map(({ title, pages }) => {
    const lists = pages.map((path) => {
      const page = sourceAt(sources, path)
      const sections = page.headings.filter(({ level }) => level === 2)
      return html`<h3><a href="${page.url}">${titleOf(page)}</a></h3>
<ul class="compact">
${sections.map(({ slug, text }) => html`<li><a href="${page.url}#${encodeURIComponent(slug)}">${text}</a></li>\n`)}</ul>
`
    })
    return html`<h2>${title}</h2>
${lists}`
  })
  return wholePage(
    { sources, version },
    source,
    html`<h1>All pages</h1>
${groups}`.toString(),
  )
}
