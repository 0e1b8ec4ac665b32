/** POST /router-checks: an edge router asks about a `zt-session`. D-42. */
import { z } from 'zod'
import { detail, Timestamp } from './envelope.ts'

export const RouterCheck = z.strictObject({ ztSession: z.string().min(1).max(256) })

export const RouterCheckAnswer = z.discriminatedUnion('isActive', [
  z.object({ isActive: z.literal(false) }),
  z.object({
    isActive: z.literal(true),
    sessionId: z.string(),
    identityId: z.string(),
    externalId: z.string().nullable(),
    isAdmin: z.boolean(),
    expiresAt: Timestamp,
    authPolicyId: z.string(),
    amr: z.array(z.string()),
    /** The External JWT Signer that vouched for the login. */
    externalJwtSignerId: z.string().nullable(),
    /** The third-party CA of the certificate that the login used. */
    caId: z.string().nullable(),
  }),
])
export type RouterCheckAnswer = z.infer<typeof RouterCheckAnswer>

export const RouterCheckReply = detail(RouterCheckAnswer)
