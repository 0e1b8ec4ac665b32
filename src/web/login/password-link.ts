/** The link from another login method to the password form, on the same auth request (D-6). */
import { html, type SafeHtml } from './html.ts'
import { loginAddress } from './login-address.ts'
import type { Presentation } from './presentation.ts'

export function passwordLink({ say }: Presentation, authRequestId: string): SafeHtml {
  const url = loginAddress('username', authRequestId)
  return html`<p class="instead"><a href="${url}">${say('signIn.passwordInstead')}</a></p>`
}
