/**
 * Repeated events share a row: how often the event happened, and the key by which the next repeat finds the row. D-207.
 */
import type { Migration } from '../migration.ts'

export const foldedEvents: Migration = {
  name: '0002-folded-events',
  statements: () => [
    'alter table events add column count integer not null default 1',
    'alter table events add column fold_key text',
    // The number of rows without a key is not limited: nulls are distinct in both databases.
    'create unique index events_fold on events (fold_key)',
  ],
}
