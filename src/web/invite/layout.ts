/** The frame of these pages: like a page of the login. */
import { INVITE_PATH } from '../../protocol/oidc.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { foot, ICON, type Layout, mark, titleOf, wholePage } from '../login/layout.ts'
import type { Presentation } from '../login/presentation.ts'
import { inviteSheet } from './styles.ts'

/** Where the forms go. The token is always in the body, never in the address. */
export const INVITE_PATHS = {
  open: INVITE_PATH,
  password: `${INVITE_PATH}/password`,
  mfa: `${INVITE_PATH}/mfa`,
  certificate: `${INVITE_PATH}/certificate`,
  jwt: `${INVITE_PATH}/invitation.jwt`,
} as const

/** Only the first page has an address that shows it again; the others are answers to a form. */
export function inviteLayout(
  presentation: Presentation,
  { title, error, content, script }: Layout & { readonly script?: SafeHtml },
): SafeHtml {
  return wholePage({
    language: presentation.language,
    title: titleOf(presentation, title, error),
    icon: ICON,
    stylesheet: inviteSheet(presentation.branding).text,
    content: html`<main>
${mark(presentation)}
<h1>${title}</h1>
${content}
</main>
${foot(presentation)}${script !== undefined && html`\n<script type="module">${script}</script>`}`,
  })
}

/** The name may be written from right to left. */
export const shownName = (name: string): SafeHtml => html`<strong><bdi>${name}</bdi></strong>`

/** A form that carries the token. */
export function tokenForm(
  action: string,
  token: string,
  content: SafeHtml,
  attributes?: SafeHtml,
): SafeHtml {
  return html`<form method="post" action="${action}"${attributes}>
<input type="hidden" name="token" value="${token}">
${content}
</form>`
}
