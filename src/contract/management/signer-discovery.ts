/** POST /external-jwt-signers/discover of the management API: API 3.3, D-366. */
import { z } from 'zod'
import { detail } from '../envelope.ts'
import { line } from './fields.ts'

export const SignerDiscovery = z.strictObject({
  url: line(2048).describe('The issuer, or the address of its discovery document.'),
  clientId: line(256)
    .optional()
    .describe('The client id of this service there. With one, users can be sent there to sign in.'),
  audience: line(512).optional().describe('The `aud` of its JWTs; default: the client id.'),
})

export const SignerProposal = z.strictObject({
  issuer: z.string(),
  audience: z.string().nullable(),
  jwksEndpoint: z.string(),
  externalAuthUrl: z.string().nullable(),
  clientId: z.string().nullable(),
  scopes: z.array(z.string()),
  targetToken: z.enum(['ACCESS', 'ID']),
  claimsProperty: z.string(),
  claims: z
    .array(z.string())
    .describe('The claims that the provider says it has; not part of a signer.'),
})

export const SignerProposalReply = detail(SignerProposal)
