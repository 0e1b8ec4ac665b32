/** The link from another login method to the password form, on the same auth request (D-6). */
import { html, type SafeHtml } from './html.ts'
import { PASSWORD_INSTEAD } from './texts.ts'

export function passwordLink(authRequestId: string): SafeHtml {
  const url = `/oidc/login/username?authRequestID=${encodeURIComponent(authRequestId)}`
  return html`<p class="instead"><a href="${url}">${PASSWORD_INSTEAD}</a></p>`
}
