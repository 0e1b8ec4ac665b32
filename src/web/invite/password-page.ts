/** Choosing a password: the first one, or a new one for a forgotten one. */
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { INVITE_PATHS, inviteLayout, tokenForm } from './layout.ts'
import { inProgram } from './program.ts'
import { INVITED, NEW_PASSWORD, RESET_PASSWORD } from './texts.ts'

export interface PasswordPage {
  readonly method: 'updb' | 'reset-password'
  readonly token: string
  /** Of the identity. */
  readonly name: string
  readonly username: string
  /** What the policy requires of a password. */
  readonly shortest: number
  readonly error?: string | undefined
}

export function passwordPage(page: PasswordPage): SafeHtml {
  const { method, token, name, username, shortest, error } = page
  const texts = method === 'updb' ? INVITED : RESET_PASSWORD
  // The error describes the focused field, so that a screen reader announces it when the page opens.
  const described = error === undefined ? 'rule' : 'error rule'
  const fields = html`<label for="username">${NEW_PASSWORD.username}</label>
<input id="username" name="username" type="text" value="${username}" readonly autocomplete="username">
<label for="password">${NEW_PASSWORD.password}</label>
<input id="password" name="password" type="password" required autocomplete="new-password" aria-describedby="${described}" autofocus>
<p class="rule" id="rule">${NEW_PASSWORD.rule(shortest)}</p>
<label for="repeated">${NEW_PASSWORD.repeated}</label>
<input id="repeated" name="repeated" type="password" required autocomplete="new-password">
<button type="submit">${texts.submit}</button>`
  return inviteLayout({
    title: texts.title,
    error,
    content: html`<p>${texts.message(name)}</p>
${alert(error)}${tokenForm(INVITE_PATHS.password, token, fields)}${
  method === 'updb' ? inProgram(token, 'latchkey enroll invitation.jwt') : undefined
}`,
  })
}
