/** /signing-keys of the management API: API 3.3, D-23. Only the public parts. */
import { z } from 'zod'
import { detail, Links, list, Timestamp } from '../envelope.ts'

export const NewSigningKey = z.strictObject({
  revokeNow: z
    .boolean()
    .default(false)
    .describe('After a leak: every older key is withdrawn at once.'),
})

export const SigningKey = z.strictObject({
  id: z.string(),
  kid: z.string(),
  algorithm: z.enum(['ES256', 'RS256', 'EdDSA']),
  state: z.enum(['waiting', 'signing', 'retiring']),
  createdAt: Timestamp,
  activeFrom: Timestamp.describe('When it starts to sign.'),
  publishedUntil: Timestamp.nullable().describe('Null while it has no successor.'),
  jwk: z.record(z.string(), z.string()),
  _links: Links,
})
export type SigningKey = z.infer<typeof SigningKey>

export const SigningKeyReply = detail(SigningKey)
export const SigningKeyListReply = list(SigningKey)
