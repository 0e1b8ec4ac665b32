/** POST /router-checks: an edge router asks about a `zt-session`. D-42. */
import { z } from 'zod'
import { LONGEST_MARK, MOST_REPORTED_SESSIONS } from '../protocol/limits.ts'
import { detail, Timestamp } from './envelope.ts'

/** POST /router-confirmations: D-381, D-383. */
export const RouterConfirmation = z.strictObject({
  run: z
    .string()
    .regex(/^[\w-]{8,32}$/)
    .describe('The name in `confirms` of its feed.'),
  mark: z.string().min(1).max(LONGEST_MARK).describe('The newest mark whose lines it has applied.'),
  sessionIds: z
    .array(z.string().regex(/^[\w-]{1,64}$/))
    .max(MOST_REPORTED_SESSIONS)
    .default([])
    .describe('Sessions that it has admitted since it last reported them.'),
})

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
    authenticatedAt: Timestamp,
    roleAttributes: z.array(z.string()),
    /** Counts the times that the identity has lost roles: the feed names the version without them (D-400). */
    roleVersion: z.number(),
  }),
])
export type RouterCheckAnswer = z.infer<typeof RouterCheckAnswer>

export const RouterCheckReply = detail(RouterCheckAnswer)
