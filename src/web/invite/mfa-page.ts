/** Removing the second factors of a lost phone. The password is asked for, if there is one (D-375). */
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { HELPERS } from '../login/look/helpers-script.ts'
import { passwordField } from '../login/password-field.ts'
import type { Presentation } from '../login/presentation.ts'
import { INVITE_PATHS, inviteLayout, shownName, tokenForm } from './layout.ts'

export interface MfaPage {
  readonly token: string
  readonly name: string
  /** Undefined if no password is asked for. */
  readonly username: string | undefined
  readonly error?: string | undefined
}

export function mfaPage(presentation: Presentation, page: MfaPage): SafeHtml {
  const { say, fill } = presentation
  const { token, name, username, error } = page
  const described = error !== undefined && html` aria-describedby="error"`
  const password =
    username !== undefined &&
    html`<input type="text" name="username" value="${username}" autocomplete="username" hidden>
${passwordField(presentation, {
  name: 'password',
  label: say('signIn.password'),
  autocomplete: 'current-password',
  attributes: html`${described} autofocus`,
})}
`
  const fields = html`${password}<button type="submit">${say('resetMfa.submit')}</button>`
  return inviteLayout(presentation, {
    title: say('resetMfa.title'),
    error,
    content: html`<p>${fill('resetMfa.message', { name: shownName(name) })}</p>
${alert(error)}${tokenForm(INVITE_PATHS.mfa, token, fields)}
${HELPERS}`,
  })
}
