/** Passkeys in both APIs: D-434. What goes to and comes from a browser has the JSON forms of WebAuthn Level 3 §5.1. */
import { z } from 'zod'
import { PASSKEY } from '../entities/passkey.ts'
import { ownShape } from './described.ts'
import { detail } from './envelope.ts'

const Descriptor = z.object({
  type: z.literal('public-key'),
  id: z.string(),
  transports: z.array(z.string()).readonly().optional(),
})

const RequestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.int(),
  userVerification: z.enum(['required', 'preferred']),
  allowCredentials: z.array(Descriptor).readonly(),
})

const CreationOptions = z.object({
  challenge: z.string(),
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })).readonly(),
  timeout: z.int(),
  excludeCredentials: z.array(Descriptor).readonly(),
  authenticatorSelection: z.object({
    residentKey: z.literal('preferred'),
    requireResidentKey: z.literal(false),
    userVerification: z.literal('preferred'),
  }),
  attestation: z.literal('none'),
})

const Credential = z.unknown().describe('What `toJSON()` of the PublicKeyCredential returns.')

export const NewPasskey = z.looseObject({
  credential: Credential,
  name: z.string().optional().describe('What its owner calls it; at most 64 characters.'),
})

/** One of the two. */
export const PasskeyAnswer = z.looseObject({
  credential: Credential.optional(),
  code: z.string().optional().describe('A recovery code, or a code of the authenticator app.'),
})

export const RenamedPasskey = z.looseObject({ name: z.string() })

export const Passkey = ownShape(PASSKEY)
export type Passkey = z.infer<typeof Passkey>

export const PasskeyReply = detail(Passkey)
export const PasskeysReply = detail(z.array(Passkey))
export const PasskeyOptionsReply = detail(z.object({ publicKey: RequestOptions }))
export const StartedPasskeyReply = detail(
  z.object({
    publicKey: CreationOptions,
    recoveryCodes: z
      .array(z.string())
      .describe('With the first factor only. They work once the passkey is added.'),
  }),
)
