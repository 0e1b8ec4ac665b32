/**
 * The form for username and password: GET /oidc/login/username, and the response to a POST that failed.
 * SPEC Primary login defines the fields and the target; the id is in the address too, so that it shows the form again
 * (D-479).
 */
import { alert } from '../alert.ts'
import { html, type SafeHtml } from '../html.ts'
import { layout } from '../layout.ts'
import { loginAddress } from '../login-address.ts'
import { HELPERS } from '../look/helpers-script.ts'
import { type PasskeyForm, passkeyForm } from '../look/passkey-form.ts'
import { PASSKEYS } from '../look/passkey-script.ts'
import { passwordField } from '../password-field.ts'
import type { Presentation } from '../presentation.ts'
import { type SignerChoice, signerLinks } from '../signer-links.ts'

export interface PasswordPage {
  readonly authRequestId: string
  /** The username of the last attempt. The password is never returned. */
  readonly username?: string
  /** Why the last attempt failed. */
  readonly error?: string
  /** The identity providers that the user can choose. */
  readonly choice?: SignerChoice
  /** The options for a passkey alone; undefined if none can be used here. */
  readonly passkey?: object | undefined
  /** Whether the last attempt was a passkey. */
  readonly isPasskeyRefused?: true
}

export function passwordPage(presentation: Presentation, page: PasswordPage): SafeHtml {
  const { say } = presentation
  const { authRequestId, username = '', error, choice = { links: [] }, passkey } = page
  // After a refusal, an authenticator that answers without its user would be asked again and again.
  const isOfferedInField = passkey !== undefined && page.isPasskeyRefused !== true
  // The error describes the focused field, so that a screen reader announces it when the page opens.
  const described = error !== undefined && html` aria-describedby="error"`
  const onUsername = username === '' && html` autofocus`
  const onPassword = username !== '' && html` autofocus`
  return layout(presentation, {
    title: say('signIn.title'),
    error,
    address: loginAddress('username', authRequestId),
    content: html`${alert(error)}<form method="post" action="${loginAddress('username', authRequestId)}">
<input type="hidden" name="authRequestId" value="${authRequestId}">
<label for="username">${say('signIn.username')}</label>
<input id="username" name="username" type="text" value="${username}" required autocomplete="${isOfferedInField ? 'username webauthn' : 'username'}" autocapitalize="none" autocorrect="off" spellcheck="false"${described}${onUsername}>
${passwordField(presentation, {
  name: 'password',
  label: say('signIn.password'),
  autocomplete: 'current-password',
  attributes: html`${described}${onPassword}`,
})}
<button type="submit">${say('signIn.submit')}</button>
</form>${passkey !== undefined && withPasskey(presentation, authRequestId, { options: passkey, ...(isOfferedInField && { autofill: true }) })}${choice.links.length > 0 && others(presentation, choice)}
${HELPERS}`,
  })
}

function others(presentation: Presentation, choice: SignerChoice): SafeHtml {
  return html`\n<p class="or"><span>${presentation.say('signIn.or')}</span></p>
${signerLinks(presentation, choice)}`
}

/** D-431. Without scripts there is no button, and the password works all the same. */
function withPasskey(
  presentation: Presentation,
  authRequestId: string,
  offer: Pick<PasskeyForm, 'options' | 'autofill'>,
): SafeHtml {
  return html`\n${passkeyForm(presentation, {
    action: '/oidc/login/passkey',
    kind: 'get',
    fields: { id: authRequestId },
    button: presentation.say('signIn.passkey'),
    look: 'choice',
    ...offer,
  })}
${PASSKEYS}`
}
