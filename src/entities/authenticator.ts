/** A credential of an identity: a username with its password, or a certificate. API 4.2. */
import type { AuthenticatorId, IdentityId } from '../base/ids.ts'
import { CREATED_AND_UPDATED, OWN_CHOSEN, OWN_LISTED, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

/** The fields of both methods. */
export const AUTHENTICATOR = {
  id: { type: 'text', of: as<AuthenticatorId>(), ...OWN_LISTED, title: 'ID' },
  ...CREATED_AND_UPDATED,
  identityId: { type: 'text', of: as<IdentityId>(), ...OWN_LISTED },
  identity: { type: 'reference', isComputed: true, shownTo: 'self', title: 'IDENTITY' },
  method: { type: 'text', choices: ['updb', 'cert'], ...OWN_LISTED, title: 'METHOD' },
  username: {
    type: 'text',
    ...OWN_CHOSEN,
    title: 'USERNAME',
    option: { name: 'username', value: 'NAME', what: 'of a password' },
  },
  /** Write-only: only its hash is stored. */
  password: {
    type: 'text',
    isComputed: true,
    option: {
      name: 'password-file',
      value: 'FILE',
      from: 'first-line',
      what: 'a file whose first line is the password; - is standard input',
    },
  },
  /** argon2id, with its parameters. */
  passwordHash: { type: 'text' },
  /** D-22. */
  lockedUntil: {
    type: 'time',
    isOptional: true,
    shownTo: 'self',
    title: 'LOCKED UNTIL',
    description:
      'Until then, the password is refused from at least one network with too many wrong guesses. Known devices can still log in.',
  },
  certPem: {
    type: 'text',
    isWritable: true,
    shownTo: 'self',
    option: { name: 'cert', value: 'FILE', from: 'file', what: 'a certificate in PEM' },
  },
  /** Of the certificate in DER. Unique. */
  fingerprint: { type: 'text', ...OWN_LISTED, description: 'SHA-256, lower-case hex.' },
  isIssuedByNetwork: {
    type: 'boolean',
    ...OWN_LISTED,
    description: 'Whether our own PKI issued it.',
  },
  lastUsedAt: {
    type: 'time',
    isOptional: true,
    ...OWN_LISTED,
    title: 'LAST USED',
    description: 'When it last began a session.',
  },
  tags: TAGS,
  /** Incremented when the password or the certificate changes: logins proven by the old one begin nothing (D-122). */
  credentialVersion: { type: 'number' },
} as const satisfies Fields

const { username, password, passwordHash, lockedUntil, ...others } = AUTHENTICATOR
const { certPem, fingerprint, isIssuedByNetwork, method, ...common } = others

export const UPDB_AUTHENTICATOR = {
  ...common,
  method: { ...method, choices: ['updb'] },
  username,
  passwordHash,
  lockedUntil,
} as const satisfies Fields

export const CERT_AUTHENTICATOR = {
  ...common,
  method: { ...method, choices: ['cert'] },
  certPem,
  fingerprint,
  isIssuedByNetwork,
} as const satisfies Fields
