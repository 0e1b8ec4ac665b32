/** GET /current-identity: API 4.1. */
import { z } from 'zod'
import { detail, Entity, Reference, Tags, Timestamp } from './envelope.ts'

export const CurrentIdentity = Entity.extend({
  name: z.string(),
  type: z.enum(['Default', 'Router']),
  isAdmin: z.boolean(),
  externalId: z.string().nullable(),
  authPolicyId: z.string(),
  authPolicy: Reference,
  roleAttributes: z.array(z.string()),
  appData: Tags,
  isMfaEnabled: z.boolean(),
  disabled: z.boolean(),
  disabledAt: Timestamp.nullable(),
  disabledUntil: Timestamp.nullable(),
})
export type CurrentIdentity = z.infer<typeof CurrentIdentity>

export const CurrentIdentityReply = detail(CurrentIdentity)
