/** The parts of the forms of the console. */
import { type HtmlValue, html, type SafeHtml } from '../../login/html.ts'

export type FieldValue = string | boolean | readonly string[]

interface Field<Value extends FieldValue = string> {
  readonly name: string
  readonly label: string
  readonly value: Value
  readonly hint?: Exclude<HtmlValue, false>
  /** Why this field was refused. */
  readonly fault?: string | undefined
  /** What another administrator has entered here meanwhile (D-480). */
  readonly theirs?: Value | undefined
  readonly isRequired?: boolean
}

type Notes = Pick<Field, 'name' | 'hint' | 'fault'>

const required = (isRequired = false) => isRequired && html` required`

/** The fault and the hint below a field; screen readers read them with it. */
export function below({ name, hint, fault }: Notes): SafeHtml {
  return html`${fault !== undefined && html`<p class="fault" id="${name}-fault">${fault}</p>`}${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}`
}

export function describedBy(notes: Notes): SafeHtml {
  return html`${notes.fault !== undefined && html` aria-invalid="true"`}${pointsTo(notes)}`
}

function pointsTo({ name, hint, fault }: Notes): SafeHtml | undefined {
  const ids = [
    ...(fault === undefined ? [] : [`${name}-fault`]),
    ...(hint === undefined ? [] : [`${name}-hint`]),
  ]
  return ids.length === 0 ? undefined : html` aria-describedby="${ids.join(' ')}"`
}

/** The notes of a field, with what another administrator has entered in it. */
function notesOf<Value extends FieldValue>(
  { name, hint, fault, theirs }: Pick<Field<Value>, 'name' | 'hint' | 'fault' | 'theirs'>,
  shown: (value: Value) => string = (value) => (value === '' ? 'empty' : `“${value}”`),
): Notes {
  if (fault !== undefined || theirs === undefined) return { name, hint, fault }
  const now = `Another administrator has changed this meanwhile: it is ${shown(theirs)} now.`
  return { name, hint, fault: now }
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
  const notes = notesOf(field)
  return html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" value="${value}" maxlength="${longest}"${required(isRequired)}${describedBy(notes)} autocomplete="off"${isExact && html` autocapitalize="none"`} spellcheck="false">${below(notes)}</div>`
}

/** Several lines. The first line break belongs to the markup: a browser drops it. */
export function textArea(
  field: Field & { readonly example?: string; readonly isShort?: boolean },
): SafeHtml {
  const { name, label, value, isRequired, example = '', isShort } = field
  const look = isShort && html` class="short"`
  const notes = notesOf(field)
  return html`<div><label for="${name}">${label}</label><textarea${look} id="${name}" name="${name}"${required(isRequired)}${describedBy(notes)} spellcheck="false" autocomplete="off" placeholder="${example}">
${value}</textarea>${below(notes)}</div>`
}

export type Choices = readonly (readonly [value: string, label: string])[]

export function choice(field: Omit<Field, 'isRequired'> & { readonly choices: Choices }): SafeHtml {
  const { name, label, value, choices } = field
  const options = choices.map(
    ([one, text]) =>
      html`<option value="${one}"${one === value && html` selected`}>${text}</option>`,
  )
  const notes = notesOf(field, (theirs) => `“${labelOf(choices, theirs)}”`)
  return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}"${describedBy(notes)}>${options}</select>${below(notes)}</div>`
}

/** Any number of the choices, as checkboxes with a sentence above them. */
export function severalChoices(
  field: Omit<Field<readonly string[]>, 'isRequired' | 'hint'> & { readonly choices: Choices },
): SafeHtml {
  const { name, label, value, choices } = field
  const notes = notesOf(field, (theirs) =>
    theirs.length === 0 ? 'empty' : theirs.map((one) => `“${labelOf(choices, one)}”`).join(', '),
  )
  const boxes = choices.map(
    ([one, text], i) =>
      html`<div class="check"><input type="checkbox" id="${name}-${i}" name="${name}" value="${one}"${value.includes(one) && html` checked`}><label for="${name}-${i}"><bdi>${text}</bdi></label></div>\n`,
  )
  return html`<div role="group" id="${name}" tabindex="-1" aria-label="${label}"${pointsTo(notes)}><p class="hint">${label}</p>
${boxes}${below(notes)}</div>`
}

function labelOf(choices: Choices, value: string): string {
  return choices.find(([one]) => one === value)?.[1] ?? value
}

export function wholeNumber(
  field: Field & { readonly min: number; readonly max: number },
): SafeHtml {
  const { name, label, value, min, max } = field
  const notes = notesOf(field)
  return html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="number" inputmode="numeric" min="${min}" max="${max}" value="${value}" required${describedBy(notes)}>${below(notes)}</div>`
}

export function check(field: Omit<Field<boolean>, 'isRequired'>): SafeHtml {
  const { name, label, value } = field
  const notes = notesOf(field, (theirs) => (theirs ? 'selected' : 'not selected'))
  return html`<div class="check"><input type="checkbox" id="${name}" name="${name}" value="yes"${value && html` checked`}${describedBy(notes)}><div><label for="${name}">${label}</label>${below(notes)}</div></div>`
}

/** Tags as lines; `http/console/rules/tags-text.ts` reads and writes them. */
export function tagsField(field: Omit<Field, 'label' | 'hint'>): SafeHtml {
  return textArea({
    ...field,
    label: 'Tags',
    isShort: true,
    example: 'team = payments',
    hint: html`One on each line: <code>name = value</code>.`,
  })
}
