/** The JSON of a failure: of the APIs and login endpoints (D-45), and of the OAuth endpoints (RFC 6749 §5.2, D-28). */
import { CATALOGUE, type Failure } from '../../errors/catalogue.ts'
import { oauthErrorOf } from '../../errors/entry.ts'

/** The version of the API's shapes, which clients of such controllers expect in every error. */
const META = { apiVersion: '1.0.0', apiEnrollmentVersion: '1.0.0' }

export function apiErrorBody(failure: Failure, requestId: string): object {
  const { code, message, field, authQueries, next } = failure
  const cause = field === undefined ? {} : { cause: { field: field.field, reason: field.reason } }
  const queries = authQueries === undefined ? {} : { authQueries } // D-14, D-51
  return { error: { code, message, requestId, next, ...cause }, ...queries, meta: META }
}

export function oauthErrorBody(failure: Failure): object {
  const { code, message, field, next } = failure
  const description = field === undefined ? message : `${message}: ${field.field} ${field.reason}`
  // D-323: one OAuth name stands for several codes. RFC 6749 §5.2 lets clients ignore unknown members.
  const error = oauthErrorOf(CATALOGUE[code])
  return { error, error_description: description, code, next }
}
