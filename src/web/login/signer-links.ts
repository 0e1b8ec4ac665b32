/** The identity providers that a user can choose, as links that look like buttons (D-47, D-157). */
import { html, type SafeHtml } from './html.ts'
import type { Presentation } from './presentation.ts'

export interface SignerLink {
  readonly name: string
  readonly url: string
}

export interface SignerChoice {
  readonly links: readonly SignerLink[]
  /** Link to the page with all of them, if not all are shown. */
  readonly more?: string
}

/** A link and not a button: it leads to another page and changes nothing here. */
export function signerLink(
  { say }: Presentation,
  { name, url }: SignerLink,
  look: 'choice' | 'choice only',
): SafeHtml {
  return html`<a class="${look}" href="${url}">${say('provider.continue', { name })}</a>`
}

export function signerLinks(presentation: Presentation, { links, more }: SignerChoice): SafeHtml {
  const items = links.map((link) => html`<li>${signerLink(presentation, link, 'choice')}</li>\n`)
  const rest =
    more !== undefined &&
    html`\n<p class="instead"><a href="${more}">${presentation.say('provider.more')}</a></p>`
  return html`<ul class="choices">
${items}</ul>${rest}`
}
