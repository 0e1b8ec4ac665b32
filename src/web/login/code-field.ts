/** The field for a one-time code, with the error of the last one above it. */
import { alert } from './alert.ts'
import { html, type SafeHtml } from './html.ts'

export interface CodeField {
  readonly label: string
  /** Recovery codes have letters; a pending app is proven only by digits (D-17). */
  readonly keyboard: 'text' | 'numeric'
  readonly isFirst: boolean
  readonly error: string | undefined
}

/** Leaves room for spaces, which the server removes. */
const LONGEST = 20

export function codeField({ label, keyboard, isFirst, error }: CodeField): SafeHtml {
  // The error describes the focused field, so that a screen reader announces it when the page opens.
  const described = error !== undefined && html` aria-invalid="true" aria-describedby="error"`
  const focus = isFirst && html` autofocus`
  return html`${alert(error)}<label for="code">${label}</label>
<input id="code" class="code" name="code" type="text" required autocomplete="one-time-code" inputmode="${keyboard}" maxlength="${LONGEST}" autocapitalize="characters" autocorrect="off" spellcheck="false"${described}${focus}>`
}
