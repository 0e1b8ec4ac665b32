/**
 * Posts a form to a URL from outside, for example the token endpoint of an identity provider (D-47). The same rules for
 * addresses, time and size as for everything that is fetched: API 4.5, R106.
 */
import {
  type Answer,
  createCheckedRequest,
  type FetchOptions,
  type FetchRules,
} from './checked-request.ts'

/**
 * Returns the JSON of the response, with 200 or, if an OAuth endpoint gives a reason, with 400 or 401 (RFC 6749 §5.2).
 * Rejects with an Error whose message quotes nothing of the response.
 */
export type PostForm = (url: string, fields: Readonly<Record<string, string>>) => Promise<Answer>

const STATUSES = [200, 400, 401]

export function createPostForm(rules: FetchRules, options: FetchOptions = {}): PostForm {
  const request = createCheckedRequest(rules, options)
  return (url, fields) =>
    request(url, { form: new URLSearchParams(fields).toString(), statuses: STATUSES })
}
