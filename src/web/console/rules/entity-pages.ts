/** The shape of the pages of signers and CAs: all of them, and one with its forms. Each page adds its own parts. */
import { form } from '../../account/layout.ts'
import { type HtmlValue, html, type SafeHtml } from '../../login/html.ts'
import { type ConsoleFrame, consoleLayout } from '../layout.ts'
import { type Action, type Column, dangerous, empty, section, table } from '../parts.ts'
import { type FormState, seenField } from './form-state.ts'

export function entityListPage<Row extends { readonly id: string; readonly name: string }>(
  frame: ConsoleFrame,
  page: {
    /** Its path, which is also the menu entry. */
    readonly path: string
    readonly title: string
    readonly add: string
    readonly nothing: { readonly title: string; readonly advice: HtmlValue }
    readonly pathOf: (id: string) => string
    /** After the name. */
    readonly columns: readonly Column<Row>[]
    readonly rows: readonly Row[]
  },
): SafeHtml {
  const { path, title, add, nothing, pathOf, columns, rows } = page
  const name: Column<Row> = {
    title: 'Name',
    look: 'wide',
    cell: (row) => html`<a href="${pathOf(row.id)}"><bdi>${row.name}</bdi></a>`,
  }
  return consoleLayout(frame, {
    section: path,
    title,
    lead: html`<a class="button" href="${path}/new">${add}</a>`,
    content:
      rows.length === 0
        ? empty(nothing.title, html`<a href="${path}/new">Add one</a>${nothing.advice}`)
        : table(title, [name, ...columns], rows),
  })
}

export interface EntityForm {
  readonly title: string
  readonly path: string
  readonly fields: HtmlValue
  readonly button: string
  readonly look?: 'quiet' | 'bad'
  /** Above the form. */
  readonly before?: HtmlValue
  /** Below its button. */
  readonly hint?: Exclude<HtmlValue, false>
}

export function entityForm(frame: ConsoleFrame, one: EntityForm): SafeHtml {
  const { title, path, fields, button, look, before, hint } = one
  const kind = look !== undefined && html` class="${look}"`
  return section(
    title,
    html`${before}${form(
      frame.formToken,
      path,
      html`<div class="fields">
${fields}
<div class="buttons"><button${kind} type="submit">${button}</button></div>
${hint !== undefined && html`<p class="hint">${hint}</p>`}
</div>`,
    )}`,
  )
}

/** The form of something that is stored. Its look says if saving replaces what another administrator has entered. */
export function changeForm(
  frame: ConsoleFrame,
  path: string,
  state: FormState<unknown>,
  parts: Pick<EntityForm, 'fields' | 'before'>,
): SafeHtml {
  const isAsked = state.theirs !== undefined
  return entityForm(frame, {
    title: 'Change it',
    path,
    before: parts.before,
    fields: html`${seenField(state)}${parts.fields}`,
    button: isAsked ? 'Save anyway' : 'Save',
    ...(isAsked ? { look: 'bad' as const } : {}),
  })
}

/** What ends the use of it, as the last card of its page. */
export function endings(
  frame: ConsoleFrame,
  title: string,
  remove: Action,
  before?: HtmlValue,
): SafeHtml {
  return section(title, html`<div class="actions">${before}${dangerous(frame, remove)}</div>`)
}
