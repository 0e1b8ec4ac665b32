/** Authentication policies: API 4.4. */
import { AUTH_POLICY } from '../../../../entities/auth-policy.ts'
import { optionFields, tableOf } from '../described-resource.ts'
import type { Field } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { NAME } from './name.ts'

const CHOSEN: readonly Field[] = [
  {
    option: 'allow-password',
    path: 'primary.updb.allowed',
    kind: 'flag',
    what: 'allow passwords',
  },
  {
    option: 'min-password-length',
    path: 'primary.updb.minPasswordLength',
    kind: 'number',
    value: 'N',
    what: 'from 8 to 128',
  },
  {
    option: 'max-attempts',
    path: 'primary.updb.maxAttempts',
    kind: 'number',
    value: 'N',
    what: 'consecutive failures that lock a password; 0: never',
  },
  {
    option: 'lockout-minutes',
    path: 'primary.updb.lockoutDurationMinutes',
    kind: 'number',
    value: 'N',
    what: 'how long; 0: until an administrator unlocks it',
  },
  {
    option: 'allow-cert',
    path: 'primary.cert.allowed',
    kind: 'flag',
    what: 'allow client certificates',
  },
  {
    option: 'allow-expired-certs',
    path: 'primary.cert.allowExpiredCerts',
    kind: 'flag',
    what: 'allow expired certificates too',
  },
  {
    option: 'bind-tokens',
    path: 'primary.cert.bindTokens',
    kind: 'flag',
    what: 'accept tokens only together with their certificate',
  },
  {
    option: 'allow-ext-jwt',
    path: 'primary.extJwt.allowed',
    kind: 'flag',
    what: 'allow external JWTs',
  },
  {
    option: 'signer',
    path: 'primary.extJwt.allowedSigners',
    kind: 'references',
    to: 'signer',
    canClear: true,
    what: 'only JWTs of this signer; repeatable, replaces all',
  },
  {
    option: 'allow-passkey',
    path: 'primary.passkey.allowed',
    kind: 'flag',
    what: 'allow signing in with a passkey alone',
  },
  {
    option: 'require-totp',
    path: 'secondary.requireTotp',
    kind: 'flag',
    what: 'require a TOTP code as well',
  },
  {
    option: 'require-passkey',
    path: 'secondary.requirePasskey',
    kind: 'flag',
    what: 'require a passkey, as the second factor or alone',
  },
  {
    option: 'require-totp-or-passkey',
    path: 'secondary.requireTotpOrPasskey',
    kind: 'flag',
    what: 'require a TOTP code or a passkey',
  },
  {
    option: 'require-ext-jwt',
    path: 'secondary.requireExtJwt',
    kind: 'reference',
    to: 'signer',
    canClear: true,
    what: 'require a JWT of this signer as well, on every call',
  },
  {
    option: 'require-bound-token',
    path: 'secondary.requireBoundToken',
    kind: 'flag',
    what: 'require tokens that are bound to a key or a certificate',
  },
  ...optionFields(AUTH_POLICY),
]

export const POLICIES: Resource = {
  one: 'policy',
  many: 'policies',
  path: '/auth-policies',
  names: ['name'],
  columns: [
    ...tableOf(AUTH_POLICY),
    { title: 'PASSWORD', path: 'primary.updb.allowed', as: 'truth' },
    { title: 'CERT', path: 'primary.cert.allowed', as: 'truth' },
    { title: 'EXT-JWT', path: 'primary.extJwt.allowed', as: 'truth' },
    { title: 'PASSKEY', path: 'primary.passkey.allowed', as: 'truth' },
    { title: 'TOTP', path: 'secondary.requireTotp', as: 'truth' },
    { title: 'SECOND JWT', path: 'secondary.requireExtJwt' },
  ],
  create: {
    what: 'create a policy; methods that are not allowed here are refused',
    isNamed: true,
    fields: CHOSEN,
    defaults: { primary: {} },
    examples: [
      'latchkey create policy strict --allow-cert --allow-password --min-password-length 15 --require-totp',
      'latchkey create policy partners --allow-ext-jwt --signer partner-idp',
    ],
  },
  update: {
    what: 'change a policy',
    fields: [NAME, ...CHOSEN],
    examples: ['latchkey update policy strict --no-allow-password --no-require-totp'],
  },
  remove: 'Delete',
}
