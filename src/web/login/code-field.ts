/** The field for a one-time code, with what was wrong with the last one right above it. */
import { alert } from './alert.ts'
import { html, type SafeHtml } from './html.ts'

export interface CodeField {
  readonly label: string
  /** Recovery codes have letters; a pending app is proven by digits alone (D-17). */
  readonly keyboard: 'text' | 'numeric'
  readonly isFirst: boolean
  readonly error: string | undefined
}

/** Spaces are dropped on arrival, so there is room for them. */
const LONGEST = 20

export function codeField({ label, keyboard, isFirst, error }: CodeField): SafeHtml {
  // The focused field is described by the error, so that a screen reader says it on arrival too.
  const described =
    error === undefined ? undefined : html` aria-invalid="true" aria-describedby="error"`
  const focus = isFirst ? html` autofocus` : undefined
  return html`${alert(error)}<label for="code">${label}</label>
<input id="code" class="code" name="code" type="text" required autocomplete="one-time-code" inputmode="${keyboard}" maxlength="${LONGEST}" autocapitalize="characters" autocorrect="off" spellcheck="false"${described}${focus}>`
}
