/** GET /account/password, and the response to a change that failed. API 3.1: the form has the current password. */
import { alert } from '../login/alert.ts'
import { type HtmlValue, html, type SafeHtml } from '../login/html.ts'
import { HELPERS } from '../login/look/helpers-script.ts'
import { passwordField } from '../login/password-field.ts'
import { accountLayout, type Frame, form, PAGE_PATHS } from './layout.ts'

export interface PasswordPage {
  /** Undefined if there is no password. For the password managers of browsers. */
  readonly username: string | undefined
  /** What the policy requires of a new one. */
  readonly shortest: number
  readonly error?: string
}

export function passwordPage(frame: Frame, page: PasswordPage): SafeHtml {
  const { username, error } = page
  const { say } = frame.presentation
  const content =
    username === undefined ? html`<p>${say('password.none')}</p>` : changing(frame, username, page)
  return accountLayout(frame, { page: 'password', error, content })
}

function changing(
  { formToken, presentation }: Frame,
  username: string,
  { shortest, error }: PasswordPage,
): SafeHtml {
  const { say } = presentation
  // The error describes the focused field, so that a screen reader announces it when the page opens.
  const described = error !== undefined && html` aria-describedby="error" autofocus`
  const field = (
    name: 'currentPassword' | 'password' | 'repeated',
    label: string,
    attributes?: HtmlValue,
  ) => {
    const autocomplete = name === 'currentPassword' ? 'current-password' : 'new-password'
    return html`${passwordField(presentation, { name, label, autocomplete, attributes })}\n`
  }
  return html`<p>${say('password.message')}</p>
${alert(error)}${form(
  formToken,
  PAGE_PATHS.password,
  html`<input type="text" name="username" value="${username}" autocomplete="username" hidden>
${field('currentPassword', say('password.current'), described)}${field('password', say('password.next'), html` aria-describedby="rule"`)}<p class="rule" id="rule">${say('password.rule', { count: shortest })}</p>
${field('repeated', say('password.repeated'))}<button type="submit">${say('password.submit')}</button>`,
)}
${HELPERS}`
}
