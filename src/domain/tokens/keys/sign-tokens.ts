/**
 * The access token and the ID token of a session, signed: the same for a first issue and for a refresh. SPEC Token
 * response; D-24, D-25.
 */

import type { IdentityId } from '../../../base/ids.ts'
import type { Random } from '../../../base/secrets/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Duration, inSeconds } from '../../../base/time/duration.ts'
import { type Instant, instant } from '../../../base/time/instant.ts'
import { ACCESS_TOKEN_TYP } from '../../../protocol/service-claims.ts'
import type { Identity } from '../../identities/identity.ts'
import type { OidcSession } from '../../sessions/api-session.ts'
import { accessTokenClaims } from '../access-token.ts'
import { ID_TOKEN_TYP, idTokenClaims } from '../id-token.ts'
import type { SigningKeys } from './signing-keys.ts'

export interface TokenLifetimes {
  readonly accessToken: Duration
  readonly idToken: Duration
}

/** What goes into a token response besides a refresh token. */
export interface SignedTokens {
  readonly identityId: IdentityId
  readonly accessToken: string
  readonly accessTokenExpiresAt: Instant
  readonly idToken: string
  readonly expiresInSeconds: number
  readonly scope: string
}

export type SignTokens = (grant: {
  readonly session: Omit<OidcSession, 'expiresAt'>
  readonly identity: Identity
  readonly username: string
  readonly scope: string
  /** Of the authorization request; a refresh has none. */
  readonly nonce: string | undefined
}) => Promise<SignedTokens>

export function createSignTokens(deps: {
  readonly signingKeys: Pick<SigningKeys, 'sign'>
  readonly lifetimes: TokenLifetimes
  readonly audience: string
  readonly clock: Clock
  readonly random: Random
}): SignTokens {
  const { signingKeys, lifetimes, audience, clock, random } = deps

  return async ({ session, identity, username, scope, nonce }) => {
    const now = clock.now()
    const authTime = session.primary.at
    const access = accessTokenClaims(
      { session, identity, scope, authTime, audience, life: lifetimes.accessToken },
      now,
      random,
    )
    const signed = await signingKeys.sign(ACCESS_TOKEN_TYP, { ...access })
    const idToken = idTokenClaims(
      {
        session,
        identity,
        username,
        authTime,
        nonce,
        life: lifetimes.idToken,
        accessToken: signed.token,
        algorithm: signed.algorithm,
      },
      now,
    )
    const { token: signedIdToken } = await signingKeys.sign(ID_TOKEN_TYP, idToken)
    return {
      identityId: identity.id,
      accessToken: signed.token,
      accessTokenExpiresAt: instant(access.exp * 1_000),
      idToken: signedIdToken,
      expiresInSeconds: inSeconds(lifetimes.accessToken),
      scope,
    }
  }
}
