/** An invitation to become able to log in: API 4.3. */
import type { CaId, EnrollmentId, IdentityId } from '../base/ids.ts'
import type { SecretHash } from '../base/secrets/vault.ts'
import { CREATED_AND_UPDATED, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

/** The fields of all methods. */
export const ENROLLMENT = {
  id: {
    type: 'text',
    of: as<EnrollmentId>(),
    isListed: true,
    shownTo: 'administrator',
    title: 'ID',
  },
  ...CREATED_AND_UPDATED,
  identityId: {
    type: 'text',
    of: as<IdentityId>(),
    isListed: true,
    shownTo: 'administrator',
    option: { name: 'identity', to: 'identity', what: 'who is invited' },
  },
  identity: { type: 'reference', isComputed: true, shownTo: 'administrator', title: 'IDENTITY' },
  method: {
    type: 'text',
    choices: ['ott', 'updb', 'ottca'],
    isListed: true,
    shownTo: 'administrator',
    title: 'METHOD',
    option: {
      name: 'method',
      what: 'to a certificate (the default), a password, a certificate of a CA',
    },
  },
  username: {
    type: 'text',
    isListed: true,
    shownTo: 'administrator',
    title: 'USERNAME',
    option: { name: 'username', value: 'NAME', what: 'of updb' },
  },
  caId: {
    type: 'text',
    of: as<CaId>(),
    isListed: true,
    shownTo: 'administrator',
    option: { name: 'ca', to: 'ca', what: 'of ottca' },
  },
  expiresAt: {
    type: 'time',
    isListed: true,
    shownTo: 'administrator',
    title: 'EXPIRES',
    option: {
      name: 'expires-at',
      value: 'TIME',
      what: 'until when, such as 2026-12-24T18:00:00Z',
    },
  },
  usedAt: {
    type: 'time',
    isOptional: true,
    isListed: true,
    shownTo: 'administrator',
    title: 'USED',
    description: 'Null while nobody has used it.',
  },
  tags: TAGS,
  tokenHash: { type: 'text', of: as<SecretHash>() },
} as const satisfies Fields

const { method, username, caId, ...common } = ENROLLMENT

/** What an enrollment has whatever its method is. */
export const ENROLLMENT_OF_ANY_METHOD = common satisfies Fields
