/** /identities of the management API: API 3.3, 4.1. */
import { z } from 'zod'
import { CurrentIdentity } from '../current-identity.ts'
import { detail, list } from '../envelope.ts'
import { ExternalId, Id, Name, NewTags, Roles } from './fields.ts'

export const NewIdentity = z.strictObject({
  name: Name,
  type: z.enum(['Default', 'Router']),
  isAdmin: z.boolean(),
  externalId: ExternalId.nullish(),
  authPolicyId: Id.optional(),
  roleAttributes: Roles.default([]),
  appData: NewTags.default({}),
  tags: NewTags.default({}),
})

const TEN_YEARS_IN_MINUTES = 10 * 365 * 24 * 60

export const Disablement = z.strictObject({
  /** 0: until somebody enables it. */
  durationMinutes: z.int().min(0).max(TEN_YEARS_IN_MINUTES).default(0),
})

export const Identity = CurrentIdentity.extend({
  isMfaEnabled: z.boolean(),
  hasApiSession: z.boolean(),
  /** One of each method at most. */
  authenticators: z.object({
    updb: z.object({ id: z.string(), username: z.string() }).optional(),
    cert: z.object({ id: z.string(), fingerprint: z.string() }).optional(),
  }),
})
export type Identity = z.infer<typeof Identity>

export const IdentityReply = detail(Identity)
export const IdentityListReply = list(Identity)
