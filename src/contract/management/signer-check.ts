/** POST /external-jwt-signers/{id}/check of the management API: API 3.3. */
import { z } from 'zod'
import { SIGNER_CHECK_STEPS } from '../../entities/external-jwt-signer.ts'
import { detail } from '../envelope.ts'

/** The longest token that a login accepts. */
export const SignerCheck = z.strictObject({ jwt: z.string().min(1).max(16_384) })

const CheckedStep = z.strictObject({
  step: z.enum(SIGNER_CHECK_STEPS),
  passed: z.boolean().nullable().describe('Null if it depends on a step that failed.'),
  expected: z.string().nullable(),
  received: z.string().nullable(),
  message: z.string(),
})

export const CheckedJwt = z.strictObject({ passed: z.boolean(), steps: z.array(CheckedStep) })
export type CheckedJwt = z.infer<typeof CheckedJwt>

export const CheckedJwtReply = detail(CheckedJwt)
