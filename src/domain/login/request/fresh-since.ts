/**
 * How recently the user must have authenticated if the proof comes from an IdP, which may still have a session for
 * them: `prompt=login` and `max_age` (OIDC Core §3.1.2.1; D-183, D-241). Our own methods authenticate the user every
 * time.
 */
import { type Instant, minus } from '../../../base/time/instant.ts'
import { AUTH_REQUEST_LIFE } from '../start.ts'
import type { OpenRequest } from './find-request.ts'

/**
 * `askedAt`: when the proof was requested; `max_age` is counted from then. Returns undefined if the client asked for
 * neither.
 */
export function freshSince(
  { ask, expiresAt }: Pick<OpenRequest, 'ask' | 'expiresAt'>,
  askedAt: Instant,
): Instant | undefined {
  if (ask.prompt === 'login') return minus(expiresAt, AUTH_REQUEST_LIFE)
  return ask.maxAge === undefined ? undefined : minus(askedAt, ask.maxAge)
}
