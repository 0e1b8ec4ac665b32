/** GET /current-api-session and POST /authenticate: API 4.7. */
import { z } from 'zod'
import { AuthQuery } from './auth-query.ts'
import { detail, Entity, Reference, Timestamp } from './envelope.ts'

export const CurrentApiSession = Entity.extend({
  kind: z.enum(['oidc', 'legacy']),
  identityId: z.string(),
  identity: Reference,
  /** Null where a claim named the identity, and no authenticator of its own. */
  authenticatorId: z.string().nullable(),
  /** Null for a legacy session. */
  clientId: z.string().nullable(),
  amr: z.array(z.string()),
  configTypes: z.array(z.string()),
  authQueries: z.array(AuthQuery),
  isMfaRequired: z.boolean(),
  isMfaComplete: z.boolean(),
  ipAddress: z.string(),
  userAgent: z.string().nullable(),
  lastActivityAt: Timestamp.nullable(),
  expiresAt: Timestamp,
  expirationSeconds: z.int().nonnegative(),
})
export type CurrentApiSession = z.infer<typeof CurrentApiSession>

export const CurrentApiSessionReply = detail(CurrentApiSession)

/** What POST /authenticate answers: the only time that the token is shown. */
export const LegacyApiSession = CurrentApiSession.extend({ token: z.string() })
export type LegacyApiSession = z.infer<typeof LegacyApiSession>

export const AuthenticateReply = detail(LegacyApiSession)
