/** Authenticators: API 4.2. A password is never an argument, because other users of the machine can see arguments. */
import { AUTHENTICATOR } from '../../../../entities/authenticator.ts'
import { Misuse } from '../../../terminal/io.ts'
import { optionFields, tableOf } from '../described-resource.ts'
import type { Body } from '../fields.ts'
import type { Resource } from '../resource.ts'

const CREDENTIAL = optionFields(AUTHENTICATOR)

export const AUTHENTICATORS: Resource = {
  one: 'authenticator',
  many: 'authenticators',
  path: '/authenticators',
  names: ['username', 'identity'],
  columns: tableOf(AUTHENTICATOR),
  create: {
    what: 'give an identity a password (--username, --password-file) or a certificate (--cert)',
    isNamed: false,
    fields: [
      {
        option: 'identity',
        path: 'identityId',
        kind: 'reference',
        to: 'identity',
        what: 'the identity that it belongs to',
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
  if (body['identityId'] === undefined) throw new Misuse('"create authenticator" needs --identity')
  if (isCertificate && (body['username'] ?? body['password']) !== undefined) {
    throw new Misuse(
      '--cert cannot be combined with --username or --password-file: an authenticator is one of them',
    )
  }
  if (isCertificate) return { method: 'cert', ...body }
  if (body['username'] === undefined)
    throw new Misuse('"create authenticator" needs --username or --cert')
  if (body['password'] === undefined)
    throw new Misuse('"create authenticator" needs --password-file')
  return { method: 'updb', ...body }
}
