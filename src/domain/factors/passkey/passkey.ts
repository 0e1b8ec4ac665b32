/** A passkey of an identity, as it is stored: WebAuthn Level 3 §4, "credential record". D-430. */
import type { AuthenticatorId, IdentityId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'

export interface Passkey {
  /** An id of ours, of the same kind as that of other credentials: sessions that it began refer to it. */
  readonly id: AuthenticatorId
  readonly identityId: IdentityId
  /** What the owner calls it. */
  readonly name: string
  /** Base64url. Unique among all identities. */
  readonly credentialId: string
  /** The host that it was created for, and works at. */
  readonly rpId: string
  /** COSE_Key, base64url. */
  readonly publicKey: string
  /** The last one that was accepted; 0 if the authenticator does not count. */
  readonly signCount: number
  readonly transports: readonly string[]
  /** The model of the authenticator, as it says itself; zeros if it does not say. */
  readonly aaguid: string
  /** Whether it may be copied to other devices. Fixed when it is created. */
  readonly isBackupEligible: boolean
  readonly isBackedUp: boolean
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | undefined
}

/** D-430. */
export const MOST_PASSKEYS = 20

export const LONGEST_PASSKEY_NAME = 64
