/** POST /auth-policies/{id}/what-if of the management API: API 3.3, D-365. */
import { z } from 'zod'
import { detail, Timestamp } from '../envelope.ts'

const affected = <T extends z.ZodType>(row: T) =>
  z.strictObject({ count: z.int(), rows: z.array(row).describe('The first 100.') })

const Named = z.strictObject({ id: z.string(), name: z.string(), isAdmin: z.boolean() })

export const PolicyPreview = z.strictObject({
  changed: z.array(z.string()).describe('The members of the policy that would change.'),
  refusal: z
    .enum(['LAST_ADMINISTRATOR'])
    .nullable()
    .describe('Why saving would be refused; null if it would not be.'),
  identities: z.strictObject({
    total: z.int().describe('How many identities have the policy.'),
    judged: z.int().describe('How many of them were judged: at most 20 000, and then a few more.'),
  }),
  lockedOut: affected(
    Named.extend({
      because: z.array(
        z.strictObject({ method: z.string(), reason: z.string(), message: z.string() }),
      ),
    }),
  ).describe('Those that can sign in now and could not afterwards.'),
  alreadyUnable: z.int().describe('Those that cannot sign in now either, or are disabled.'),
  mustEnroll: affected(Named).describe(
    'Those that would have to set up a second factor at their next login.',
  ),
  sessions: z.strictObject({
    live: z.int(),
    ending: affected(
      z.strictObject({
        id: z.string(),
        kind: z.enum(['oidc', 'legacy']),
        createdAt: Timestamp,
        identity: z.strictObject({ id: z.string(), name: z.string() }),
        reason: z.string(),
        message: z.string(),
      }),
    ).describe('Those that would be refused at their next call or refresh.'),
    restricted: z
      .int()
      .describe('Legacy sessions that would be refused until they prove a further factor.'),
  }),
})
export type PolicyPreview = z.infer<typeof PolicyPreview>

export const PolicyPreviewReply = detail(PolicyPreview)
