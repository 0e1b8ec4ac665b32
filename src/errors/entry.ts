/** What the catalogue says about an error. */
import type { TokenError } from '../protocol/oauth.ts'
import type { NextAction } from './next-actions.ts'

export interface ErrorEntry {
  // biome-ignore format: one line reads better
  readonly status:
    400 | 401 | 403 | 404 | 405 | 406 | 408 | 409 | 413 | 415 | 421 | 429 | 431 | 500 | 503
  /** `error` member of an OAuth answer, RFC 6749 §5.2. Default: `invalid_request`. */
  readonly oauth?: TokenError
  /** What a client does next: the first, unless the failure says another of these (D-323). */
  readonly next: readonly [NextAction, ...NextAction[]]
  /** One sentence for the caller: what is wrong and, where they can act, what to do. No secrets. */
  readonly message: string
  /** When it happens, in whole sentences; for docs/errors.md, as is `advice`. May be Markdown. */
  readonly when: string
  /** What the reader can do about it. */
  readonly advice: string
}

export function oauthErrorOf({ oauth = 'invalid_request' }: ErrorEntry): TokenError {
  return oauth
}
