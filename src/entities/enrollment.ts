/** An invitation to enroll: API 4.3. */
import type { CaId, EnrollmentId, IdentityId } from '../base/ids.ts'
import type { SecretHash } from '../base/secrets/vault.ts'
import { CREATED_AND_UPDATED, LISTED, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

/** The fields of all methods. */
export const ENROLLMENT = {
  id: { type: 'text', of: as<EnrollmentId>(), ...LISTED, title: 'ID' },
  ...CREATED_AND_UPDATED,
  identityId: {
    type: 'text',
    of: as<IdentityId>(),
    ...LISTED,
    option: { name: 'identity', to: 'identity', what: 'the identity to invite' },
  },
  identity: { type: 'reference', isComputed: true, shownTo: 'administrator', title: 'IDENTITY' },
  method: {
    type: 'text',
    choices: ['ott', 'updb', 'ottca', 'reset-password', 'reset-mfa'],
    ...LISTED,
    title: 'METHOD',
    option: {
      name: 'method',
      what: 'for a certificate (default), a password, a certificate of a CA, or a reset',
    },
  },
  username: {
    type: 'text',
    ...LISTED,
    title: 'USERNAME',
    option: { name: 'username', value: 'NAME', what: 'of updb' },
  },
  caId: {
    type: 'text',
    of: as<CaId>(),
    ...LISTED,
    option: { name: 'ca', to: 'ca', what: 'of ottca' },
  },
  expiresAt: {
    type: 'time',
    ...LISTED,
    title: 'EXPIRES',
    option: {
      name: 'expires-at',
      value: 'TIME',
      what: 'when it expires, such as 2026-12-24T18:00:00Z',
    },
  },
  usedAt: {
    type: 'time',
    isOptional: true,
    ...LISTED,
    title: 'USED',
    description: 'Null until it is used.',
  },
  tags: TAGS,
  tokenHash: { type: 'text', of: as<SecretHash>() },
  /** D-317: the JWT while it is unused, sealed with the id as context; only with the compatibility layer. */
  sealedJwt: { type: 'text', isOptional: true },
} as const satisfies Fields

const { method, username, caId, ...common } = ENROLLMENT

/** The fields of an enrollment that do not depend on its method. */
export const ENROLLMENT_OF_ANY_METHOD = common satisfies Fields
