/**
 * Signing in with the certificate that the browser presented: GET /oidc/login/cert, and the response to a POST that
 * failed. D-6: the password is offered too. SPEC Primary login defines the field and the target.
 */
import { alert } from '../alert.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { loginAddress } from '../login-address.ts'
import { HELPERS } from '../look/helpers-script.ts'
import { passwordLink } from '../password-link.ts'
import type { Presentation } from '../presentation.ts'

export interface CertificatePage {
  readonly authRequestId: string
  /** Whether the connection has one. Without it there is no button. */
  readonly hasCertificate: boolean
  /** Why the last attempt failed. */
  readonly error?: string
}

export function certificatePage(presentation: Presentation, page: CertificatePage): SafeHtml {
  const { say } = presentation
  const { authRequestId, hasCertificate, error } = page
  const content = hasCertificate
    ? html`<p>${say('certificate.message')}</p>
${alert(error, 'focused')}<form method="post" action="${loginAddress('cert', authRequestId)}">
<input type="hidden" name="authRequestId" value="${authRequestId}">
<button type="submit">${say('certificate.submit')}</button>
</form>
${passwordLink(presentation, authRequestId)}
${HELPERS}`
    : html`<p>${say('certificate.missing')}</p>
${alert(error, 'focused')}${passwordLink(presentation, authRequestId)}`
  const address = loginAddress('cert', authRequestId)
  return layout(presentation, { title: say('certificate.title'), content, error, address })
}
