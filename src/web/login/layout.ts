/** The frame of every page: language, title and stylesheet; and the logo of the login pages. */
import { LANGUAGES, type Language } from '../texts/languages.ts'
import { html, type SafeHtml } from './html.ts'
import { LOGO_PATH } from './look/branding.ts'
import type { Presentation } from './presentation.ts'
import { signingInLine } from './signing-in.ts'

// A keyhole in a rounded square.
const SHAPE =
  'M11 0h18a11 11 0 0 1 11 11v18a11 11 0 0 1-11 11H11A11 11 0 0 1 0 29V11A11 11 0 0 1 11 0z' +
  'm9 9.5a6.5 6.5 0 0 0-3.2 12.16L15.4 30.5h9.2l-1.4-8.84A6.5 6.5 0 0 0 20 9.5z'

export const MARK = html`<svg class="mark" viewBox="0 0 40 40" aria-hidden="true"><path fill="currentColor" fill-rule="evenodd" d="${SHAPE}"/></svg>`

// A data URL, because pages load nothing; a blue that is visible on light and dark tabs.
export const ICON = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><path fill="#3b74e6" fill-rule="evenodd" d="${SHAPE}"/></svg>`,
)}`

export interface Layout {
  /** The heading, and the title of the browser tab. */
  readonly title: string
  /** Follows the heading. */
  readonly content: SafeHtml
  /** Why the last attempt failed: screen readers announce the title first. */
  readonly error?: string | undefined
  /** The address that shows this page with GET, if it is not the one of the request. `none`: there is no such address. */
  readonly address?: string | 'none'
}

/** A login page, with the logo above its heading. */
export function layout(presentation: Presentation, page: Layout): SafeHtml {
  const { title, content, error, address } = page
  return wholePage({
    language: presentation.language,
    title: titleOf(presentation, title, error),
    icon: ICON,
    stylesheet: presentation.branding.login.text,
    content: html`<main>
${mark(presentation)}
<h1>${title}</h1>
${signingInLine(presentation)}${content}
</main>
${foot(presentation, address)}`,
  })
}

/** The logo of the operator, or ours beside the name of the operator. */
export function mark({ branding: { name, hasLogo } }: Presentation): SafeHtml {
  if (hasLogo) return html`<img class="logo" src="${LOGO_PATH}" alt="${name ?? ''}" height="40">`
  return name === undefined ? MARK : html`<p class="brand">${MARK}<span>${name}</span></p>`
}

/** Returns the title of the tab, which screen readers announce first. */
export function titleOf(
  { say, branding: { name } }: Pick<Presentation, 'say' | 'branding'>,
  heading: string,
  error: string | undefined,
): string {
  const title = name === undefined ? heading : `${heading} – ${name}`
  return error === undefined ? title : say('title.error', { title })
}

/** The parameter of the switch: OIDC Core §3.1.2.1 gave it its name. */
export const LANGUAGE_PARAMETER = 'ui_locales'

/** Below the page: help, and the switch between languages. Links, so that it works without scripts. */
export function foot(
  presentation: Presentation,
  address: string | undefined = presentation.address,
): SafeHtml | undefined {
  const { say, branding } = presentation
  const { support } = branding
  const help =
    support !== undefined &&
    html`<p><a href="${support}" rel="noopener noreferrer">${say('foot.support')}</a></p>\n`
  const languages = languageSwitch(presentation, address)
  if (!help && !languages) return undefined
  return html`<footer class="foot">${help}${languages}</footer>`
}

function languageSwitch(
  { language, say }: Presentation,
  address: string | undefined,
): SafeHtml | undefined {
  if (address === undefined || address === 'none') return undefined
  const joint = address.includes('?') ? '&' : '?'
  const entries = (Object.keys(LANGUAGES) as Language[]).map((one) =>
    one === language
      ? html`<li><span lang="${one}" aria-current="true">${LANGUAGES[one]}</span></li>\n`
      : html`<li><a href="${address}${joint}${LANGUAGE_PARAMETER}=${one}" lang="${one}" hreflang="${one}" rel="nofollow">${LANGUAGES[one]}</a></li>\n`,
  )
  return html`<nav aria-label="${say('language.label')}"><ul>
${entries}</ul></nav>`
}

interface Document {
  readonly language: Language
  /** The title of the browser tab. */
  readonly title: string
  readonly icon: string
  /** The class of the body. */
  readonly look?: string
  readonly content: SafeHtml
}

/** A page that loads nothing: its style is inline, and so is its icon. */
export function wholePage(page: Document & { readonly stylesheet: SafeHtml }): SafeHtml {
  return htmlDocument(page, html`<style>${page.stylesheet}</style>`)
}

/** What all pages share. `head` is their style and, where they have any, their scripts. */
export function htmlDocument(page: Document, head: SafeHtml): SafeHtml {
  const { language, title, icon, look, content } = page
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="${icon}">
${head}
</head>
<body${look !== undefined && html` class="${look}"`}>
${content}
</body>
</html>
`
}
