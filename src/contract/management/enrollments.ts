/** /enrollments of the management API: API 3.3, 4.3. Only the responses of create and refresh have token and JWT. */
import { z } from 'zod'
import { fromRfc3339 } from '../../base/time/instant.ts'
import { ENROLLMENT_OF_ANY_METHOD } from '../../entities/enrollment.ts'
import { managedShape } from '../described.ts'
import { detail, Links, list, Timestamp } from '../envelope.ts'
import { Id, Name, NewTags } from './fields.ts'

/** The use case limits how far in the future it may be. */
const ExpiresAt = z
  .string()
  .refine((text) => fromRfc3339(text) !== undefined, 'must be a time like 2026-12-24T18:00:00Z')
  .describe('In RFC 3339. If it is missing, the enrollment expires after the configured time.')
  .optional()

const common = { identityId: Id, expiresAt: ExpiresAt, tags: NewTags.default({}) }

export const NewEnrollment = z.discriminatedUnion(
  'method',
  [
    z.strictObject({ ...common, method: z.literal('ott') }),
    z.strictObject({ ...common, method: z.literal('updb'), username: Name }),
    z.strictObject({ ...common, method: z.literal('ottca'), caId: Id }),
    z.strictObject({ ...common, method: z.literal('reset-password') }),
    z.strictObject({ ...common, method: z.literal('reset-mfa') }),
  ],
  { error: 'must be ott, updb, ottca, reset-password or reset-mfa' },
)

/** The optional enrollment in POST /identities. */
export const EnrollmentOfNew = z
  .strictObject({ ott: z.literal(true).optional(), updb: Name.optional(), ottca: Id.optional() })
  .refine(
    (given) => Object.values(given).filter((value) => value !== undefined).length === 1,
    'must be one of ott, updb and ottca',
  )

export const EnrollmentEnd = z.strictObject({ expiresAt: ExpiresAt })

const ENDS = { expiresAt: Timestamp }

/** D-317. */
const KEPT = {
  jwt: z
    .string()
    .optional()
    .describe('While it is unused; only with `edge.compatibility: openziti`, in the detail.'),
}

export const Invitation = z.object({
  id: z.string(),
  _links: Links,
  token: z.string().describe('Returned only in this response.'),
  jwt: z
    .string()
    .nullable()
    .describe('Contains the token; null if this instance cannot sign, and for a reset.'),
  link: z
    .string()
    .nullable()
    .describe(
      'The page where the person uses the token, which is in the fragment; null if this instance has no pages.',
    ),
  ...ENDS,
})
export type Invitation = z.infer<typeof Invitation>

const Common = managedShape(ENROLLMENT_OF_ANY_METHOD).extend(KEPT)

export const Enrollment = z.discriminatedUnion('method', [
  Common.extend({ method: z.literal('ott') }),
  Common.extend({ method: z.literal('updb'), username: z.string() }),
  Common.extend({ method: z.literal('ottca'), caId: z.string() }),
  Common.extend({ method: z.literal('reset-password') }),
  Common.extend({ method: z.literal('reset-mfa') }),
])
export type Enrollment = z.infer<typeof Enrollment>

/** The open enrollments of an identity, by method. */
export const OpenEnrollments = z.object({
  ott: z.object({ id: z.string(), method: z.literal('ott'), ...ENDS, ...KEPT }).optional(),
  updb: z
    .object({ id: z.string(), method: z.literal('updb'), ...ENDS, ...KEPT, username: z.string() })
    .optional(),
  ottca: z
    .object({ id: z.string(), method: z.literal('ottca'), ...ENDS, ...KEPT, caId: z.string() })
    .optional(),
})
export type OpenEnrollments = z.infer<typeof OpenEnrollments>

export const InvitationReply = detail(Invitation)
/** The response of POST /identities, with the enrollment if one was requested. */
export const CreatedIdentityReply = detail(
  z.object({ id: z.string(), _links: Links, enrollment: Invitation.optional() }),
)
export const EnrollmentReply = detail(Enrollment)
export const EnrollmentListReply = list(Enrollment)
