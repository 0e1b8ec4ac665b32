import type { Instant } from '../../base/instant.ts'
import type { AuditEvent } from './events.ts'

export interface Events {
  insert(event: AuditEvent): Promise<void>
  /** Removes at most `limit` events from before `before`; answers how many it removed. */
  removeOlderThan(before: Instant, limit: number): Promise<number>
}
