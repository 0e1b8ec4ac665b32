/** /signing-keys of the management API: API 3.3, D-23. Only the public parts. */
import { z } from 'zod'
import { SIGNING_KEY } from '../../entities/signing-key.ts'
import { SIGNING_ALGORITHMS } from '../../protocol/signing-algorithms.ts'
import { managedShape } from '../described.ts'
import { detail, Links, list } from '../envelope.ts'

export const NewSigningKey = z.strictObject({
  revokeNow: z
    .boolean()
    .default(false)
    .describe('After a leak: every older key is withdrawn at once.'),
})

export const SigningKey = managedShape(SIGNING_KEY)
  .extend({ algorithm: z.enum(SIGNING_ALGORITHMS) })
  .strict()
export type SigningKey = z.infer<typeof SigningKey>

/** A rotation creates a key for each kind of token. `id` is the one for access tokens. */
export const RotatedReply = detail(
  z.object({
    id: z.string().describe('The key for access tokens.'),
    keys: z.array(SigningKey.pick({ kid: true, purpose: true, algorithm: true, activeFrom: true })),
    _links: Links,
  }),
)

export const SigningKeyReply = detail(SigningKey)
export const SigningKeyListReply = list(SigningKey)
