/** External JWT Signers: API 4.5. */
import type { Field } from '../fields.ts'
import type { Resource } from '../resource.ts'
import { NAME, TAGS } from './tags.ts'

const CHOSEN: readonly Field[] = [
  {
    option: 'issuer',
    path: 'issuer',
    kind: 'text',
    value: 'TEXT',
    what: 'iss of its JWTs, exactly',
  },
  { option: 'audience', path: 'audience', kind: 'text', value: 'TEXT', what: 'aud of its JWTs' },
  {
    option: 'jwks-endpoint',
    path: 'jwksEndpoint',
    kind: 'text',
    value: 'URL',
    canClear: true,
    what: 'where its keys are; this, or --cert',
  },
  {
    option: 'cert',
    path: 'certPem',
    kind: 'file',
    value: 'FILE',
    canClear: true,
    what: 'the certificate whose key signs, in PEM',
  },
  {
    option: 'kid',
    path: 'kid',
    kind: 'text',
    value: 'ID',
    canClear: true,
    what: 'of the key of --cert',
  },
  {
    option: 'claim',
    path: 'claimsProperty',
    kind: 'text',
    value: 'CLAIM',
    what: 'which names the identity; a name or a JSON pointer',
  },
  {
    option: 'use-external-id',
    path: 'useExternalId',
    kind: 'flag',
    what: 'the claim is an external id, and not the id of the identity',
  },
  {
    option: 'auth-url',
    path: 'externalAuthUrl',
    kind: 'text',
    value: 'URL',
    canClear: true,
    what: 'where people log in to get a token',
  },
  {
    option: 'client-id',
    path: 'clientId',
    kind: 'text',
    value: 'ID',
    canClear: true,
    what: 'of this service, there',
  },
  {
    option: 'scope',
    path: 'scopes',
    kind: 'texts',
    value: 'SCOPE',
    canClear: true,
    what: 'to ask for there; repeat it. All are replaced',
  },
  {
    option: 'target-token',
    path: 'targetToken',
    kind: 'choice',
    choices: ['ACCESS', 'ID'],
    what: 'which of its tokens counts',
  },
  { option: 'enabled', path: 'enabled', kind: 'flag', what: 'its JWTs count' },
  TAGS,
]

export const SIGNERS: Resource = {
  one: 'signer',
  many: 'signers',
  path: '/external-jwt-signers',
  names: ['name'],
  columns: [
    { title: 'NAME', path: 'name' },
    { title: 'ID', path: 'id' },
    { title: 'ISSUER', path: 'issuer' },
    { title: 'AUDIENCE', path: 'audience' },
    { title: 'ENABLED', path: 'enabled', as: 'truth' },
    { title: 'LAST ERROR', path: 'lastError' },
  ],
  create: {
    what: 'take JWTs of another identity provider',
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
