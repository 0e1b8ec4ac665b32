/** Somebody else whose tokens count here: API 4.5. */
import type { ExternalJwtSignerId } from '../base/ids.ts'
import { CREATED_AND_UPDATED, NAME, TAGS } from './every-entity.ts'
import { as, type Fields } from './field.ts'

export const EXTERNAL_JWT_SIGNER = {
  id: {
    type: 'text',
    of: as<ExternalJwtSignerId>(),
    isListed: true,
    shownTo: 'administrator',
    title: 'ID',
  },
  ...CREATED_AND_UPDATED,
  name: NAME,
  /** Unique, and compared exactly. */
  issuer: {
    type: 'text',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    title: 'ISSUER',
    option: { name: 'issuer', what: 'iss of its JWTs, exactly' },
  },
  audience: {
    type: 'text',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    title: 'AUDIENCE',
    option: { name: 'audience', what: 'aud of its JWTs' },
  },
  jwksEndpoint: {
    type: 'text',
    isOptional: true,
    isComputed: true,
    shownTo: 'administrator',
    option: {
      name: 'jwks-endpoint',
      value: 'URL',
      canClear: true,
      what: 'where its keys are; this, or --cert',
    },
  },
  certPem: {
    type: 'text',
    isOptional: true,
    isComputed: true,
    shownTo: 'administrator',
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
    isOptional: true,
    isComputed: true,
    shownTo: 'administrator',
    option: { name: 'kid', value: 'ID', canClear: true, what: 'of the key of --cert' },
  },
  externalAuthUrl: {
    type: 'text',
    isOptional: true,
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: {
      name: 'auth-url',
      value: 'URL',
      canClear: true,
      what: 'where people log in to get a token',
    },
  },
  clientId: {
    type: 'text',
    isOptional: true,
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: { name: 'client-id', value: 'ID', canClear: true, what: 'of this service, there' },
  },
  scopes: {
    type: 'texts',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: {
      name: 'scope',
      value: 'SCOPE',
      canClear: true,
      what: 'to ask for there; repeat it. All are replaced',
    },
  },
  targetToken: {
    type: 'text',
    choices: ['ACCESS', 'ID'],
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: { name: 'target-token', what: 'which of its tokens counts' },
  },
  enabled: {
    type: 'boolean',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    title: 'ENABLED',
    option: { name: 'enabled', what: 'its JWTs count' },
  },
  /** The name of a claim, or a JSON pointer (RFC 6901) into the claims. */
  claimsProperty: {
    type: 'text',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: {
      name: 'claim',
      value: 'CLAIM',
      what: 'which names the identity; a name or a JSON pointer',
    },
  },
  useExternalId: {
    type: 'boolean',
    isListed: true,
    isWritable: true,
    shownTo: 'administrator',
    option: {
      name: 'use-external-id',
      what: 'the claim is an external id, and not the id of the identity',
    },
  },
  fingerprint: {
    type: 'text',
    isOptional: true,
    isComputed: true,
    shownTo: 'administrator',
    description: 'Of the certificate, as the next three.',
  },
  commonName: { type: 'text', isOptional: true, isComputed: true, shownTo: 'administrator' },
  notBefore: { type: 'time', isOptional: true, isComputed: true, shownTo: 'administrator' },
  notAfter: { type: 'time', isOptional: true, isComputed: true, shownTo: 'administrator' },
  lastFetchedAt: {
    type: 'time',
    isOptional: true,
    isComputed: true,
    shownTo: 'administrator',
    description: 'Of the endpoint, as this instance sees it.',
  },
  lastError: {
    type: 'text',
    isOptional: true,
    isComputed: true,
    shownTo: 'administrator',
    title: 'LAST ERROR',
  },
  tags: TAGS,
} as const satisfies Fields

const { id, name, issuer, audience, externalAuthUrl, clientId, scopes, targetToken } =
  EXTERNAL_JWT_SIGNER

/** What anybody may read and ask for: how to get a token that counts here. Nothing about keys or claims. */
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
