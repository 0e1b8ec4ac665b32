/** /identities of the management API: API 3.3, 4.1. */
import { z } from 'zod'
import { IDENTITY } from '../../entities/identity.ts'
import { managedShape } from '../described.ts'
import { detail, list } from '../envelope.ts'
import { EnrollmentOfNew, OpenEnrollments } from './enrollments.ts'
import { ExternalId, Id, Name, NewTags, Roles, RouterHosts } from './fields.ts'

/** The fields that an administrator sets: PUT replaces all of them, PATCH some. */
export const ChosenIdentity = z.strictObject({
  name: Name,
  type: z.enum(IDENTITY.type.choices).describe('`Router` for edge routers.'),
  isAdmin: z.boolean(),
  externalId: ExternalId.nullish().describe(
    'The id that external JWTs and certificates of third-party CAs use for it. Unique.',
  ),
  authPolicyId: Id.optional().describe('Defaults to `default`.'),
  roleAttributes: Roles.default([]),
  hosts: RouterHosts.default([]).describe(
    'Only of a router: `HOST` or `HOST:PORT`. Its certificate is for these names, and browsers may return there from a login.',
  ),
  appData: NewTags.default({}),
  tags: NewTags.default({}),
})

/** With `enrollment`, the response contains its token (API 3.3). */
export const NewIdentity = ChosenIdentity.extend({ enrollment: EnrollmentOfNew.optional() })

const TEN_YEARS_IN_MINUTES = 10 * 365 * 24 * 60

export const Disablement = z.strictObject({
  durationMinutes: z
    .int()
    .min(0)
    .max(TEN_YEARS_IN_MINUTES)
    .default(0)
    .describe('0 means until an administrator enables it.'),
})

export const Identity = managedShape(IDENTITY).extend({
  authenticators: z
    .object({
      updb: z.object({ id: z.string(), username: z.string() }).optional(),
      cert: z.object({ id: z.string(), fingerprint: z.string() }).optional(),
    })
    .describe('At most one of each method.'),
  enrollment: OpenEnrollments.describe('Open enrollments, by method.'),
})
export type Identity = z.infer<typeof Identity>

export const IdentityReply = detail(Identity)
export const IdentityListReply = list(Identity)
