/** GET /current-api-session and POST /authenticate: API 4.7. */
import { z } from 'zod'
import { API_SESSION } from '../entities/api-session.ts'
import { AuthQuery } from './auth-query.ts'
import { ownShape } from './described.ts'
import { detail } from './envelope.ts'

export const CurrentApiSession = ownShape(API_SESSION).extend({
  authQueries: z.array(AuthQuery).describe('What the caller must still prove.'),
  expirationSeconds: z.int().nonnegative(),
})
export type CurrentApiSession = z.infer<typeof CurrentApiSession>

export const CurrentApiSessionReply = detail(CurrentApiSession)

export const LegacyApiSession = CurrentApiSession.extend({
  token: z.string().describe('For the header `zt-session`. Shown this once.'),
})
export type LegacyApiSession = z.infer<typeof LegacyApiSession>

export const AuthenticateReply = detail(LegacyApiSession)
