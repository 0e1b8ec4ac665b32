/** Identities: API 4.1. */
import { Misuse } from '../../../terminal/io.ts'
import type { Body, Field, OptionValues } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { NAME, TAGS } from './tags.ts'

const CHOSEN: readonly Field[] = [
  { option: 'admin', path: 'isAdmin', kind: 'flag', what: 'an administrator' },
  {
    option: 'type',
    path: 'type',
    kind: 'choice',
    choices: ['Default', 'Router'],
    what: 'Router for edge routers',
  },
  {
    option: 'external-id',
    path: 'externalId',
    kind: 'text',
    value: 'ID',
    canClear: true,
    what: 'what JWTs and certificates of others call it',
  },
  {
    option: 'policy',
    path: 'authPolicyId',
    kind: 'reference',
    to: 'policy',
    what: 'its policy; without one: default',
  },
  {
    option: 'role',
    path: 'roleAttributes',
    kind: 'texts',
    value: 'ROLE',
    canClear: true,
    what: 'a role attribute; repeat it. All roles are replaced',
  },
  {
    option: 'app-data',
    path: 'appData',
    kind: 'pairs',
    canClear: true,
    what: 'data for applications, like --tag',
  },
  TAGS,
]

const INVITATION: readonly Field[] = [
  {
    option: 'enroll',
    path: 'enroll',
    kind: 'choice',
    choices: ['ott', 'updb', 'ottca'],
    what: 'invite it, too: to a certificate, a password (--username), one of a CA (--ca)',
  },
  {
    option: 'username',
    path: 'username',
    kind: 'text',
    value: 'NAME',
    what: 'with --enroll updb; without it, the name of the identity',
  },
  { option: 'ca', path: 'ca', kind: 'reference', to: 'ca', what: 'with --enroll ottca' },
]

export const IDENTITIES: Resource = {
  one: 'identity',
  many: 'identities',
  path: '/identities',
  names: ['name'],
  columns: [
    { title: 'NAME', path: 'name' },
    { title: 'ID', path: 'id' },
    { title: 'TYPE', path: 'type' },
    { title: 'ADMIN', path: 'isAdmin', as: 'truth' },
    { title: 'POLICY', path: 'authPolicy.name' },
    { title: 'ROLES', path: 'roleAttributes', as: 'list' },
    { title: 'TOTP', path: 'isMfaEnabled', as: 'truth' },
    { title: 'DISABLED', path: 'disabled', as: 'truth' },
    { title: 'LAST LOGIN', path: 'lastLoginAt', as: 'time' },
  ],
  create: {
    what: 'make an identity, and invite it to enroll',
    isNamed: true,
    fields: [...CHOSEN, ...INVITATION],
    defaults: { type: 'Default', isAdmin: false },
    complete: withInvitation,
    examples: [
      'latchkey create identity alice --role dev --enroll updb',
      'latchkey create identity laptop-7 --policy strict --tag floor:=3 --enroll ott',
    ],
  },
  update: {
    what: 'change an identity',
    fields: [NAME, ...CHOSEN],
    examples: [
      'latchkey update identity alice --no-admin --external-id a.smith@example.com',
      'latchkey update identity alice --no-external-id --policy default',
    ],
  },
  remove: 'Delete',
}

/** API 3.3: `{ott: true}`, `{updb: "<username>"}` or `{ottca: "<caId>"}`. */
function withInvitation(body: Body, values: OptionValues): Body {
  const { enroll, username, ca, ...rest } = body
  if (username !== undefined && enroll !== 'updb')
    throw new Misuse('--username is for --enroll updb')
  if (ca !== undefined && enroll !== 'ottca') throw new Misuse('--ca is for --enroll ottca')
  if (enroll === 'ottca' && ca === undefined) throw new Misuse('--enroll ottca needs --ca')
  if (values['enroll'] === undefined) return rest
  const invitation =
    enroll === 'ott'
      ? { ott: true }
      : enroll === 'updb'
        ? { updb: username ?? rest['name'] }
        : { ottca: ca }
  return { ...rest, enrollment: invitation }
}
