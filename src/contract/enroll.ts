/** Enrolling by token: API 3.2. Unknown fields are ignored, as in the body of a login (D-4). */
import { z } from 'zod'
import { detail } from './envelope.ts'

/** Missing if it is in the query. */
const token = z.string().optional()

export const EnrollByCsr = z.object({
  token,
  clientCsr: z.string(),
  identityType: z
    .string()
    .optional()
    .describe(
      'If the identity has another type, the enrollment is refused and the token stays unspent.',
    ),
})
export const EnrollByPassword = z.object({ token, username: z.string(), password: z.string() })
export const EnrollByToken = z.object({ token })
export const EnrollByAny = z.union([EnrollByCsr, EnrollByPassword, EnrollByToken])

/** `cert`: leaf first, then intermediates. `ca`: the bundle to trust. PEM. */
const EnrolledCertificate = z.object({ cert: z.string(), ca: z.string() })
const EnrolledPassword = z.object({ username: z.string() })
const EnrolledIdentity = z.object({ id: z.string() })

export const EnrolledCertificateReply = detail(EnrolledCertificate)
export const EnrolledPasswordReply = detail(EnrolledPassword)
export const EnrolledIdentityReply = detail(EnrolledIdentity)
export const EnrolledReply = detail(
  z.union([EnrolledCertificate, EnrolledPassword, EnrolledIdentity, z.strictObject({})]),
)
