/**
 * Reads a token of ours for logout hints, revocation and introspection. The token authorizes nothing here.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import { type AccessToken, readAccessToken } from './access-token.ts'
import { type NamedSession, readIdTokenSession } from './id-token.ts'
import type { TokenPorts } from './ports.ts'

type OwnTokenPorts = Pick<TokenPorts, 'audience' | 'issuers' | 'signingKeys'>

/** Returns a valid access token, without checking whether it was ended. */
export async function readOwnAccessToken(
  { audience, issuers, signingKeys }: OwnTokenPorts,
  token: Secret,
): Promise<AccessToken | undefined> {
  const verified = await signingKeys.verify('access', token.reveal(), {
    audience,
    issuers: issuers(),
  })
  return verified.outcome === 'good' ? readAccessToken(verified.payload) : undefined
}

/** Returns the session of one of our ID tokens, even if the token has expired (D-30). */
export async function readOwnIdToken(
  ports: OwnTokenPorts & Pick<TokenPorts, 'clientId' | 'otherClientIds'>,
  token: Secret,
): Promise<NamedSession | undefined> {
  const { issuers, signingKeys, clientId, otherClientIds } = ports
  const audience = [clientId, ...otherClientIds]
  const verified = await signingKeys.verify('id', token.reveal(), { audience, issuers: issuers() })
  return verified.outcome === 'invalid' ? undefined : readIdTokenSession(verified.payload)
}
