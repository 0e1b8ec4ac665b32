/**
 * The form for a code of the authenticator app, shown after the right password, and again after a wrong code. SPEC
 * Secondary factors and TOTP defines the fields and the target.
 */
import { codeField } from '../code-field.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { loginAddress } from '../login-address.ts'
import { HELPERS } from '../look/helpers-script.ts'
import type { Presentation } from '../presentation.ts'

export interface TotpPage {
  readonly authRequestId: string
  /** Whether a passkey would do instead. */
  readonly canUsePasskey?: boolean
  /** Why the last code failed. The code itself is never returned. */
  readonly error?: string
}

export function totpPage(presentation: Presentation, page: TotpPage): SafeHtml {
  const { say } = presentation
  const { authRequestId, canUsePasskey = false, error } = page
  return layout(presentation, {
    title: say('code.title'),
    error,
    address: loginAddress('totp', authRequestId),
    content: html`<p>${say('code.message')}</p>
<form method="post" action="${loginAddress('totp', authRequestId)}">
<input type="hidden" name="id" value="${authRequestId}">
${codeField({ label: say('code.label'), keyboard: 'text', isFirst: true, error })}
<button type="submit">${say('code.submit')}</button>
</form>${canUsePasskey && html`\n<p class="instead"><a href="${loginAddress('passkey', authRequestId)}">${say('code.passkeyInstead')}</a></p>`}
<p class="note">${say('code.recovery')}</p>
${HELPERS}`,
  })
}
