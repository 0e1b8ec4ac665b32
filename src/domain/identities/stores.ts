import type { AuthenticatorId, AuthPolicyId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type {
  Authenticator,
  CertAuthenticator,
  FreshAuthenticator,
  UpdbAuthenticator,
} from './authenticator.ts'
import type { ClientInfo, FreshIdentity, Identity, Tags } from './identity.ts'

export interface Identities {
  find(id: IdentityId): Promise<Identity | undefined>
  /** Those of the given ids that exist, in one query. */
  findMany(ids: readonly IdentityId[]): Promise<ReadonlyMap<IdentityId, Identity>>
  /** Case-sensitive (API 4.1). */
  findByExternalId(externalId: string): Promise<Identity | undefined>
  /**
   * Reads the identity and holds its row until the transaction ends: nobody disables or removes it meanwhile.
   * What is begun for an identity (a session) is begun in a transaction that holds it.
   */
  hold(id: IdentityId): Promise<Identity | undefined>
  /** By `IDENTITY_FIELDS`; by name, unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<Identity>>
  countWithPolicy(id: AuthPolicyId): Promise<number>
  /** What is in the way when somebody else has the name or the external id. */
  insert(identity: FreshIdentity): Promise<'inserted' | 'name-in-use' | 'external-id-in-use'>
  /** Writes what an administrator chooses of it (`ChosenOfIdentity`) and `updatedAt`, and nothing else of the row. */
  replace(
    identity: Identity,
  ): Promise<'replaced' | 'missing' | 'name-in-use' | 'external-id-in-use'>
  /** What a login told of its client; what it did not tell stays. */
  replaceClientInfo(
    id: IdentityId,
    info: { readonly envInfo?: ClientInfo | undefined; readonly sdkInfo?: ClientInfo | undefined },
  ): Promise<void>
  /** Disables from `at` until `until` (undefined: until enabled), or enables (undefined). */
  replaceDisablement(
    id: IdentityId,
    disablement: { readonly at: Instant; readonly until: Instant | undefined } | undefined,
    at: Instant,
  ): Promise<boolean>
  /** Records that a login finished at `at`, unless a later one is recorded. Leaves `updatedAt` as it is. */
  markLogin(id: IdentityId, at: Instant): Promise<void>
  /** Voids the logins that were proven until now: they cannot begin a session (D-226). Locks the row as `hold` does. */
  voidLogins(id: IdentityId): Promise<void>
  /**
   * The same for at most `limit` identities whose id is greater than `after`, in the order of their ids: either
   * administrators or all others. Returns the last id, or undefined if there was no identity.
   */
  voidLoginsAfter(
    after: IdentityId | undefined,
    which: { readonly isAdmin: boolean; readonly limit: number },
  ): Promise<IdentityId | undefined>
  /** With its authenticators and its TOTP. */
  remove(id: IdentityId): Promise<boolean>
  /**
   * Whether somebody else than this identity is an administrator who is not disabled (D-49). Holds those rows until
   * the transaction ends, so that two administrators cannot remove each other at the same moment.
   */
  hasOtherAdministrator(than: IdentityId, now: Instant): Promise<boolean>
}

export interface Authenticators {
  find(id: AuthenticatorId): Promise<Authenticator | undefined>
  /** Finds by the folded form of the name (`usernameKey`), which is unique. */
  findUpdb(usernameKey: string): Promise<UpdbAuthenticator | undefined>
  /** By the SHA-256 of the certificate, lower-case hex: the one in use, or the one that waits to take its place. */
  findCert(fingerprint: string): Promise<CertAuthenticator | undefined>
  listOf(identityId: IdentityId): Promise<readonly Authenticator[]>
  /** Those of all the given identities, in one query. */
  listOfMany(identityIds: readonly IdentityId[]): Promise<readonly Authenticator[]>
  /** By `AUTHENTICATOR_FIELDS`; oldest first, unless another order is asked for. */
  list(query: ListQuery): Promise<PageOf<Authenticator>>
  /** What is in the way: the identity has one of that method, or somebody has the username or the certificate. */
  insert(
    authenticator: FreshAuthenticator,
  ): Promise<'inserted' | 'method-in-use' | 'username-in-use' | 'certificate-in-use'>
  remove(id: AuthenticatorId): Promise<boolean>
  /**
   * Another username or other tags. With a `passwordHash` another password too: failures and lock are forgotten, and
   * what the former one proved begins no session any more. Answers `missing` when the credential is no longer of
   * `version`: somebody else was faster.
   */
  replaceUpdb(
    id: AuthenticatorId,
    version: number,
    next: {
      readonly username: string
      readonly passwordHash: string | undefined
      readonly tags: Tags
    },
    at: Instant,
  ): Promise<'replaced' | 'missing' | 'username-in-use'>
  /** Other tags, and with a `certificate` that one in the place of the former, as with a password. */
  replaceCert(
    id: AuthenticatorId,
    version: number,
    next: {
      readonly certificate:
        | Pick<CertAuthenticator, 'certPem' | 'fingerprint' | 'isIssuedByNetwork'>
        | undefined
      readonly tags: Tags
    },
    at: Instant,
  ): Promise<'replaced' | 'missing' | 'certificate-in-use'>
  /**
   * A session begins with what it proved: notes when. False, and nothing is noted, when it is gone or has become another
   * one since (`credentialVersion`).
   */
  markUsed(id: AuthenticatorId, version: number, at: Instant): Promise<boolean>
  /** Stores a stronger hash of the same password; does nothing when the hash is no longer `previous`. */
  replacePasswordHash(
    id: AuthenticatorId,
    previous: string,
    next: string,
    at: Instant,
  ): Promise<boolean>
  /** For an administrator: clears the failures and locks of every network and device. */
  unlock(id: AuthenticatorId): Promise<boolean>
}
