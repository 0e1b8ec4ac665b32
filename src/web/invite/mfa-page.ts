/** Removing the second factors of a lost phone. The password is asked for, if there is one (D-375). */
import { alert } from '../login/alert.ts'
import { html, type SafeHtml } from '../login/html.ts'
import { INVITE_PATHS, inviteLayout, tokenForm } from './layout.ts'
import { RESET_MFA } from './texts.ts'

export interface MfaPage {
  readonly token: string
  readonly name: string
  /** Undefined if no password is asked for. */
  readonly username: string | undefined
  readonly error?: string | undefined
}

export function mfaPage({ token, name, username, error }: MfaPage): SafeHtml {
  const described = error === undefined ? undefined : html` aria-describedby="error"`
  const password =
    username === undefined
      ? undefined
      : html`<input type="text" name="username" value="${username}" autocomplete="username" hidden>
<label for="password">${RESET_MFA.password}</label>
<input id="password" name="password" type="password" required autocomplete="current-password"${described} autofocus>
`
  const fields = html`${password}<button type="submit">${RESET_MFA.submit}</button>`
  return inviteLayout({
    title: RESET_MFA.title,
    error,
    content: html`<p>${RESET_MFA.message(name)}</p>
${alert(error)}${tokenForm(INVITE_PATHS.mfa, token, fields)}`,
  })
}
