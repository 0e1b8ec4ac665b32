/** Identities: API 4.1. */
import { IDENTITY } from '../../../../entities/identity.ts'
import { Misuse } from '../../../terminal/io.ts'
import { optionFields, tableOf } from '../described-resource.ts'
import type { Body, Field, OptionValues } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { NAME } from './name.ts'

const CHOSEN = optionFields(IDENTITY)

const INVITATION: readonly Field[] = [
  {
    option: 'enroll',
    path: 'enroll',
    kind: 'choice',
    choices: ['ott', 'updb', 'ottca'],
    what: 'also invite it: for a certificate, a password (--username), or one of a CA (--ca)',
  },
  {
    option: 'username',
    path: 'enrollment.updb',
    kind: 'text',
    value: 'NAME',
    what: 'with --enroll updb; default: the name of the identity',
  },
  {
    option: 'ca',
    path: 'enrollment.ottca',
    kind: 'reference',
    to: 'ca',
    what: 'with --enroll ottca',
  },
]

export const IDENTITIES: Resource = {
  one: 'identity',
  many: 'identities',
  path: '/identities',
  names: ['name'],
  columns: tableOf(IDENTITY),
  create: {
    what: 'create an identity, and invite it to enroll',
    isNamed: true,
    fields: [...CHOSEN, ...INVITATION],
    defaults: { type: 'Default', isAdmin: false },
    complete: withInvitation,
    invites: true,
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
  const { enroll, enrollment, ...rest } = body
  const { updb: username, ottca: ca } = (enrollment ?? {}) as Body
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
