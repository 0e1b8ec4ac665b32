/** The parts of the forms of policies, signers and CAs. */
import { type HtmlValue, html, type SafeHtml } from '../../login/html.ts'

interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly hint?: HtmlValue
  readonly isRequired?: boolean
}

const required = (isRequired = false) => (isRequired ? html` required` : undefined)
const hintOf = (hint: HtmlValue) =>
  hint === undefined ? undefined : html`<p class="hint">${hint}</p>`

export function textField(
  field: Field & { readonly longest: number; readonly type?: 'text' | 'url' },
): SafeHtml {
  const { name, label, value, hint, isRequired, longest, type = 'text' } = field
  return html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" value="${value}" maxlength="${longest}"${required(isRequired)} autocomplete="off" spellcheck="false">${hintOf(hint)}</div>`
}

/** Several lines. The first line break belongs to the markup: a browser drops it. */
export function textArea(
  field: Field & { readonly example?: string; readonly isShort?: boolean },
): SafeHtml {
  const { name, label, value, hint, isRequired, example = '', isShort } = field
  const look = isShort ? html` class="short"` : undefined
  return html`<div><label for="${name}">${label}</label><textarea${look} id="${name}" name="${name}"${required(isRequired)} spellcheck="false" autocomplete="off" placeholder="${example}">
${value}</textarea>${hintOf(hint)}</div>`
}

export function choice(
  field: Omit<Field, 'isRequired'> & {
    readonly choices: readonly (readonly [value: string, label: string])[]
  },
): SafeHtml {
  const { name, label, value, hint, choices } = field
  const options = choices.map(
    ([one, text]) =>
      html`<option value="${one}"${one === value ? html` selected` : undefined}>${text}</option>`,
  )
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${options}</select>${hintOf(hint)}</div>`
}

export function wholeNumber(
  name: string,
  label: string,
  value: string,
  min: number,
  max: number,
): SafeHtml {
  return html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="number" inputmode="numeric" min="${min}" max="${max}" value="${value}" required></div>`
}

export function check(name: string, label: string, isChecked: boolean): SafeHtml {
  return html`<div class="check"><input type="checkbox" id="${name}" name="${name}" value="yes"${isChecked ? html` checked` : undefined}><label for="${name}">${label}</label></div>`
}

/** Tags as lines; `http/console/rules/tags-text.ts` reads and writes them. */
export function tagsField(value: string): SafeHtml {
  return textArea({
    name: 'tags',
    label: 'Tags',
    value,
    isShort: true,
    example: 'team = payments',
    hint: html`One on each line: <code>name = value</code>.`,
  })
}
