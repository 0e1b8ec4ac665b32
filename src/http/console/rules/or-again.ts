/** A change that shows its form again if it is refused. */
import { CATALOGUE, Failure } from '../../../errors/catalogue.ts'
import type { FormState } from '../../../web/console/rules/form-state.ts'
import type { SafeHtml } from '../../../web/login/html.ts'
import type { Answer } from '../../answer.ts'
import type { Fields } from '../../reading/fields.ts'
import { type ConsoleCall, type ConsoleRoutes, consolePage } from '../console-route.ts'
import { refusalText } from '../refusal-text.ts'

/** Adds the form that creates something. */
export function addNewForm<Values>(
  routes: ConsoleRoutes,
  form: {
    readonly url: string
    readonly page: string
    valuesIn(fields: Fields): Values
    show(call: ConsoleCall, state: FormState<Values>): Promise<SafeHtml>
    create(call: ConsoleCall, values: Values): Promise<Answer>
    /** Which field the failure is about. */
    fieldOf(failure: Failure): string | undefined
  },
): void {
  const { url, page, valuesIn } = form
  routes.act(
    { url, page, again: (call, fields) => form.show(call, { values: valuesIn(fields) }) },
    (call, fields) => {
      const values = valuesIn(fields)
      return orAgain(
        () => form.create(call, values),
        (message, failure) =>
          form.show(call, { values, refusal: { message, field: form.fieldOf(failure) } }),
      )
    },
  )
}

/** Shows the form again, as it was filled in, if the change is refused. */
export async function orAgain(
  change: () => Promise<Answer>,
  again: (error: string, failure: Failure) => Promise<SafeHtml>,
): Promise<Answer> {
  try {
    return await change()
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'NOT_FOUND') throw error
    const answer = consolePage(CATALOGUE[error.code].status, await again(refusalText(error), error))
    // The log has the code, as for every other refusal.
    return { ...answer, failure: error }
  }
}
