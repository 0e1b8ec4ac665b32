/** Events that repeat share a row: how often it happened, and by what the next one of a kind finds the row. D-207. */
import type { Migration } from './migration.ts'

export const foldedEvents: Migration = {
  name: '0002-folded-events',
  statements: () => [
    'alter table events add column count integer not null default 1',
    'alter table events add column fold_key text',
    // Rows without a key are as many as they like: nulls are distinct in both databases.
    'create unique index events_fold on events (fold_key)',
  ],
}
