import type { AuthenticatorId } from '../../src/base/ids.ts'
import type { Passkey } from '../../src/domain/factors/passkey/passkey.ts'
import { anIdentity, NOON } from './samples.ts'

export function aPasskey(given: Partial<Passkey> = {}): Passkey {
  return {
    id: 'passkey-1' as AuthenticatorId,
    identityId: anIdentity().id,
    name: 'Zoë’s phone',
    credentialId: 'credential-1',
    rpId: 'id.example.org',
    publicKey: 'pQECAyYgASFYIA',
    signCount: 7,
    transports: ['internal', 'hybrid'],
    aaguid: '00000000-0000-0000-0000-000000000000',
    isBackupEligible: true,
    isBackedUp: false,
    createdAt: NOON,
    lastUsedAt: undefined,
    ...given,
  }
}
