/** /auth-policies of the management API: API 3.3, 4.4. */
import { z } from 'zod'
import { AUTH_POLICY } from '../../entities/auth-policy.ts'
import { eachDemand } from '../../protocol/factors/second-factors.ts'
import { SHORTEST_PASSWORD } from '../../protocol/limits.ts'
import { managedShape } from '../described.ts'
import { detail, list } from '../envelope.ts'
import { Id, Name, NewTags } from './fields.ts'

const MOST_SIGNERS = 64

export const NewAuthPolicy = z.strictObject({
  name: Name,
  primary: z.strictObject({
    cert: z
      .strictObject({
        allowed: z.boolean(),
        allowExpiredCerts: z.boolean().optional(),
        bindTokens: z
          .boolean()
          .optional()
          .describe('Whether our APIs accept a token only together with its certificate.'),
      })
      .optional(),
    extJwt: z
      .strictObject({
        allowed: z.boolean(),
        allowedSigners: z
          .array(Id)
          .max(MOST_SIGNERS)
          .optional()
          .describe('Empty means every enabled signer.'),
      })
      .optional(),
    updb: z
      .strictObject({
        allowed: z.boolean(),
        minPasswordLength: z.int().min(SHORTEST_PASSWORD).max(128).optional(),
        maxAttempts: z
          .int()
          .min(0)
          .max(1000)
          .optional()
          .describe(
            'Consecutive failures from one network that block it from the password; 0 means never.',
          ),
        lockoutDurationMinutes: z
          .int()
          .min(0)
          .max(365 * 24 * 60)
          .optional()
          .describe('0 means until an administrator unlocks it.'),
      })
      .optional(),
    passkey: z
      .strictObject({
        allowed: z
          .boolean()
          .describe('Whether a passkey is enough to sign in, without a password.'),
      })
      .optional(),
  }),
  secondary: z
    .strictObject({
      ...eachDemand(() => z.boolean().optional()),
      requireBoundToken: z
        .boolean()
        .optional()
        .describe(
          'Whether tokens must be bound to a key (DPoP) or to the certificate of the login; every call must prove it.',
        ),
      requireExtJwt: Id.nullish().describe('The signer whose JWT is required on every call.'),
      requireExtJwtSigner: Id.nullish().describe(
        'The same setting, under the name that older clients use.',
      ),
    })
    .refine(
      ({ requireExtJwt: one, requireExtJwtSigner: other }) =>
        (one ?? undefined) === undefined || (other ?? undefined) === undefined || one === other,
      { path: ['requireExtJwtSigner'], error: 'must be the same as requireExtJwt' },
    )
    .optional(),
  tags: NewTags.default({}),
})

export const AuthPolicy = managedShape(AUTH_POLICY).extend({
  primary: z.object({
    cert: z.object({
      allowed: z.boolean(),
      allowExpiredCerts: z.boolean(),
      bindTokens: z.boolean(),
    }),
    extJwt: z.object({ allowed: z.boolean(), allowedSigners: z.array(z.string()) }),
    updb: z.object({
      allowed: z.boolean(),
      minPasswordLength: z.int(),
      maxAttempts: z.int(),
      lockoutDurationMinutes: z.int(),
    }),
    passkey: z.object({ allowed: z.boolean() }),
  }),
  secondary: z.object({
    ...eachDemand(() => z.boolean()),
    requireBoundToken: z.boolean(),
    requireExtJwt: z.string().nullable(),
    requireExtJwtSigner: z.string().nullable(),
  }),
})
export type AuthPolicy = z.infer<typeof AuthPolicy>

export const AuthPolicyReply = detail(AuthPolicy)
export const AuthPolicyListReply = list(AuthPolicy)
