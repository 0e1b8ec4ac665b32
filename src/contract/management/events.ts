/** /events of the management API: API 3.3, 4.8. The lines of the audit output have the same members, without links. */
import type { z } from 'zod'
import { EVENT } from '../../entities/event.ts'
import { managedShape } from '../described.ts'
import { detail, Links, list } from '../envelope.ts'

export const EventLine = managedShape(EVENT).omit({ _links: true }).strict()
export type EventLine = z.infer<typeof EventLine>

export const Event = EventLine.extend({ _links: Links })
export type Event = z.infer<typeof Event>

export const EventReply = detail(Event)
export const EventListReply = list(Event)
