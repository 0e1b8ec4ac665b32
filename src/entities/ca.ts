/** A third-party CA whose certificates may log in here: API 4.6. */
import type { CaId } from '../base/ids.ts'
import { CHOSEN, CREATED_AND_UPDATED, LISTED, NAME, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

export const CA = {
  id: { type: 'text', of: as<CaId>(), ...LISTED, title: 'ID' },
  ...CREATED_AND_UPDATED,
  name: NAME,
  certPem: { type: 'text', isWritable: true, shownTo: 'administrator' },
  /** SHA-256 of the certificate, lower-case hex. Unique. */
  fingerprint: { type: 'text', ...LISTED },
  isVerified: { type: 'boolean', ...LISTED, title: 'VERIFIED' },
  /** CN of the certificate that proves possession of the CA's key. */
  verificationToken: {
    type: 'text',
    isOptional: true,
    shownTo: 'administrator',
    description: 'Null once the CA is verified.',
  },
  isAuthEnabled: {
    type: 'boolean',
    ...CHOSEN,
    title: 'AUTH',
    option: { name: 'auth', what: 'its certificates can log in' },
  },
  isOttCaEnrollmentEnabled: {
    type: 'boolean',
    ...CHOSEN,
    title: 'OTT',
    option: { name: 'ott-enrollment', what: 'its certificates can enroll with a token' },
  },
  isAutoCaEnrollmentEnabled: {
    type: 'boolean',
    ...CHOSEN,
    title: 'AUTO',
    option: {
      name: 'auto-enrollment',
      what: 'its certificates can enroll without a token, which creates identities',
    },
  },
  identityRoles: {
    type: 'texts',
    ...CHOSEN,
    option: {
      name: 'role',
      value: 'ROLE',
      canClear: true,
      what: 'a role of identities that enroll without a token; repeatable, replaces all',
    },
  },
  identityNameFormat: {
    type: 'text',
    ...CHOSEN,
    option: { name: 'name-format', what: 'how they are named; default: [caName]-[commonName]' },
  },
  tags: TAGS,
} as const satisfies Fields

/** Where its certificates have an external id, and how it is read. */
export const CLAIM_LOCATIONS = ['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL'] as const
export const CLAIM_MATCHERS = ['ALL', 'PREFIX', 'SUFFIX', 'SCHEME'] as const
export const CLAIM_PARSERS = ['NONE', 'SPLIT'] as const
