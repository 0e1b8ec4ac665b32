/**
 * An event carries the names of its identity and of its actor at the time, so that it still names them once they are
 * deleted: D-350. Earlier events have none. No index: every refresh would have to write it (D-269).
 */
import type { Migration } from '../migration.ts'

export const eventNames: Migration = {
  name: '0009-event-names',
  statements: ({ sortedText }) => [
    `alter table events add column identity_name ${sortedText}`,
    `alter table events add column actor_name ${sortedText}`,
  ],
}
