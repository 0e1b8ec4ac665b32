/** How a form is shown: its values, why it was refused, and what another administrator has entered meanwhile. D-480. */
import { html, type SafeHtml } from '../../login/html.ts'
import type { Refusal } from '../layout.ts'
import type { FieldValue } from './form-parts.ts'

export interface FormState<Values> {
  readonly values: Values
  /** Marks what the administrator has seen: the form sends it back, so that a change of another one is noticed. */
  readonly seen?: string | undefined
  readonly refusal?: Refusal | undefined
  /** Saving waits: another administrator has changed it meanwhile, and this is what they entered in the same fields. */
  readonly theirs?: Partial<Values> | undefined
}

/** What each part of a form shows of its field. */
export type FieldsOf<Values> = <Name extends keyof Values & string>(
  name: Name,
) => {
  readonly name: Name
  readonly value: Values[Name]
  readonly fault: string | undefined
  readonly theirs: Values[Name] | undefined
}

export function fieldsOf<Values extends Readonly<Record<keyof Values, FieldValue>>>({
  values,
  refusal,
  theirs,
}: FormState<Values>): FieldsOf<Values> {
  return (name) => ({
    name,
    value: values[name],
    fault: refusal?.field === name ? refusal.message : undefined,
    theirs: theirs?.[name],
  })
}

export function seenField({ seen }: FormState<unknown>): SafeHtml | undefined {
  if (seen === undefined) return undefined
  return html`<input type="hidden" name="seen" value="${seen}">\n`
}

/** Above a form that was not saved; undefined for any other. */
export function askedFirst(
  name: string,
  { theirs }: FormState<unknown>,
  {
    cause = 'Saving',
    more,
  }: { readonly cause?: string; readonly more?: SafeHtml | undefined } = {},
): SafeHtml | undefined {
  if (theirs === undefined && more === undefined) return undefined
  const [marked] = Object.keys(theirs ?? {})
  return html`<div class="verdict warn" role="alert" tabindex="-1" autofocus><p><strong>Nothing is saved yet.</strong></p>
${theirs && html`<p>Another administrator has changed <bdi>${name}</bdi> since you opened this page. ${marked === undefined ? 'Check it, then preview your change again.' : html`${cause} replaces <a href="#${marked}">what is marked below</a>.`}</p>\n`}${more}</div>\n`
}
