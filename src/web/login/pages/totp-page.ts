/**
 * The form for a code of the authenticator app, shown after the right password, and again after a wrong code. SPEC
 * Secondary factors and TOTP defines the fields and the target.
 */
import { codeField } from '../code-field.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { TOTP } from '../texts.ts'

export interface TotpPage {
  readonly authRequestId: string
  /** Whether to mention recovery codes. */
  readonly canRecover: boolean
  /** Why the last code failed. The code itself is never returned. */
  readonly error?: string
}

export function totpPage({ authRequestId, canRecover, error }: TotpPage): SafeHtml {
  const recovery = canRecover ? html`\n<p class="note">${TOTP.recovery}</p>` : undefined
  return layout({
    title: TOTP.title,
    error,
    content: html`<p>${TOTP.message}</p>
<form method="post" action="/oidc/login/totp">
<input type="hidden" name="id" value="${authRequestId}">
${codeField({ label: TOTP.code, keyboard: 'text', isFirst: true, error })}
<button type="submit">${TOTP.submit}</button>
</form>${recovery}`,
  })
}
