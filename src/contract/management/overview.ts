/** /overview and /expiry of the management API: API 3.3, D-367 to D-370. */
import { z } from 'zod'
import { EXPIRY_KINDS } from '../../entities/expiring.ts'
import { detail, list, Timestamp } from '../envelope.ts'

export const Expiring = z.strictObject({
  id: z.string(),
  kind: z.enum(EXPIRY_KINDS),
  name: z.string(),
  endsAt: Timestamp,
  renewedBy: z
    .enum(['service', 'operator', 'holder'])
    .describe('Who must act: the service itself, its operator, or the holder of the certificate.'),
  identityId: z.string().nullable().describe('Only for an enrolled certificate.'),
})
export type Expiring = z.infer<typeof Expiring>

export const ExpiryReply = list(Expiring)

const Interval = z.strictObject({
  from: Timestamp,
  to: Timestamp,
  succeeded: z.int(),
  failed: z.int(),
  locked: z.int(),
})

export const Overview = z.strictObject({
  at: Timestamp,
  signIns: z.strictObject({
    hours: z.array(Interval).describe('The last 24 hours.'),
    days: z.array(Interval).describe('The last 30 days, in UTC.'),
  }),
  sessions: z.strictObject({ oidc: z.int(), legacy: z.int() }),
  sessionsOverTime: z
    .strictObject({
      quarters: z
        .array(z.strictObject({ at: Timestamp, oidc: z.int(), legacy: z.int() }))
        .describe('Live sessions at the beginning of each quarter of an hour, last 24 hours.'),
      days: z
        .array(z.strictObject({ from: Timestamp, highest: z.int() }))
        .describe('The highest of these numbers on each of the last 30 days, in UTC.'),
    })
    .describe('Times at which no instance was running are missing (D-361).'),
  proofs: z
    .array(z.strictObject({ amr: z.array(z.string()), sessions: z.int() }))
    .describe('What the live sessions have proven (RFC 8176).'),
  lockedPasswords: z.int(),
  instances: z.array(
    z.strictObject({
      id: z.string(),
      host: z.string(),
      version: z.string(),
      revision: z.string(),
      startedAt: Timestamp,
      seenAt: Timestamp,
      state: z.enum(['healthy', 'degraded', 'unhealthy', 'missing']),
      failing: z.array(z.string()).describe('The health checks that failed when it was seen.'),
      warnings: z.array(z.string()).describe('What to look at although it can do its work.'),
    }),
  ),
  expiring: z.strictObject({
    rows: z
      .array(Expiring)
      .describe('What ends within 30 days and is not renewed by the service, and what is overdue.'),
    enrolledCertificates: z.int().describe('How many enrolled certificates expire within 30 days.'),
  }),
  lastBackup: z
    .strictObject({ at: Timestamp, rows: z.int().nullable() })
    .nullable()
    .describe('The last one by `latchkey backup` that an event still tells of.'),
})
export type Overview = z.infer<typeof Overview>

export const OverviewReply = detail(Overview)
