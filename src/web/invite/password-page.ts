/** Choosing a password: the first one, or a new one for a forgotten one. */
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { HELPERS } from '../login/look/helpers-script.ts'
import { passwordField } from '../login/password-field.ts'
import type { Presentation } from '../login/presentation.ts'
import { INVITE_PATHS, inviteLayout, shownName, tokenForm } from './layout.ts'
import { inProgram } from './program.ts'

export interface PasswordPage {
  readonly method: 'updb' | 'reset-password'
  readonly token: string
  /** Of the identity. */
  readonly name: string
  readonly username: string
  /** What the policy requires of a password. */
  readonly shortest: number
  /** D-447. */
  readonly offersPasskey: boolean
  readonly error?: string | undefined
}

/** What the second button sends as `then`. */
export const THEN_PASSKEY = 'passkey'

export function passwordPage(presentation: Presentation, page: PasswordPage): SafeHtml {
  const { say, fill } = presentation
  const { method, token, name, username, shortest, offersPasskey, error } = page
  const shown = { name: shownName(name) }
  const texts =
    method === 'updb'
      ? { title: say('invited.title'), message: fill('invited.message', shown) }
      : { title: say('resetPassword.title'), message: fill('resetPassword.message', shown) }
  // The error describes the focused field, so that a screen reader announces it when the page opens.
  const described = error === undefined ? 'rule' : 'error rule'
  const fields = html`<label for="username">${say('newPassword.username')}</label>
<input id="username" name="username" type="text" value="${username}" readonly autocomplete="username">
${passwordField(presentation, {
  name: 'password',
  label: say('password.next'),
  autocomplete: 'new-password',
  attributes: html` aria-describedby="${described}" autofocus`,
})}
<p class="rule" id="rule">${say('password.rule', { count: shortest })}</p>
${passwordField(presentation, {
  name: 'repeated',
  label: say('password.repeated'),
  autocomplete: 'new-password',
})}
<button type="submit">${say('newPassword.submit')}</button>${
    method === 'updb' &&
    offersPasskey &&
    html`\n<button class="quiet" type="submit" name="then" value="${THEN_PASSKEY}">${say('newPassword.passkey')}</button>`
  }`
  return inviteLayout(presentation, {
    title: texts.title,
    error,
    content: html`<p>${texts.message}</p>
${alert(error)}${tokenForm(INVITE_PATHS.password, token, fields)}${
  method === 'updb' && inProgram(presentation, token, 'latchkey enroll invitation.jwt')
}
${HELPERS}`,
  })
}
