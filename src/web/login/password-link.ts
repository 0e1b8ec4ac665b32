/** The way from another kind of login to the form for username and password, on the same auth request (D-6). */
import { html, type SafeHtml } from './html.ts'
import { PASSWORD_INSTEAD } from './texts.ts'

export function passwordLink(authRequestId: string): SafeHtml {
  const url = `/oidc/login/username?authRequestID=${encodeURIComponent(authRequestId)}`
  return html`<p class="instead"><a href="${url}">${PASSWORD_INSTEAD}</a></p>`
}
