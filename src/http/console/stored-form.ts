/**
 * Forms of what is stored. Only what the administrator has changed in a form is written, and what another one has changed
 * meanwhile is not overwritten unasked. D-480.
 */
import { base64url, sha256 } from '../../base/encoding.ts'
import { isJsonObject } from '../../base/json.ts'
import type { Failure } from '../../errors/catalogue.ts'
import type { ConsoleNote } from '../../web/console/notes.ts'
import type { FieldValue } from '../../web/console/rules/form-parts.ts'
import type { FormState } from '../../web/console/rules/form-state.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import type { Answer } from '../answer.ts'
import type { Fields } from '../reading/fields.ts'
import { backTo, consolePage } from './console-route.ts'
import { refusedField } from './refusal-text.ts'
import { linesIn, textIn, valuesLike } from './rules/form-fields.ts'
import { orAgain } from './rules/or-again.ts'

export interface StoredForm<Entity, Values> {
  /** The form of what is stored. */
  stateOf(entity: Entity): FormState<Values>
  /** The form as it was sent. */
  stateIn(fields: Fields): FormState<Values>
  edit(entity: Entity, sent: FormState<Values>): Edited<Values>
  /** Which field the failure is about; undefined if it is about none or about several. */
  fieldOf(failure: Failure, changed?: Edited<Values>['changed']): string | undefined
}

export interface Edited<Values> {
  /** The fields that this administrator has changed, and that are not stored like that already. */
  readonly changed: readonly (keyof Values & string)[]
  /** Whether anything has been stored since the form was shown. */
  readonly isOutdated: boolean
  /** What is stored with these changes. `theirs` is set if another administrator has changed one of the fields too. */
  readonly state: FormState<Values>
}

export function storedForm<
  Entity,
  Values extends Readonly<Record<keyof Values, FieldValue>>,
>(form: {
  readonly blank: Values
  readonly valuesOf: (entity: Entity) => Values
  /** Fields in which blanks at the ends mean something. */
  readonly exact?: readonly (keyof Values)[]
  /** Fields that mean something only together: a change of one is a change of all of them. */
  readonly together?: readonly (readonly (keyof Values)[])[]
  /** For failures that do not name a field of the form. */
  readonly fieldOf?: (
    failure: Failure,
    changed: Edited<Values>['changed'],
  ) => keyof Values | undefined
}): StoredForm<Entity, Values> {
  type Field = keyof Values & string
  const { blank, exact = [], together = [] } = form
  const names = Object.keys(blank) as Field[]

  /** A form sends other line breaks than it was given, and blanks at the end of a line cannot be seen. */
  const tidied = (values: Values): Values => {
    const tidy = (name: string, value: unknown) =>
      typeof value !== 'string' || exact.includes(name as Field) ? value : linesIn(value).join('\n')
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, tidy(name, value)]),
    ) as unknown as Values
  }
  const seenOf = (values: Values) =>
    JSON.stringify(Object.fromEntries(names.map((name) => [name, markOf(values[name])])))

  return {
    stateOf(entity) {
      const values = tidied(form.valuesOf(entity))
      return { values, seen: seenOf(values) }
    },
    stateIn: (fields) => ({
      values: tidied(valuesLike(blank, fields)),
      seen: textIn(fields, 'seen'),
    }),
    edit(entity, { values: wanted, seen }) {
      const stored = tidied(form.valuesOf(entity))
      const marks = marksIn(seen)
      // A field without a mark was not in one of our forms, so it counts as unchanged.
      const isOther = (values: Values, name: keyof Values) =>
        Object.hasOwn(marks, name) && marks[name as string] !== markOf(values[name])
      const isTouched = (name: Field) =>
        (together.find((group) => group.includes(name)) ?? [name]).some((one) =>
          isOther(wanted, one),
        )
      const changed = names.filter(
        (name) => isTouched(name) && markOf(wanted[name]) !== markOf(stored[name]),
      )
      const conflicts = changed.filter((name) => isOther(stored, name))
      const theirs = conflicts.length === 0 ? undefined : pick(stored, conflicts)
      const values = { ...stored, ...pick(wanted, changed) }
      const isOutdated = names.some((name) => isOther(stored, name))
      return { changed, isOutdated, state: { values, seen: seenOf(stored), theirs } }
    },
    fieldOf: (failure, changed = []) =>
      refusedField(failure, names) ?? (form.fieldOf?.(failure, changed) as string | undefined),
  }
}

/** Thrown to write nothing and to show the form again with a question. */
export class AskFirst extends Error {}

/** Saves what was changed in a form; shows it again if the change is refused or must be asked about. */
export async function saveForm<Entity, Values, Next>(
  form: StoredForm<Entity, Values>,
  sent: FormState<Values>,
  steps: {
    /** Calls the use case. */
    readonly write: (change: (current: Entity) => Next) => Promise<unknown>
    /** Throws COULD_NOT_VALIDATE, and AskFirst for a question of its own. */
    readonly next: (current: Entity, edited: Edited<Values>) => Next
    readonly again: (state: FormState<Values>) => Promise<SafeHtml>
    readonly done: (edited: Edited<Values>) => Answer
  },
): Promise<Answer> {
  let edited: Edited<Values> | undefined
  const change = (current: Entity) => {
    edited = form.edit(current, sent)
    const next = steps.next(current, edited)
    if (edited.state.theirs !== undefined) throw new AskFirst()
    return next
  }
  return orAgain(
    async () => {
      try {
        await steps.write(change)
      } catch (error) {
        if (!(error instanceof AskFirst) || edited === undefined) throw error
        return consolePage(200, await steps.again(edited.state))
      }
      return steps.done(edited as unknown as Edited<Values>)
    },
    (message, failure) => {
      const field = form.fieldOf(failure, edited?.changed)
      return steps.again({ ...sent, refusal: { message, field } })
    },
  )
}

/** Redirects to the page, which says that this was changed, or that nothing was. */
export function backAfter(
  { changed }: { readonly changed: readonly string[] },
  path: string,
  note: ConsoleNote,
): Answer {
  return backTo(path, changed.length > 0 ? note : 'nothing-to-change')
}

export function pick<T extends object>(values: T, names: readonly PropertyKey[]): Partial<T> {
  return Object.fromEntries(
    Object.entries(values).filter(([name]) => names.includes(name)),
  ) as Partial<T>
}

/** Short: it travels in the form, and in the cookie of D-481. The order of a list of choices means nothing. */
function markOf(value: FieldValue): string {
  const content = typeof value === 'object' ? value.toSorted() : value
  return base64url(sha256(JSON.stringify(content))).slice(0, 12)
}

/** Empty if our page did not write it. */
function marksIn(seen = ''): Readonly<Record<string, unknown>> {
  try {
    const marks: unknown = JSON.parse(seen)
    return isJsonObject(marks) ? marks : {}
  } catch {
    return {}
  }
}
