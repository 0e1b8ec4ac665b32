/** /signing-keys of the management API: API 3.3, D-23. Only the public parts. */
import { z } from 'zod'
import { SIGNING_ALGORITHMS } from '../../protocol/signing-algorithms.ts'
import { detail, Links, list, Timestamp } from '../envelope.ts'

export const NewSigningKey = z.strictObject({
  revokeNow: z
    .boolean()
    .default(false)
    .describe('After a leak: every older key is withdrawn at once.'),
})

const Algorithm = z.enum(SIGNING_ALGORITHMS)
const Purpose = z
  .enum(['access', 'id', 'any'])
  .describe(
    'Which tokens it signs: access tokens, ID tokens, or both (a key that an older version created).',
  )

export const SigningKey = z.strictObject({
  id: z.string(),
  kid: z.string(),
  purpose: Purpose,
  algorithm: Algorithm,
  state: z.enum(['waiting', 'signing', 'retiring']),
  createdAt: Timestamp,
  activeFrom: Timestamp.describe('When it starts to sign.'),
  publishedUntil: Timestamp.nullable().describe('Null while it has no successor.'),
  jwk: z.record(z.string(), z.string()),
  _links: Links,
})
export type SigningKey = z.infer<typeof SigningKey>

/** A rotation creates a key for each kind of token. `id` is the one for access tokens. */
export const RotatedReply = detail(
  z.object({
    id: z.string().describe('The key for access tokens.'),
    keys: z.array(
      z.object({ kid: z.string(), purpose: Purpose, algorithm: Algorithm, activeFrom: Timestamp }),
    ),
    _links: Links,
  }),
)

export const SigningKeyReply = detail(SigningKey)
export const SigningKeyListReply = list(SigningKey)
