/** An error names the field that the caller sent (D-45). Use cases have their own names for some of them. */
import { Failure } from '../../errors/catalogue.ts'

/** Names of a use case → names in the body. */
export type FieldNames = Readonly<Record<string, string>>

/** Runs the use case, and names the field of its failure as the body does. */
export async function withFieldNames<T>(names: FieldNames, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    throw error instanceof Failure ? renamed(error, names) : error
  }
}

function renamed(failure: Failure, names: FieldNames): Failure {
  const { code, field: fault } = failure
  const field = fault && Object.hasOwn(names, fault.field) ? names[fault.field] : undefined
  if (fault === undefined || field === undefined) return failure
  return new Failure(code, { field: { field, reason: fault.reason } })
}
