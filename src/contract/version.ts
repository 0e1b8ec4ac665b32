/** GET /version: API 3.1. */
import { z } from 'zod'
import { detail, Timestamp } from './envelope.ts'

export const Version = z.object({
  version: z.string(),
  revision: z.string(),
  buildDate: z.string(),
  runtimeVersion: z.string(),
  time: Timestamp.describe("The server's clock, to compare yours with."),
  apiVersions: z.record(
    z.string(),
    z.object({ v1: z.object({ path: z.string(), apiBaseUrls: z.array(z.url()) }) }),
  ),
  capabilities: z
    .array(z.enum(['OIDC_AUTH']))
    .describe(
      '`OIDC_AUTH` if OIDC is bound at this address, and the clients of this brand can log in that way.',
    ),
})
export type Version = z.infer<typeof Version>

export const VersionReply = detail(Version)
