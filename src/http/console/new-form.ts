/** A form of the console that creates something. */
import type { Failure } from '../../errors/catalogue.ts'
import type { FormState } from '../../web/console/rules/form-state.ts'
import type { SafeHtml } from '../../web/login/html.ts'
import type { Answer } from '../answer.ts'
import type { Fields } from '../reading/fields.ts'
import type { ConsoleCall, ConsoleRoutes } from './console-route.ts'
import { orAgain } from './rules/or-again.ts'

/** Adds the route of the form. A refusal shows it again. */
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
