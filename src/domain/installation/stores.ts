import type { SecretHash } from '../../base/secrets/vault.ts'
import type { Instant } from '../../base/time/instant.ts'

/** What the database knows of the installation secret. */
export interface SecretRecord {
  readonly secretFingerprint: SecretHash
  /** What hashes are made under (D-141), sealed under the installation secret. */
  readonly sealedHashingSecret: string
}

/** The one row that says whose database this is (D-48). */
export interface Installation {
  find(): Promise<SecretRecord | undefined>
  /** The fingerprint of the installation secret that this database was made with. */
  findSecretFingerprint(): Promise<SecretHash | undefined>
  /** False when the row exists: another instance was faster. */
  insert(installation: SecretRecord & { readonly createdAt: Instant }): Promise<boolean>
  /**
   * Holds the row until the transaction ends: the secret is not replaced meanwhile. False when it is not (or no longer)
   * the one with this fingerprint.
   */
  holdSecret(fingerprint: SecretHash): Promise<boolean>
  /** Another secret in the place of the one with the fingerprint `previous`; false when that is not the one. */
  replaceSecret(previous: SecretHash, next: SecretRecord): Promise<boolean>
  /** Where the installation is now, when it was moved to another database (D-160). */
  findMove(): Promise<string | undefined>
  /** Writes to the row, in a commit of its own: it resolves when the store can commit, and rejects when not. */
  touch(): Promise<void>
}

/** What a restore ends, whoever it belongs to (D-159). */
export interface Epochs {
  /**
   * Burns every time step up to this one for every authenticator app, and removes enrollments that are pending. Answers
   * how many apps there are.
   */
  burnSteps(upTo: number): Promise<number>
}

/** One text that is sealed under the installation secret, wherever it lies. */
export interface SealedValue {
  readonly purpose: 'totp-secret' | 'signing-key' | 'authority-key'
  /** Its row. */
  readonly key: string
  /** What it was sealed with besides. */
  readonly context: string
  readonly sealed: string
}

/** Everything that is sealed, apart from what the installation itself holds. */
export interface SealedValues {
  list(): Promise<readonly SealedValue[]>
  /** Other texts in the same rows. Answers how many rows there were. */
  replace(values: readonly SealedValue[]): Promise<number>
}
