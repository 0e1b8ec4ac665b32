/** External JWT Signers: API 4.5. */
import { EXTERNAL_JWT_SIGNER } from '../../../../entities/external-jwt-signer.ts'
import { optionFields, tableOf } from '../described-resource.ts'
import type { Resource } from '../resource.ts'
import { NAME } from './name.ts'

const CHOSEN = optionFields(EXTERNAL_JWT_SIGNER)

export const SIGNERS: Resource = {
  one: 'signer',
  many: 'signers',
  path: '/external-jwt-signers',
  names: ['name'],
  columns: tableOf(EXTERNAL_JWT_SIGNER),
  create: {
    what: 'accept JWTs of another identity provider',
    isNamed: true,
    fields: CHOSEN,
    defaults: {},
    examples: [
      'latchkey create signer partner-idp --issuer https://idp.example.com --audience latchkey \\\n' +
        '    --jwks-endpoint https://idp.example.com/keys --claim /email',
    ],
  },
  update: {
    what: 'change a signer',
    fields: [NAME, ...CHOSEN],
    examples: ['latchkey update signer partner-idp --no-enabled'],
  },
  remove: 'Delete',
}
