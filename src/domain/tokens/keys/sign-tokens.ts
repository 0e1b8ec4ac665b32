/**
 * Signs the access token and the ID token of a session, for the first issue and for a refresh. SPEC Token response;
 * D-24, D-25.
 */

import type { IdentityId } from '../../../base/ids.ts'
import type { Random } from '../../../base/secrets/random.ts'
import { inSeconds } from '../../../base/time/duration.ts'
import { type Instant, instant } from '../../../base/time/instant.ts'
import { type AccessTokenGrant, accessTokenClaims } from '../access-token.ts'
import { type IdTokenGrant, idTokenClaims } from '../id-token.ts'
import type { TokenPorts } from '../ports.ts'

/** The content of a token response, except the refresh token. */
export interface SignedTokens {
  readonly identityId: IdentityId
  readonly accessToken: string
  readonly accessTokenExpiresAt: Instant
  readonly idToken: string
  readonly expiresInSeconds: number
  /** When a client refreshes; different for each response (D-324). */
  readonly refreshAfterSeconds: number
  readonly scope: string
  /** RFC 9449 §5: how the access token is presented. */
  readonly tokenType: 'Bearer' | 'DPoP'
}

export type TokenGrant = Omit<AccessTokenGrant, 'audience' | 'life'> &
  Pick<IdTokenGrant, 'username' | 'nonce'>

export async function signTokens(
  ports: Pick<
    TokenPorts,
    'signingKeys' | 'accessTokenLife' | 'idTokenLife' | 'audience' | 'clock' | 'random'
  >,
  grant: TokenGrant,
): Promise<SignedTokens> {
  const { signingKeys, accessTokenLife, idTokenLife, audience, clock, random } = ports
  const now = clock.now()
  const access = accessTokenClaims({ ...grant, audience, life: accessTokenLife }, now, random)
  const accessToken = await signingKeys.sign('access', () => ({ ...access }))
  const idToken = await signingKeys.sign('id', (algorithm) =>
    idTokenClaims({ ...grant, life: idTokenLife, issuedWith: { accessToken, algorithm } }, now),
  )
  return {
    identityId: grant.identity.id,
    accessToken,
    accessTokenExpiresAt: instant(access.exp * 1_000),
    idToken,
    expiresInSeconds: inSeconds(accessTokenLife),
    refreshAfterSeconds: refreshAfter(inSeconds(accessTokenLife), random),
    scope: grant.scope,
    tokenType: grant.boundKey === undefined ? 'Bearer' : 'DPoP',
  }
}

/**
 * D-324: between 60 and 90 percent of the lifetime, evenly spread, so that clients that logged in together do not come
 * back together, and each has a tenth of the lifetime left if the first attempt fails.
 */
export function refreshAfter(lifeSeconds: number, random: Random): number {
  const [byte = 0, next = 0] = random.bytes(2)
  const share = (byte * 256 + next) / 65_536
  return Math.floor(lifeSeconds * (0.6 + 0.3 * share))
}
