/**
 * How recently a person must have authenticated for a login, where the proof comes from an IdP that may still know
 * them: `prompt=login` and `max_age` (OIDC Core §3.1.2.1; D-183, D-241). Our own methods ask every time.
 */
import { type Instant, minus } from '../../../base/time/instant.ts'
import { AUTH_REQUEST_LIFE } from '../start.ts'
import type { OpenRequest } from './find-request.ts'

/**
 * `askedAt`: when the proof was asked for, from where `max_age` is counted. Undefined when the client asked for neither.
 */
export function freshSince(
  { ask, expiresAt }: Pick<OpenRequest, 'ask' | 'expiresAt'>,
  askedAt: Instant,
): Instant | undefined {
  if (ask.prompt === 'login') return minus(expiresAt, AUTH_REQUEST_LIFE)
  return ask.maxAge === undefined ? undefined : minus(askedAt, ask.maxAge)
}
