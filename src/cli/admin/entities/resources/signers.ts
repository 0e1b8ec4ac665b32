/** External JWT Signers: API 4.5. */
import { EXTERNAL_JWT_SIGNER } from '../../../../entities/external-jwt-signer.ts'
import type { EdgeApi } from '../../../api/edge-api.ts'
import { optionFields, tableOf } from '../described-resource.ts'
import type { Body, OptionValues } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { NAME } from './name.ts'

/** D-366. */
async function proposed(api: EdgeApi, values: OptionValues): Promise<Body> {
  const { discover: url, 'client-id': clientId, audience } = values
  if (url === undefined) return {}
  const asked = { url, clientId, audience }
  const { claims, ...fields } = await api.send('POST', '/external-jwt-signers/discover', asked)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

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
    options: {
      discover: {
        value: 'URL',
        what: "fill in what the issuer's discovery document says; options override it",
      },
    },
    propose: proposed,
    examples: [
      'latchkey create signer partner-idp --discover https://idp.example.com --client-id latchkey',
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
