/** A passkey of an identity: WebAuthn Level 3 §4, "credential record". D-430. */
import type { AuthenticatorId, IdentityId } from '../base/ids.ts'
import { as, type Fields } from './field.ts'

export const PASSKEY = {
  /** Our own id, of the same kind as those of other credentials: sessions that began with it refer to it. */
  id: { type: 'text', of: as<AuthenticatorId>() },
  identityId: { type: 'text', of: as<IdentityId>() },
  /** What the owner calls it. */
  name: { type: 'text' },
  /** Base64url. Unique among all identities. */
  credentialId: { type: 'text' },
  /** The host that it was created for, and works at. */
  rpId: { type: 'text' },
  /** COSE_Key, base64url. */
  publicKey: { type: 'text' },
  /** The last one that was accepted; 0 if the authenticator does not count. */
  signCount: { type: 'number' },
  transports: { type: 'texts' },
  /** The model of the authenticator, as it says itself; zeros if it does not say. */
  aaguid: { type: 'text' },
  /** Whether it may be copied to other devices. Fixed when it is created. */
  isBackupEligible: { type: 'boolean' },
  isBackedUp: { type: 'boolean' },
  createdAt: { type: 'time' },
  lastUsedAt: { type: 'time', isOptional: true },
} as const satisfies Fields
