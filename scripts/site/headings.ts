/** Titles and sections of a Markdown page, with the anchors that GitHub gives them, so that links work in both places. */

export interface Heading {
  readonly level: number
  readonly text: string
  readonly slug: string
}

/** Returns the anchor that GitHub gives to the first heading with this text. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** Returns the anchor of each heading in turn; a repeated one gets a number. */
export function createSlugs(): (text: string) => string {
  const seen = new Map<string, number>()
  return (text) => {
    const slug = anchorOf(text)
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${times}`
  }
}

/** Leaves out what looks like a heading in a block of code. */
export function headingsOf(markdown: string): readonly Heading[] {
  const slugOf = createSlugs()
  const prose = markdown.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '')
  return Array.from(prose.matchAll(/^(#+) (.*)$/gm), ([, marks = '', text = '']) => ({
    level: marks.length,
    text: plainText(text),
    slug: slugOf(text),
  }))
}

/** Without the marks of Markdown. */
function plainText(text: string): string {
  return text.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]|\\(?=[<>|])/g, '')
}
