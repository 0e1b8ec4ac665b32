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
    issuer: line(512),
    audience: line(512),
    jwksEndpoint: Url.nullish(),
    certPem: Pem.nullish(),
    kid: line(256).nullish(),
    claimsProperty: line(256).default('/sub'),
    useExternalId: z.boolean().default(true),
    externalAuthUrl: Url.nullish(),
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
    targetToken: TargetToken.default('ACCESS'),
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
  // Of the certificate; null where there is none.
  fingerprint: z.string().nullable(),
  commonName: z.string().nullable(),
  notBefore: Timestamp.nullable(),
  notAfter: Timestamp.nullable(),
  // Of the endpoint, as this instance sees it.
  lastFetchedAt: Timestamp.nullable(),
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
