import type { Instant } from '../../base/instant.ts'
import type { SecretHash } from '../../base/vault.ts'

/** The one row that says whose database this is (D-48). */
export interface Installation {
  /** The fingerprint of the installation secret that this database was made with. */
  findSecretFingerprint(): Promise<SecretHash | undefined>
  /** False when the row exists: another instance was faster. */
  insert(installation: { secretFingerprint: SecretHash; createdAt: Instant }): Promise<boolean>
}
