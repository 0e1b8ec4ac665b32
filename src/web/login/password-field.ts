/** The field for a password. A script adds the button that shows what was typed; without scripts there is no button. */
import { type HtmlValue, html, type SafeHtml } from './html.ts'
import type { Presentation } from './presentation.ts'

export interface PasswordField {
  readonly name: string
  readonly label: string
  readonly autocomplete: 'current-password' | 'new-password'
  readonly attributes?: HtmlValue
}

export function passwordField({ say }: Presentation, field: PasswordField): SafeHtml {
  const { name, label, autocomplete, attributes } = field
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="password" required autocomplete="${autocomplete}" data-show="${say('password.show')}" data-hide="${say('password.hide')}"${attributes}>`
}
