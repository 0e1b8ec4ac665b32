/** Third-party CAs: API 4.6. */
import { CA } from '../../../../entities/ca.ts'
import { optionFields, tableOf } from '../described-resource.ts'
import type { Field } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { NAME } from './name.ts'

const CERTIFICATE: Field = {
  option: 'cert',
  path: 'certPem',
  kind: 'file',
  value: 'FILE',
  what: 'its certificate in PEM',
}

const CHOSEN: readonly Field[] = [
  ...optionFields(CA),
  {
    option: 'claim-location',
    path: 'externalIdClaim.location',
    kind: 'choice',
    choices: ['COMMON_NAME', 'SAN_URI', 'SAN_EMAIL'],
    what: 'which field of its certificates contains the external id',
  },
  {
    option: 'claim-matcher',
    path: 'externalIdClaim.matcher',
    kind: 'choice',
    choices: ['ALL', 'PREFIX', 'SUFFIX', 'SCHEME'],
    what: 'which of several values is used',
  },
  {
    option: 'claim-matcher-criteria',
    path: 'externalIdClaim.matcherCriteria',
    kind: 'text',
    value: 'TEXT',
    what: 'what the matcher compares with',
  },
  {
    option: 'claim-parser',
    path: 'externalIdClaim.parser',
    kind: 'choice',
    choices: ['NONE', 'SPLIT'],
    what: 'whether only a part of the value is used',
  },
  {
    option: 'claim-parser-criteria',
    path: 'externalIdClaim.parserCriteria',
    kind: 'text',
    value: 'TEXT',
    what: 'where the value is split',
  },
  {
    option: 'claim-index',
    path: 'externalIdClaim.index',
    kind: 'number',
    value: 'N',
    what: 'which part is used, from 0',
  },
]

export const CAS: Resource = {
  one: 'ca',
  many: 'cas',
  path: '/cas',
  names: ['name'],
  // Long, so it comes last.
  columns: [...tableOf(CA), { title: 'FINGERPRINT', path: 'fingerprint' }],
  create: {
    what: 'register a third-party CA; it has no effect until it is verified',
    isNamed: true,
    fields: [CERTIFICATE, ...CHOSEN],
    defaults: {},
    examples: ['latchkey create ca factory --cert factory-ca.pem --auth --ott-enrollment'],
  },
  update: {
    what: 'change a third-party CA',
    fields: [
      NAME,
      ...CHOSEN,
      {
        option: 'no-claim',
        path: 'externalIdClaim',
        kind: 'clear',
        what: 'its certificates contain no external id',
      },
    ],
    examples: ['latchkey update ca factory --no-auth'],
  },
  remove: 'Delete',
}
