/** GET /current-api-session: API 4.7. */
import { z } from 'zod'
import { detail, Entity, Reference, Timestamp } from './envelope.ts'

export const CurrentApiSession = Entity.extend({
  kind: z.literal('oidc'),
  identityId: z.string(),
  identity: Reference,
  authenticatorId: z.string(),
  clientId: z.string(),
  amr: z.array(z.string()),
  configTypes: z.array(z.string()),
  ipAddress: z.string(),
  userAgent: z.string().nullable(),
  expiresAt: Timestamp,
  expirationSeconds: z.int().nonnegative(),
})
export type CurrentApiSession = z.infer<typeof CurrentApiSession>

export const CurrentApiSessionReply = detail(CurrentApiSession)
