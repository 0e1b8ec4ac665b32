/** /events of the management API: API 3.3, 4.8. The lines of the audit output have the same members, without links. */
import { z } from 'zod'
import { detail, Links, list, Timestamp } from '../envelope.ts'

export const EventLine = z.strictObject({
  id: z.string(),
  at: Timestamp,
  type: z.string(),
  identityId: z.string().nullable(),
  identityName: z
    .string()
    .nullable()
    .describe('The name of the identity at the time. Stays after the identity is deleted.'),
  sessionId: z.string().nullable(),
  actorId: z.string().nullable().describe('Who did it, if it was not the identity itself.'),
  actorName: z.string().nullable().describe('The name of the actor at the time.'),
  address: z.string().nullable(),
  requestId: z.string().nullable(),
  userAgent: z.string().nullable(),
  reason: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
  count: z
    .number()
    .int()
    .describe('How often it happened in this minute; the other members describe the first time.'),
})
export type EventLine = z.infer<typeof EventLine>

export const Event = EventLine.extend({ _links: Links })
export type Event = z.infer<typeof Event>

export const EventReply = detail(Event)
export const EventListReply = list(Event)
