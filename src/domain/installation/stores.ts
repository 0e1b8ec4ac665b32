import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'

/** What the database stores about the installation secret. */
export interface SecretRecord {
  readonly secretFingerprint: SecretHash
  /** The hashing secret (D-141), sealed under the installation secret. */
  readonly sealedHashingSecret: string
}

/** The one row that identifies the installation of this database (D-48). */
export interface Installation {
  find(): Promise<SecretRecord | undefined>
  findSecretFingerprint(): Promise<SecretHash | undefined>
  /** Returns false if the row exists: another instance was faster. */
  insert(installation: SecretRecord & { readonly createdAt: Instant }): Promise<boolean>
  /**
   * Locks the row until the transaction ends, so that the secret is not replaced meanwhile. Returns false if the
   * current secret does not have this fingerprint.
   */
  holdSecret(fingerprint: SecretHash): Promise<boolean>
  /** Replaces the secret with the fingerprint `previous`; returns false if that is not the current one. */
  replaceSecret(previous: SecretHash, next: SecretRecord): Promise<boolean>
  /** The new location, if the installation was moved to another database (D-160). */
  findMove(): Promise<string | undefined>
  /** Writes to the row in a separate commit: resolves if the store can commit, and rejects if not. */
  touch(): Promise<void>
}

/** What a restore invalidates for all identities (D-159). */
export interface Epochs {
  /**
   * Marks every time step up to this one as used for every authenticator app, and deletes pending enrollments. Returns
   * how many apps there are.
   */
  burnSteps(upTo: number): Promise<number>
}

/** One text sealed under the installation secret, in any table. */
export interface SealedValue {
  readonly purpose: 'enrollment-jwt' | 'totp-secret' | 'signing-key' | 'authority-key'
  /** Its row. */
  readonly key: string
  /** The context that it was sealed with. */
  readonly context: string
  readonly sealed: string
}

/** Every sealed value, except those of the installation itself. */
export interface SealedValues {
  list(): Promise<readonly SealedValue[]>
  /** Replaces texts in the same rows. Returns how many rows there were. */
  replace(values: readonly SealedValue[]): Promise<number>
}
