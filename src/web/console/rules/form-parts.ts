/** The parts of the forms of the console. */
import { type HtmlValue, html, type SafeHtml } from '../../login/html.ts'

interface Field {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly hint?: HtmlValue
  /** Why this field was refused. */
  readonly fault?: string | undefined
  readonly isRequired?: boolean
}

const required = (isRequired = false) => (isRequired ? html` required` : undefined)

/** The fault and the hint below a field; screen readers read them with it. */
export function below({ name, hint, fault }: Pick<Field, 'name' | 'hint' | 'fault'>): SafeHtml {
  return html`${fault === undefined ? undefined : html`<p class="fault" id="${name}-fault">${fault}</p>`}${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}`
}

export function describedBy({
  name,
  hint,
  fault,
}: Pick<Field, 'name' | 'hint' | 'fault'>): SafeHtml {
  const ids = [
    ...(fault === undefined ? [] : [`${name}-fault`]),
    ...(hint === undefined ? [] : [`${name}-hint`]),
  ]
  return html`${fault === undefined ? undefined : html` aria-invalid="true"`}${ids.length === 0 ? undefined : html` aria-describedby="${ids.join(' ')}"`}`
}

export function textField(
  field: Field & {
    readonly longest: number
    readonly type?: 'text' | 'url'
    /** Not a word: a phone must not begin it with a capital letter. */
    readonly isExact?: boolean
  },
): SafeHtml {
  const { name, label, value, isRequired, longest, type = 'text', isExact } = field
  return html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" value="${value}" maxlength="${longest}"${required(isRequired)}${describedBy(field)} autocomplete="off"${isExact ? html` autocapitalize="none"` : undefined} spellcheck="false">${below(field)}</div>`
}

/** Several lines. The first line break belongs to the markup: a browser drops it. */
export function textArea(
  field: Field & { readonly example?: string; readonly isShort?: boolean },
): SafeHtml {
  const { name, label, value, isRequired, example = '', isShort } = field
  const look = isShort ? html` class="short"` : undefined
  return html`<div><label for="${name}">${label}</label><textarea${look} id="${name}" name="${name}"${required(isRequired)}${describedBy(field)} spellcheck="false" autocomplete="off" placeholder="${example}">
${value}</textarea>${below(field)}</div>`
}

export function choice(
  field: Omit<Field, 'isRequired'> & {
    readonly choices: readonly (readonly [value: string, label: string])[]
  },
): SafeHtml {
  const { name, label, value, choices } = field
  const options = choices.map(
    ([one, text]) =>
      html`<option value="${one}"${one === value ? html` selected` : undefined}>${text}</option>`,
  )
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}"${describedBy(field)}>${options}</select>${below(field)}</div>`
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

export function check(
  name: string,
  label: string,
  isChecked: boolean,
  { hint, fault }: Pick<Field, 'hint' | 'fault'> = {},
): SafeHtml {
  const about = { name, hint, fault }
  return html`<div class="check"><input type="checkbox" id="${name}" name="${name}" value="yes"${isChecked ? html` checked` : undefined}${describedBy(about)}><div><label for="${name}">${label}</label>${below(about)}</div></div>`
}

/** Tags as lines; `http/console/rules/tags-text.ts` reads and writes them. */
export function tagsField(value: string, fault?: string): SafeHtml {
  return textArea({
    name: 'tags',
    label: 'Tags',
    value,
    fault,
    isShort: true,
    example: 'team = payments',
    hint: html`One on each line: <code>name = value</code>.`,
  })
}
