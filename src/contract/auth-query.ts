/** What the caller must still prove: SPEC Authentication Query; D-14, D-15. */
import { z } from 'zod'

export const AuthQuery = z.discriminatedUnion('typeId', [
  z.object({
    typeId: z.literal('MFA'),
    format: z.literal('alphaNumeric'),
    httpMethod: z.literal('POST'),
    httpUrl: z.string(),
    minLength: z.literal(6),
    maxLength: z.literal(6),
    provider: z.string(),
    isTotpEnrolled: z.boolean(),
  }),
  z.object({
    typeId: z.literal('PASSKEY'),
    format: z.literal('webauthn'),
    httpMethod: z.literal('POST'),
    httpUrl: z.string(),
    optionsUrl: z.string(),
    provider: z.string(),
    isPasskeyEnrolled: z.boolean(),
  }),
  z.object({
    typeId: z.literal('EXT-JWT'),
    provider: z.literal('url'),
    httpMethod: z.literal('GET'),
    httpUrl: z.string(),
    id: z.string(),
    issuer: z.string(),
    clientId: z.string(),
    scopes: z.array(z.string()).readonly(),
  }),
])
