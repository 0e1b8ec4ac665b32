/** An external issuer whose tokens we accept: API 4.5. */
import type { ExternalJwtSignerId } from '../base/ids.ts'
import { CHOSEN, CREATED_AND_UPDATED, LISTED, NAME, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

/** Computed from its keys when a response is built. */
const COMPUTED_OR_NULL = { isOptional: true, isComputed: true, shownTo: 'administrator' } as const

export const EXTERNAL_JWT_SIGNER = {
  id: { type: 'text', of: as<ExternalJwtSignerId>(), ...LISTED, title: 'ID' },
  ...CREATED_AND_UPDATED,
  name: NAME,
  /** Unique, and compared exactly. */
  issuer: {
    type: 'text',
    ...CHOSEN,
    title: 'ISSUER',
    option: { name: 'issuer', what: 'the exact iss of its JWTs' },
  },
  audience: {
    type: 'text',
    ...CHOSEN,
    title: 'AUDIENCE',
    option: { name: 'audience', what: 'the aud of its JWTs' },
  },
  jwksEndpoint: {
    type: 'text',
    ...COMPUTED_OR_NULL,
    option: {
      name: 'jwks-endpoint',
      value: 'URL',
      canClear: true,
      what: 'the URL of its key set; give this or --cert',
    },
  },
  certPem: {
    type: 'text',
    ...COMPUTED_OR_NULL,
    option: {
      name: 'cert',
      value: 'FILE',
      from: 'file',
      canClear: true,
      what: 'the certificate whose key signs, in PEM',
    },
  },
  kid: {
    type: 'text',
    ...COMPUTED_OR_NULL,
    option: { name: 'kid', value: 'ID', canClear: true, what: 'the id of the key in --cert' },
  },
  externalAuthUrl: {
    type: 'text',
    isOptional: true,
    ...CHOSEN,
    option: {
      name: 'auth-url',
      value: 'URL',
      canClear: true,
      what: 'where users log in to get a token',
    },
  },
  clientId: {
    type: 'text',
    isOptional: true,
    ...CHOSEN,
    option: {
      name: 'client-id',
      value: 'ID',
      canClear: true,
      what: 'the client id of this service there',
    },
  },
  scopes: {
    type: 'texts',
    ...CHOSEN,
    option: {
      name: 'scope',
      value: 'SCOPE',
      canClear: true,
      what: 'a scope to request there; repeatable, replaces all',
    },
  },
  targetToken: {
    type: 'text',
    choices: ['ACCESS', 'ID'],
    ...CHOSEN,
    option: { name: 'target-token', what: 'which of its tokens is used' },
  },
  enabled: {
    type: 'boolean',
    ...CHOSEN,
    title: 'ENABLED',
    option: { name: 'enabled', what: 'its JWTs count' },
  },
  /** The name of a claim, or a JSON pointer (RFC 6901) into the claims. */
  claimsProperty: {
    type: 'text',
    ...CHOSEN,
    option: {
      name: 'claim',
      value: 'CLAIM',
      what: 'the claim that names the identity: a name or a JSON pointer',
    },
  },
  useExternalId: {
    type: 'boolean',
    ...CHOSEN,
    option: {
      name: 'use-external-id',
      what: 'the claim is an external id, not the id of the identity',
    },
  },
  fingerprint: {
    type: 'text',
    ...COMPUTED_OR_NULL,
    description: 'Of the certificate, like the next three fields.',
  },
  commonName: { type: 'text', ...COMPUTED_OR_NULL },
  notBefore: { type: 'time', ...COMPUTED_OR_NULL },
  notAfter: { type: 'time', ...COMPUTED_OR_NULL },
  lastFetchedAt: {
    type: 'time',
    ...COMPUTED_OR_NULL,
    description: 'When this instance last fetched the keys from the endpoint.',
  },
  lastError: { type: 'text', ...COMPUTED_OR_NULL, title: 'LAST ERROR' },
  tags: TAGS,
} as const satisfies Fields

const { id, name, issuer, audience, externalAuthUrl, clientId, scopes, targetToken } =
  EXTERNAL_JWT_SIGNER

/** The public part: how to get a token that we accept. Nothing about keys or claims. */
export const PUBLIC_SIGNER = {
  id,
  name,
  issuer,
  audience,
  externalAuthUrl,
  clientId,
  scopes,
  targetToken,
} satisfies Fields

/** What a check of one of its tokens looks at, in the order of the response: API 3.3. */
export const SIGNER_CHECK_STEPS = [
  'signer',
  'signature',
  'times',
  'issuer',
  'audience',
  'claim',
  'identity',
  'policy',
] as const
