/** GET /current-api-session and POST /authenticate: API 4.7. */
import { z } from 'zod'
import { AuthQuery } from './auth-query.ts'
import { detail, Entity, Reference, Timestamp } from './envelope.ts'

export const CurrentApiSession = Entity.extend({
  kind: z.enum(['oidc', 'legacy']),
  identityId: z.string(),
  identity: Reference,
  authenticatorId: z
    .string()
    .nullable()
    .describe('Null where a claim named the identity, and no authenticator of its own.'),
  clientId: z.string().nullable().describe('Null for a legacy session.'),
  amr: z.array(z.string()).describe('How the login was proven (RFC 8176).'),
  configTypes: z.array(z.string()),
  authQueries: z.array(AuthQuery).describe('What is still to be proven.'),
  isMfaRequired: z.boolean().describe('Whether a TOTP code is asked for.'),
  isMfaComplete: z.boolean().describe('Whether nothing is outstanding.'),
  ipAddress: z.string(),
  userAgent: z.string().nullable(),
  lastActivityAt: Timestamp.nullable().describe('Of a legacy session; null otherwise.'),
  expiresAt: Timestamp,
  expirationSeconds: z.int().nonnegative(),
})
export type CurrentApiSession = z.infer<typeof CurrentApiSession>

export const CurrentApiSessionReply = detail(CurrentApiSession)

export const LegacyApiSession = CurrentApiSession.extend({
  token: z.string().describe('For the header `zt-session`. Shown this once.'),
})
export type LegacyApiSession = z.infer<typeof LegacyApiSession>

export const AuthenticateReply = detail(LegacyApiSession)
