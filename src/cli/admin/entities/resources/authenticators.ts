/** Authenticators: API 4.2. A password is never an argument, which everybody on the machine sees. */
import { Misuse } from '../../../terminal/io.ts'
import type { Body, Field } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { TAGS } from './tags.ts'

const CREDENTIAL: readonly Field[] = [
  { option: 'username', path: 'username', kind: 'text', value: 'NAME', what: 'of a password' },
  {
    option: 'password-file',
    path: 'password',
    kind: 'first-line',
    value: 'FILE',
    what: 'its first line is the password; - is standard input',
  },
  {
    option: 'cert',
    path: 'certPem',
    kind: 'file',
    value: 'FILE',
    what: 'a certificate in PEM',
  },
  TAGS,
]

export const AUTHENTICATORS: Resource = {
  one: 'authenticator',
  many: 'authenticators',
  path: '/authenticators',
  names: ['username', 'identity'],
  columns: [
    { title: 'ID', path: 'id' },
    { title: 'IDENTITY', path: 'identity.name' },
    { title: 'METHOD', path: 'method' },
    { title: 'USERNAME', path: 'username' },
    { title: 'LOCKED UNTIL', path: 'lockedUntil', as: 'time' },
    { title: 'LAST USED', path: 'lastUsedAt', as: 'time' },
  ],
  create: {
    what: 'give an identity a password (--username, --password-file) or a certificate (--cert)',
    isNamed: false,
    fields: [
      {
        option: 'identity',
        path: 'identityId',
        kind: 'reference',
        to: 'identity',
        what: 'whose it is',
      },
      ...CREDENTIAL,
    ],
    defaults: {},
    complete: ofOneMethod,
    examples: [
      'latchkey create authenticator --identity alice --username alice --password-file -',
      'latchkey create authenticator --identity laptop-7 --cert laptop-7.pem',
    ],
  },
  update: {
    what: 'change a password, a username or a certificate; sessions that began with it end',
    fields: CREDENTIAL,
    examples: ['latchkey update authenticator alice --password-file new-password'],
  },
  remove: 'Delete',
}

function ofOneMethod(body: Body): Body {
  const isCertificate = body['certPem'] !== undefined
  if (body['identityId'] === undefined) throw new Misuse('--identity is missing')
  if (isCertificate && (body['username'] ?? body['password']) !== undefined) {
    throw new Misuse(
      '--cert excludes --username and --password-file: an authenticator is one of them',
    )
  }
  if (isCertificate) return { method: 'cert', ...body }
  if (body['username'] === undefined) throw new Misuse('--username or --cert is missing')
  if (body['password'] === undefined) throw new Misuse('--password-file is missing')
  return { method: 'updb', ...body }
}
