import type { AuthenticatorId, AuthPolicyId, IdentityId } from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { ListQuery } from '../lists/list-query.ts'
import type { PageOf } from '../paging.ts'
import type {
  Authenticator,
  CertAuthenticator,
  FreshAuthenticator,
  RegisteredCertificate,
  UpdbAuthenticator,
} from './authenticator.ts'
import type { ClientInfo, FreshIdentity, Identity, Tags } from './identity.ts'
import type { RouterPlace } from './router-hosts.ts'

export interface Identities {
  find(id: IdentityId): Promise<Identity | undefined>
  /** Also says whether the identity has enrolled a second factor, in one query. */
  findWithFactors(
    id: IdentityId,
  ): Promise<{ readonly identity: Identity; readonly isMfaEnabled: boolean } | undefined>
  /** Returns those of the given ids that exist, in one query. */
  findMany(ids: readonly IdentityId[]): Promise<ReadonlyMap<IdentityId, Identity>>
  /** Case-sensitive (API 4.1). */
  findByExternalId(externalId: string): Promise<Identity | undefined>
  /**
   * Reads the identity and locks its row until the transaction ends, so that it is not disabled or deleted meanwhile.
   * Whatever is begun for an identity (a session) is begun in a transaction that holds this lock.
   */
  hold(id: IdentityId): Promise<Identity | undefined>
  /** By `IDENTITY_FIELDS`; ordered by name, unless the query has another order. */
  list(query: ListQuery): Promise<PageOf<Identity>>
  /** Routers that have a host, enabled or not. */
  listRouterPlaces(): Promise<readonly RouterPlace[]>
  countWithPolicy(id: AuthPolicyId): Promise<number>
  /** Returns the conflict if another identity has the name or the external id. */
  insert(identity: FreshIdentity): Promise<'inserted' | 'name-in-use' | 'external-id-in-use'>
  /** Writes the fields that an administrator can set (`ChosenOfIdentity`) and `updatedAt`, and nothing else. */
  replace(
    identity: Identity,
  ): Promise<'replaced' | 'missing' | 'name-in-use' | 'external-id-in-use'>
  /** Stores what a login reported about its client; fields that it did not report stay. */
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
  /** Deletes it with its authenticators and its TOTP. */
  remove(id: IdentityId): Promise<boolean>
  /**
   * Locks the administrators who are not disabled (D-49), and `concerned`, until the transaction ends, so that two
   * administrators cannot remove each other at the same time. Returns their ids.
   */
  holdAdministrators(
    concerned: IdentityId | undefined,
    now: Instant,
  ): Promise<readonly IdentityId[]>
}

export interface Authenticators {
  find(id: AuthenticatorId): Promise<Authenticator | undefined>
  /** Finds by the folded form of the name (`usernameKey`), which is unique. */
  findUpdb(usernameKey: string): Promise<UpdbAuthenticator | undefined>
  /** By the SHA-256 of the certificate, lower-case hex: the current one or the pending one. */
  findCert(fingerprint: string): Promise<CertAuthenticator | undefined>
  listOf(identityId: IdentityId): Promise<readonly Authenticator[]>
  /** Returns those of all the given identities, in one query. */
  listOfMany(identityIds: readonly IdentityId[]): Promise<readonly Authenticator[]>
  /** By `AUTHENTICATOR_FIELDS`; oldest first, unless the query has another order. */
  list(query: ListQuery): Promise<PageOf<Authenticator>>
  /** Returns the conflict: the identity has one of that method, or another has the username or the certificate. */
  insert(
    authenticator: FreshAuthenticator,
  ): Promise<'inserted' | 'method-in-use' | 'username-in-use' | 'certificate-in-use'>
  remove(id: AuthenticatorId): Promise<boolean>
  /**
   * Changes the username or the tags. With a `passwordHash`, also the password: failures and lock are cleared, and
   * logins proven by the old password can no longer begin a session. Returns `missing` if the credential no longer has
   * `version`, because another call changed it.
   */
  replaceUpdb(
    id: AuthenticatorId,
    version: number,
    next: Pick<UpdbAuthenticator, 'username' | 'tags'> & {
      readonly passwordHash: string | undefined
    },
    at: Instant,
  ): Promise<'replaced' | 'missing' | 'username-in-use'>
  /** Changes the tags and, with a `certificate`, replaces the current one, as for a password. */
  replaceCert(
    id: AuthenticatorId,
    version: number,
    next: {
      readonly certificate: RegisteredCertificate | undefined
      readonly tags: Tags
    },
    at: Instant,
  ): Promise<'replaced' | 'missing' | 'certificate-in-use'>
  /**
   * Records when a session begins with it. Returns false, and records nothing, if it was deleted or has changed since
   * (`credentialVersion`), or if it has a certificate with this fingerprint neither in use nor pending.
   */
  markUsed(
    id: AuthenticatorId,
    version: number,
    at: Instant,
    fingerprint?: string,
  ): Promise<boolean>
  /** Stores a stronger hash of the same password; does nothing if the hash is no longer `previous`. */
  replacePasswordHash(
    id: AuthenticatorId,
    previous: string,
    next: string,
    at: Instant,
  ): Promise<boolean>
  /** For an administrator: clears the failures and locks of every network and device. */
  unlock(id: AuthenticatorId): Promise<boolean>
}
