import type { AuthenticatorId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'
import type { Identity, UpdbAuthenticator } from './identity.ts'

export interface Identities {
  find(id: IdentityId): Promise<Identity | undefined>
  insert(identity: Identity): Promise<void>
}

export interface Authenticators {
  find(id: AuthenticatorId): Promise<UpdbAuthenticator | undefined>
  /** Finds by the folded form of the name (`usernameKey`), which is unique. */
  findUpdb(usernameKey: string): Promise<UpdbAuthenticator | undefined>
  insertUpdb(authenticator: UpdbAuthenticator): Promise<void>
  /** Stores a stronger hash of the same password; does nothing when the hash is no longer `previous`. */
  replacePasswordHash(
    id: AuthenticatorId,
    previous: string,
    next: string,
    at: Instant,
  ): Promise<boolean>
}
