/**
 * Signing in with the certificate that the browser presented: GET /oidc/login/cert, and the response to a POST that
 * failed. D-6: the password is offered too. SPEC Primary login defines the field and the target.
 */
import { alert } from '../alert.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { passwordLink } from '../password-link.ts'
import { CERTIFICATE } from '../texts.ts'

export interface CertificatePage {
  readonly authRequestId: string
  /** Whether the connection has one. Without it there is no button. */
  readonly hasCertificate: boolean
  /** Why the last attempt failed. */
  readonly error?: string
}

export function certificatePage(page: CertificatePage): SafeHtml {
  const { authRequestId, hasCertificate, error } = page
  const content = hasCertificate
    ? html`<p>${CERTIFICATE.message}</p>
${alert(error, 'focused')}<form method="post" action="/oidc/login/cert">
<input type="hidden" name="authRequestId" value="${authRequestId}">
<button type="submit">${CERTIFICATE.submit}</button>
</form>
${passwordLink(authRequestId)}`
    : html`<p>${CERTIFICATE.missing}</p>
${alert(error, 'focused')}${passwordLink(authRequestId)}`
  return layout({ title: CERTIFICATE.title, content, error })
}
