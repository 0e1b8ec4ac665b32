/** /external-jwt-signers of the management API, and the public part in the client API: API 3.1, 3.3, 4.5. */
import { z } from 'zod'
import { EXTERNAL_JWT_SIGNER, PUBLIC_SIGNER } from '../../entities/external-jwt-signer.ts'
import { managedShape } from '../described.ts'
import { detail, list } from '../envelope.ts'
import { line, Name, NewTags, Pem } from './fields.ts'

const TargetToken = z.enum(EXTERNAL_JWT_SIGNER.targetToken.choices)
const Url = line(2048)

export const NewExternalJwtSigner = z
  .strictObject({
    name: Name,
    enabled: z.boolean().default(true),
    issuer: line(512).describe('Compared exactly. Unique.'),
    audience: line(512),
    jwksEndpoint: Url.nullish().describe('The URL of its key set. Give either this or `certPem`.'),
    certPem: Pem.nullish().describe(
      'The certificate whose key signs. Give either this or `jwksEndpoint`.',
    ),
    kid: line(256).nullish().describe('The id of the key in `certPem`.'),
    claimsProperty: line(256)
      .default('/sub')
      .describe('The claim that names the identity: its name, or a JSON pointer.'),
    useExternalId: z
      .boolean()
      .default(true)
      .describe('Whether the claim holds an external id, or the id of the identity.'),
    externalAuthUrl: Url.nullish().describe('Where users log in to get a token.'),
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
    targetToken: TargetToken.default('ACCESS').describe('Which of its tokens is used here.'),
    tags: NewTags.default({}),
  })
  .refine(({ jwksEndpoint, certPem }) => isGiven(jwksEndpoint) !== isGiven(certPem), {
    path: ['jwksEndpoint'],
    error: 'give exactly one of jwksEndpoint and certPem',
  })
  .refine(({ kid, certPem }) => !isGiven(kid) || isGiven(certPem), {
    path: ['kid'],
    error: 'is only allowed with certPem: the keys of an endpoint have their own ids',
  })

/** The public part: how to get a token that we accept. */
export const PublicSigner = managedShape(PUBLIC_SIGNER).omit({ _links: true })
export type PublicSigner = z.infer<typeof PublicSigner>

export const ExternalJwtSigner = managedShape(EXTERNAL_JWT_SIGNER).extend({
  keys: z.array(z.object({ kid: z.string().nullable(), algorithms: z.array(z.string()) })),
})
export type ExternalJwtSigner = z.infer<typeof ExternalJwtSigner>

export const ExternalJwtSignerReply = detail(ExternalJwtSigner)
export const ExternalJwtSignerListReply = list(ExternalJwtSigner)
export const PublicSignerListReply = list(PublicSigner)

function isGiven(value: string | null | undefined): boolean {
  return value !== null && value !== undefined
}
