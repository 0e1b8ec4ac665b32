/**
 * Single sign-on to an application on the user's own device: GET /oidc/login/continue. Any program there can ask, so the
 * user presses a button first (RFC 8252 §8.6; D-345).
 */
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { loginAddress } from '../login-address.ts'
import { HELPERS } from '../look/helpers-script.ts'
import type { Presentation } from '../presentation.ts'

export function continuePage(presentation: Presentation, authRequestId: string): SafeHtml {
  const { say } = presentation
  return layout(presentation, {
    title: say('continue.title'),
    address: loginAddress('continue', authRequestId),
    content: html`<form method="post" action="${loginAddress('continue', authRequestId)}">
<input type="hidden" name="authRequestId" value="${authRequestId}">
<button type="submit">${say('continue.submit')}</button>
</form>
${HELPERS}`,
  })
}
