/** A third-party CA whose certificates may log in here: API 4.6. */
import type { CaId } from '../base/ids.ts'
import { CREATED_AND_UPDATED, NAME, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

export const CA = {
  id: { type: 'text', of: as<CaId>(), isListed: true, shownTo: 'administrator', title: 'ID' },
  ...CREATED_AND_UPDATED,
  name: NAME,
  certPem: { type: 'text', isWritable: true, shownTo: 'administrator' },
  /** SHA-256 of the certificate, lower-case hex. Unique. */
  fingerprint: { type: 'text', isListed: true, shownTo: 'administrator' },
  isVerified: { type: 'boolean', isListed: true, shownTo: 'administrator', title: 'VERIFIED' },
  /** CN of the certificate that proves possession of the CA's key. */
  verificationToken: {
    type: 'text',
    isOptional: true,
    shownTo: 'administrator',
    description: 'Null once the CA is verified.',
  },
  isAuthEnabled: {
    type: 'boolean',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    title: 'AUTH',
    option: { name: 'auth', what: 'its certificates log in' },
  },
  isOttCaEnrollmentEnabled: {
    type: 'boolean',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    title: 'OTT',
    option: { name: 'ott-enrollment', what: 'its certificates enroll with a token' },
  },
  isAutoCaEnrollmentEnabled: {
    type: 'boolean',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    title: 'AUTO',
    option: {
      name: 'auto-enrollment',
      what: 'its certificates enroll by themselves, which makes identities',
    },
  },
  identityRoles: {
    type: 'texts',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: {
      name: 'role',
      value: 'ROLE',
      canClear: true,
      what: 'of identities that enroll by themselves; repeat it. All are replaced',
    },
  },
  identityNameFormat: {
    type: 'text',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: { name: 'name-format', what: 'how they are called; [caName]-[commonName] without it' },
  },
  tags: TAGS,
} as const satisfies Fields
