/**
 * A token of ours in somebody's hands, read for what it names: for logout hints, revocation and introspection. It
 * authorizes nothing here.
 */
import type { Secret } from '../../base/secrets/secret.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import { ACCESS_TOKEN_TYP } from '../../protocol/service-claims.ts'
import { type AccessToken, readAccessToken } from './access-token.ts'
import { ID_TOKEN_TYP, type NamedSession, readIdTokenSession } from './id-token.ts'
import type { SigningKeys } from './keys/signing-keys.ts'

export interface OwnTokens {
  /** A good access token, not looked up among the ended ones. */
  readAccessToken(token: Secret): Promise<AccessToken | undefined>
  /** The session of an ID token of ours, also of one that has expired (D-30). */
  readIdToken(token: Secret): Promise<NamedSession | undefined>
}

export function createOwnTokens(deps: {
  readonly audience: string
  readonly issuers: () => readonly Issuer[]
  readonly signingKeys: Pick<SigningKeys, 'verify'>
}): OwnTokens {
  const { audience, issuers, signingKeys } = deps
  return {
    async readAccessToken(token) {
      const options = { typ: ACCESS_TOKEN_TYP, audience, issuers: issuers() }
      const verified = await signingKeys.verify(token.reveal(), options)
      return verified.outcome === 'good' ? readAccessToken(verified.payload) : undefined
    },

    async readIdToken(token) {
      const options = { typ: ID_TOKEN_TYP, audience, issuers: issuers() }
      const verified = await signingKeys.verify(token.reveal(), options)
      return verified.outcome === 'invalid' ? undefined : readIdTokenSession(verified.payload)
    },
  }
}
