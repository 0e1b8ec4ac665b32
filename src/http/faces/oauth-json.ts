/** The error body of the OAuth endpoints: RFC 6749 §5.2, D-28. */
import { CATALOGUE, type Failure } from '../../errors/catalogue.ts'

export function oauthErrorBody(failure: Failure): object {
  const { oauth, message } = CATALOGUE[failure.code]
  const { field } = failure
  const description = field === undefined ? message : `${message}: ${field.field} ${field.reason}`
  return { error: oauth, error_description: description }
}
