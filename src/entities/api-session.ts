/** A session of either API: API 4.7. Only the response that begins it contains its token. */
import type { ApiSessionId, AuthenticatorId, IdentityId } from '../base/ids.ts'
import { OWN_LISTED } from './every-entity.ts'
import { as, type Fields } from './field.ts'

const SHOWN = { shownTo: 'self' } as const

export const API_SESSION = {
  id: { type: 'text', of: as<ApiSessionId>(), ...OWN_LISTED, title: 'ID' },
  createdAt: { type: 'time', ...OWN_LISTED, title: 'BEGAN' },
  updatedAt: { type: 'time', isComputed: true, ...SHOWN },
  tags: { type: 'map', isComputed: true, ...SHOWN },
  expiresAt: { type: 'time', ...OWN_LISTED, title: 'EXPIRES' },
  identityId: { type: 'text', of: as<IdentityId>(), ...OWN_LISTED },
  identity: { type: 'reference', isComputed: true, ...SHOWN, title: 'IDENTITY' },
  authenticatorId: {
    type: 'text',
    of: as<AuthenticatorId>(),
    isOptional: true,
    ...OWN_LISTED,
    description: 'Null if a claim named the identity and no authenticator was used.',
  },
  kind: { type: 'text', choices: ['oidc', 'legacy'], ...OWN_LISTED, title: 'KIND' },
  clientId: {
    type: 'text',
    isOptional: true,
    ...OWN_LISTED,
    description: 'Null for a legacy session.',
  },
  ipAddress: { type: 'text', column: 'address', ...OWN_LISTED, title: 'ADDRESS' },
  userAgent: { type: 'text', isOptional: true, ...OWN_LISTED, title: 'USER AGENT' },
  amr: { type: 'texts', ...SHOWN, description: 'How the login was proven (RFC 8176).' },
  configTypes: { type: 'texts', ...SHOWN },
  isMfaRequired: {
    type: 'boolean',
    isComputed: true,
    ...SHOWN,
    description: 'Whether a TOTP code is required.',
  },
  isMfaComplete: {
    type: 'boolean',
    isComputed: true,
    ...SHOWN,
    description: 'Whether nothing is outstanding.',
  },
  lastActivityAt: {
    type: 'time',
    isOptional: true,
    ...SHOWN,
    description: 'Only for legacy sessions; null otherwise.',
  },
} as const satisfies Fields
