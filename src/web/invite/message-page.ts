/** A link that cannot be used: why, and the way on. */
import { html, type SafeHtml } from '../login/html.ts'
import { REQUEST_ID } from '../login/texts.ts'
import { inviteLayout } from './layout.ts'
import { type InviteMessage, SIGN_IN } from './texts.ts'

export function inviteMessagePage({
  title,
  message,
  requestId,
}: InviteMessage & { readonly requestId: string }): SafeHtml {
  return inviteLayout({
    title,
    content: html`<p>${message}</p>
<p><a href="/account">${SIGN_IN}</a></p>
<p class="reference">${REQUEST_ID}: <code>${requestId}</code></p>`,
  })
}
