/** /external-jwt-signers, of the management API and, in public, of the client API: API 3.1, 3.3, 4.5. */
import { z } from 'zod'
import { detail, Entity, list, Timestamp } from '../envelope.ts'
import { line, Name, NewTags, Pem } from './fields.ts'

const TargetToken = z.enum(['ACCESS', 'ID'])
const Url = line(2048)

export const NewExternalJwtSigner = z
  .strictObject({
    name: Name,
    enabled: z.boolean().default(true),
    issuer: line(512).describe('Compared exactly. Unique.'),
    audience: line(512),
    jwksEndpoint: Url.nullish().describe('Where its keys are; this, or `certPem`.'),
    certPem: Pem.nullish().describe('The certificate whose key signs; this, or `jwksEndpoint`.'),
    kid: line(256).nullish().describe('Of the key of `certPem`.'),
    claimsProperty: line(256)
      .default('/sub')
      .describe('The claim that names the identity: its name, or a JSON pointer.'),
    useExternalId: z
      .boolean()
      .default(true)
      .describe('Whether the claim holds an external id, or the id of the identity.'),
    externalAuthUrl: Url.nullish().describe('Where people log in to get a token.'),
    clientId: line(256).nullish(),
    scopes: z
      .array(
        z
          .string()
          .min(1)
          .max(256)
          // RFC 6749 §3.3: scopes are joined by spaces.
          .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope, without spaces'),
      )
      .max(64)
      .default([]),
    targetToken: TargetToken.default('ACCESS').describe('Which of its tokens counts here.'),
    tags: NewTags.default({}),
  })
  .refine(({ jwksEndpoint, certPem }) => isGiven(jwksEndpoint) !== isGiven(certPem), {
    path: ['jwksEndpoint'],
    error: 'give exactly one of jwksEndpoint and certPem',
  })
  .refine(({ kid, certPem }) => !isGiven(kid) || isGiven(certPem), {
    path: ['kid'],
    error: 'goes with certPem only: the keys of an endpoint have their own',
  })

/** What anybody may know: how to get a token that counts here. */
export const PublicSigner = z.object({
  id: z.string(),
  name: z.string(),
  issuer: z.string(),
  audience: z.string(),
  externalAuthUrl: z.string().nullable(),
  clientId: z.string().nullable(),
  scopes: z.array(z.string()),
  targetToken: TargetToken,
})
export type PublicSigner = z.infer<typeof PublicSigner>

export const ExternalJwtSigner = Entity.extend(PublicSigner.shape).extend({
  enabled: z.boolean(),
  jwksEndpoint: z.string().nullable(),
  certPem: z.string().nullable(),
  kid: z.string().nullable(),
  claimsProperty: z.string(),
  useExternalId: z.boolean(),
  fingerprint: z.string().nullable().describe('Of the certificate, as the next three.'),
  commonName: z.string().nullable(),
  notBefore: Timestamp.nullable(),
  notAfter: Timestamp.nullable(),
  lastFetchedAt: Timestamp.nullable().describe('Of the endpoint, as this instance sees it.'),
  lastError: z.string().nullable(),
  keys: z.array(z.object({ kid: z.string().nullable(), algorithms: z.array(z.string()) })),
})
export type ExternalJwtSigner = z.infer<typeof ExternalJwtSigner>

export const ExternalJwtSignerReply = detail(ExternalJwtSigner)
export const ExternalJwtSignerListReply = list(ExternalJwtSigner)
export const PublicSignerListReply = list(PublicSigner)

function isGiven(value: string | null | undefined): boolean {
  return value !== null && value !== undefined
}
