/** The caller's own TOTP enrollment: API 3.1. */
import { z } from 'zod'
import { detail, Links } from './envelope.ts'

export const MfaEnrollment = z.object({
  id: z.string(),
  isVerified: z.boolean(),
  provisioningUrl: z
    .string()
    .optional()
    .describe('For the authenticator app; only until the enrollment is verified.'),
  _links: Links,
})
export type MfaEnrollment = z.infer<typeof MfaEnrollment>

export const StartedMfaEnrollment = MfaEnrollment.extend({
  recoveryCodes: z.array(z.string()).describe('Returned only in this response.'),
})

export const MfaEnrollmentReply = detail(MfaEnrollment)
export const StartedMfaEnrollmentReply = detail(StartedMfaEnrollment)
export const RecoveryCodesLeftReply = detail(z.object({ left: z.int().nonnegative() }))
export const FreshRecoveryCodesReply = detail(z.object({ recoveryCodes: z.array(z.string()) }))
