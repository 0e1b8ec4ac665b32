/** Fetches a small JSON document from a URL that a user entered: API 4.5, R106. */
import { createCheckedRequest, type FetchOptions, type FetchRules } from './checked-request.ts'

/**
 * Returns the value of the document. Rejects with an Error whose message says what went wrong and quotes nothing of the
 * response.
 */
export type FetchJson = (url: string) => Promise<unknown>

export function createFetchJson(rules: FetchRules, options: FetchOptions = {}): FetchJson {
  const request = createCheckedRequest(rules, options)
  return async (url) => (await request(url, { statuses: [200] })).value
}
