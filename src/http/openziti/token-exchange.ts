/**
 * `grant_type=urn:ietf:params:oauth:grant-type:token-exchange` (RFC 8693), as far as existing clients refresh with it:
 * D-315. The refresh token is exchanged for a new one, and then once more for an ID token, which the response has in
 * `access_token`. Empty parameters count as absent.
 */

import { Secret } from '../../base/secrets/secret.ts'
import { invalid } from '../../domain/refusals.ts'
import { idTokenOfPair } from '../../domain/tokens/id-token-of-pair.ts'
import { refresh } from '../../domain/tokens/refresh.ts'
import type { OtherGrant } from '../oidc/token.ts'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

/** RFC 8693 §3. */
const TYPES = 'urn:ietf:params:oauth:token-type'
const REFRESH_TOKEN = `${TYPES}:refresh_token`
const ID_TOKEN = `${TYPES}:id_token`

export const tokenExchange: OtherGrant = async (
  ports,
  { one, clientId, key, caller },
  { counters },
) => {
  const given = (name: string) => one(name) || undefined
  for (const name of ['actor_token', 'actor_token_type', 'resource', 'audience']) {
    if (given(name) !== undefined) throw invalid(name, 'is not supported')
  }
  const subject = given('subject_token')
  if (subject === undefined) throw invalid('subject_token', 'is missing')
  if (given('subject_token_type') !== REFRESH_TOKEN) {
    throw invalid('subject_token_type', 'must be that of a refresh token')
  }
  const refreshToken = new Secret(subject)
  const requested = given('requested_token_type')
  if (requested === ID_TOKEN) {
    const { identityId, ...issued } = await idTokenOfPair(ports, {
      clientId,
      refreshToken,
      key,
      caller,
    })
    const body = {
      access_token: issued.idToken,
      issued_token_type: ID_TOKEN,
      // RFC 8693 §2.2.1: it is not an access token.
      token_type: 'N_A',
      expires_in: issued.expiresInSeconds,
    }
    return { identityId, body }
  }
  if (requested !== REFRESH_TOKEN) {
    throw invalid('requested_token_type', 'must be that of a refresh token or of an ID token')
  }
  const scope = given('scope')
  const tokens = await counters.countRefresh(
    refresh(ports, { clientId, refreshToken, scope, key, caller }),
  )
  const body = {
    access_token: tokens.accessToken,
    issued_token_type: REFRESH_TOKEN,
    token_type: tokens.tokenType,
    expires_in: tokens.expiresInSeconds,
    refresh_after: tokens.refreshAfterSeconds,
    refresh_token: tokens.refreshToken.reveal(),
    scope: tokens.scope,
  }
  return { identityId: tokens.identityId, body }
}
