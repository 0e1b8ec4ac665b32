/** The frame of these pages: like a page of the login. */
import { INVITE_PATH } from '../../protocol/oidc.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { ICON, type Layout, MARK, wholePage } from '../login/layout.ts'
import { titleOf } from '../login/texts.ts'
import { INVITE_STYLESHEET } from './styles.ts'

/** Where the forms go. The token is always in the body, never in the address. */
export const INVITE_PATHS = {
  open: INVITE_PATH,
  password: `${INVITE_PATH}/password`,
  mfa: `${INVITE_PATH}/mfa`,
  certificate: `${INVITE_PATH}/certificate`,
  jwt: `${INVITE_PATH}/invitation.jwt`,
} as const

export function inviteLayout({
  title,
  error,
  content,
  script,
}: Layout & { readonly script?: SafeHtml }): SafeHtml {
  return wholePage({
    title: titleOf(title, error),
    icon: ICON,
    stylesheet: INVITE_STYLESHEET,
    content: html`<main>
${MARK}
<h1>${title}</h1>
${content}
</main>${script === undefined ? undefined : html`\n<script type="module">${script}</script>`}`,
  })
}

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
