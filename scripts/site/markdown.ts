/**
 * How Markdown becomes HTML: anchors as GitHub has them, links between pages, tables that scroll, no style attributes
 * (the content security policy forbids them), and the sections for the search.
 */
import { createSlugs } from './headings.ts'
import { linkIn, relativeUrl, type Source, sourceAt } from './sources.ts'

/** What we use of markdown-it, which comes with Eleventy and has no types here. */
export interface MarkdownIt {
  set(options: { readonly html: boolean }): MarkdownIt
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } }
  readonly renderer: { readonly rules: Record<string, (() => string) | undefined> }
}

interface State {
  readonly env: { readonly page: { readonly inputPath: string } }
  tokens: Token[]
  readonly Token: new (type: string, tag: string, nesting: number) => Token
}

interface Token {
  readonly type: string
  readonly tag: string
  content: string
  children: Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
  attrs: [string, string][] | null
}

/** One part of a page, as the search finds it. */
export interface Section {
  readonly url: string
  /** Of the page. */
  readonly title: string
  readonly heading: string
  /** The beginning, which a result shows. */
  readonly text: string
  /** The other words, each once: all that it can be found by, in half the space. */
  readonly words: string
}

const SHOWN_TEXT = 300

export function configureMarkdown(
  markdown: MarkdownIt,
  sources: readonly Source[],
  onSection: (section: Section) => void,
): void {
  markdown.set({ html: true })
  const { rules } = markdown.renderer
  // A table wider than the page scrolls by itself, and can be reached by keyboard.
  rules['table_open'] = () =>
    '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>\n'
  rules['table_close'] = () => '</table></div>\n'
  markdown.core.ruler.push('latchkey', (state) => {
    const source = sourceAt(sources, state.env.page.inputPath)
    state.tokens = state.tokens.filter((token) => !isComment(token))
    addAnchors(state)
    for (const token of state.tokens) {
      withoutStyle(token)
      if (token.children !== null) token.children = withLinks(token.children, sources, source)
    }
    for (const section of sectionsOf(state.tokens, source)) onSection(section)
  })
}

function isComment({ type, content }: Token): boolean {
  return type === 'html_block' && /^\s*<!--[\s\S]*-->\s*$/.test(content)
}

function addAnchors({ tokens, Token }: State): void {
  const slugOf = createSlugs()
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const inline = tokens[at + 1]
    if (inline === undefined) continue
    const slug = slugOf(inline.content)
    token.attrSet('id', slug)
    if (token.tag === 'h1') continue
    const link = new Token('html_inline', '', 0)
    link.content = ` <a class="anchor" href="#${encodeURIComponent(slug)}" aria-label="Link to this section">#</a>`
    inline.children?.push(link)
  }
}

/** Alignment of a column, which markdown-it writes as a style. */
function withoutStyle(token: Token): void {
  const style = token.attrGet('style')
  if (style === null) return
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
  if (style.includes('right')) token.attrSet('class', 'right')
}

/** A link to a file that is not in the site becomes its text. */
function withLinks(
  children: readonly Token[],
  sources: readonly Source[],
  source: Source,
): Token[] {
  let isDropped = false
  return children.filter((token, at) => {
    if (token.type === 'link_open') {
      const target = linkIn(sources, source, token.attrGet('href') ?? '')
      isDropped = target === undefined
      if (target !== undefined) {
        token.attrSet('href', target)
        nameAfterTitle(children[at + 1], target, sources, source)
      }
      return !isDropped
    }
    return token.type !== 'link_close' || !isDropped
  })
}

/** In the repository a link is often called like its file; in the site, a page has no file but a title. */
function nameAfterTitle(
  text: Token | undefined,
  target: string,
  sources: readonly Source[],
  from: Source,
): void {
  if (text?.type !== 'text' || !/^[\w/.-]+\.md$/.test(text.content)) return
  const page = sources.find(({ url }) => relativeUrl(from.url, url) === target.split('#')[0])
  if (page !== undefined) text.content = page.title
}

function sectionsOf(tokens: readonly Token[], { url, title }: Source): readonly Section[] {
  const found: { anchor: string; heading: string; text: string[] }[] = []
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const slug = token.attrGet('id') ?? ''
      const anchor = token.tag === 'h1' ? '' : `#${slug}`
      found.push({ anchor, heading: textOf(tokens[at + 1]), text: [] })
    } else if (tokens[at - 1]?.type !== 'heading_open') found.at(-1)?.text.push(textOf(token))
  }
  return found.map(({ anchor, heading, text: parts }) => {
    const whole = parts.filter(Boolean).join(' ').replaceAll(/\s+/g, ' ')
    const end = whole.indexOf(' ', SHOWN_TEXT)
    const text = end < 0 ? whole : whole.slice(0, end)
    const words = wordsIn(whole.slice(text.length)).difference(wordsIn(text))
    return { url: `${url}${anchor}`, title, heading, text, words: [...words].join(' ') }
  })
}

function wordsIn(text: string): Set<string> {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}_.-]+/u)
  return new Set(words.map((word) => word.replaceAll(/^[-.]+|[-.]+$/g, '')).filter(Boolean))
}

function textOf(token: Token | undefined): string {
  if (token === undefined) return ''
  if (token.type === 'fence') return token.content
  const parts = token.children ?? []
  return parts
    .map(({ type, content }) =>
      type === 'softbreak' ? ' ' : type === 'html_inline' ? '' : content,
    )
    .join('')
}
