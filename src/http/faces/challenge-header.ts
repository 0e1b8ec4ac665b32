/**
 * Header fields of a failure: the challenge of a 401, and when to retry. D-37.
 */
import { CATALOGUE, type Failure } from '../../errors/catalogue.ts'
import type { AuthQuery } from '../../protocol/auth-query.ts'
import { formatChallenges, missingToken } from '../../protocol/challenge.ts'
import { TOTP_REQUIRED_HEADER } from '../../protocol/headers.ts'
import type { HeaderFields } from '../answer.ts'

export function failureHeaders(failure: Failure, brand: string): HeaderFields {
  const { code, challenges, retryAfterSeconds, authQueries } = failure
  return {
    ...(CATALOGUE[code].status === 401
      ? { 'www-authenticate': wwwAuthenticate(failure, brand, challenges) }
      : {}),
    ...totpRequired(authQueries),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  }
}

/** SPEC Response headers: sent with every response whose queries ask for a TOTP code. */
export function totpRequired(authQueries: readonly AuthQuery[] = []): HeaderFields {
  const isAsked = authQueries.some(({ typeId }) => typeId === 'MFA')
  return isAsked ? { [TOTP_REQUIRED_HEADER]: 'true' } : {}
}

function wwwAuthenticate(
  { code }: Failure,
  brand: string,
  challenges: Failure['challenges'],
): string {
  // RFC 6749 §5.2: a client that used HTTP authentication gets a challenge in the same scheme (D-28).
  if (code === 'CLIENT_HAS_NO_SECRET') return `Basic realm="${brand}-oidc"`
  // D-37: if no row of the SPEC's table fits, use the pair for "no supported token provided".
  return formatChallenges(challenges ?? missingToken(brand))
}
