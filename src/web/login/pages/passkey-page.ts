/** A passkey as the second factor of a login, and the one that must be created first. D-431, D-434, D-446. */
import { alert } from '../alert.ts'
import { codeField } from '../code-field.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { loginAddress } from '../login-address.ts'
import { HELPERS } from '../look/helpers-script.ts'
import { needsScripts, passkeyForm } from '../look/passkey-form.ts'
import { PASSKEYS } from '../look/passkey-script.ts'
import type { Presentation } from '../presentation.ts'
import { codeList, savedCheck } from './enroll-page.ts'

export interface PasskeyPage {
  readonly authRequestId: string
  /** Undefined if no passkey of this user works at this address. */
  readonly options: object | undefined
  /** Whether a code of the authenticator app would do instead. */
  readonly canUseApp: boolean
  /** Why the last attempt failed. */
  readonly error?: string | undefined
  /** Whether that was an attempt with a recovery code. */
  readonly isCodeRefused?: boolean | undefined
}

export function passkeyPage(presentation: Presentation, page: PasskeyPage): SafeHtml {
  const { say } = presentation
  const { authRequestId, options, canUseApp, error, isCodeRefused = false } = page
  const action = '/oidc/login/passkey'
  const form =
    options === undefined
      ? html`<p class="alert">${say('passkey.elsewhere')}</p>`
      : html`${needsScripts(presentation)}
${passkeyForm(presentation, {
  action,
  kind: 'get',
  options,
  fields: { id: authRequestId },
  button: say('passkey.use'),
})}`
  return layout(presentation, {
    title: say('passkey.title'),
    error,
    address: loginAddress('passkey', authRequestId),
    content: html`<p>${say('passkey.message')}</p>
${!isCodeRefused && alert(error, 'focused')}${form}
${canUseApp && html`<p class="instead"><a href="${loginAddress('totp', authRequestId)}">${say('passkey.appInstead')}</a></p>\n`}<details class="instead"${isCodeRefused && html` open`}>
<summary>${say('passkey.recovery')}</summary>
<form method="post" action="${action}">
<input type="hidden" name="id" value="${authRequestId}">
${codeField({ label: say('passkey.recoveryCode'), keyboard: 'text', isFirst: isCodeRefused, error: isCodeRefused ? error : undefined })}
<button type="submit">${say('code.submit')}</button>
</form>
</details>
${HELPERS}
${PASSKEYS}`,
  })
}

export interface NewPasskeyPage {
  readonly authRequestId: string
  readonly options: object
  /** With the first factor only; they become good with the passkey (D-437). */
  readonly recoveryCodes: readonly string[]
  /** Whose they are, for the print. */
  readonly account: { readonly issuer: string; readonly name: string }
  /** Whether an authenticator app would do instead. */
  readonly canUseApp: boolean
  readonly error?: string | undefined
}

export function newPasskeyPage(presentation: Presentation, page: NewPasskeyPage): SafeHtml {
  const { say } = presentation
  const { authRequestId, options, recoveryCodes, account, canUseApp, error } = page
  return layout(presentation, {
    title: say('newPasskey.title'),
    error,
    // Each time it is shown it has other recovery codes.
    address: recoveryCodes.length > 0 ? 'none' : loginAddress('passkey/enroll', authRequestId),
    content: html`<p>${say('newPasskey.message')}</p>
${alert(error, 'focused')}${savedCodes(presentation, recoveryCodes, account)}${needsScripts(presentation)}
${passkeyForm(presentation, {
  action: '/oidc/login/passkey/enroll/verify',
  kind: 'create',
  options,
  fields: { id: authRequestId },
  button: say('newPasskey.create'),
  ...(recoveryCodes.length === 0 ? {} : { content: savedCheck(presentation) }),
})}
${canUseApp && html`<p class="instead"><a href="${loginAddress('totp/enroll', authRequestId)}">${say('passkey.appInstead')}</a></p>\n`}${HELPERS}
${PASSKEYS}`,
  })
}

/** The codes of a first factor, with what they are for. */
export function savedCodes(
  presentation: Presentation,
  codes: readonly string[],
  account: { readonly issuer: string; readonly name: string },
): SafeHtml | undefined {
  if (codes.length === 0) return undefined
  const { say } = presentation
  return html`<h2>${say('enroll.save.title')}</h2>
<p>${say('newPasskey.save')}</p>
${codeList(presentation, codes, account)}
`
}
