/** A passkey of an identity: WebAuthn Level 3 §4, "credential record". D-430. */
import type { AuthenticatorId, IdentityId } from '../base/ids.ts'
import { as, type Fields } from './field.ts'

const SHOWN = { shownTo: 'self' } as const

export const PASSKEY = {
  /** Our own id, of the same kind as those of other credentials: sessions that began with it refer to it. */
  id: { type: 'text', of: as<AuthenticatorId>(), ...SHOWN },
  identityId: { type: 'text', of: as<IdentityId>() },
  /** What the owner calls it. */
  name: { type: 'text', ...SHOWN },
  /** Base64url. Unique among all identities. */
  credentialId: { type: 'text' },
  rpId: { type: 'text', ...SHOWN, description: 'The host that it works at.' },
  /** COSE_Key, base64url. */
  publicKey: { type: 'text' },
  /** The last one that was accepted; 0 if the authenticator does not count. */
  signCount: { type: 'number' },
  transports: { type: 'texts', ...SHOWN },
  /** Zeros if it does not say. */
  aaguid: {
    type: 'text',
    ...SHOWN,
    description: 'The model of the authenticator, as it says itself.',
  },
  /** Fixed when it is created. */
  isBackupEligible: {
    type: 'boolean',
    ...SHOWN,
    description: 'Whether it can be copied to other devices.',
  },
  isBackedUp: { type: 'boolean', ...SHOWN },
  createdAt: { type: 'time', ...SHOWN },
  lastUsedAt: { type: 'time', isOptional: true, ...SHOWN },
} as const satisfies Fields
