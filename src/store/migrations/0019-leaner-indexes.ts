/**
 * Fewer index pages for each refresh and each event (D-349): a refresh moves the end of its session, and most events
 * have neither an actor nor repeats.
 */
import type { Migration } from './migration.ts'

export const leanerIndexes: Migration = {
  name: '0019-leaner-indexes',
  statements: () => [
    'drop index api_sessions_beginning',
    'create index api_sessions_beginning on api_sessions (created_at, id)',
    'drop index api_sessions_identity',
    'create index api_sessions_identity on api_sessions (identity_id)',
    'drop index api_sessions_proof',
    'create index api_sessions_proof on api_sessions (kind, amr)',
    // So that counting the live ones of a session reads the index alone.
    'drop index session_certificates_session',
    'create index session_certificates_session on session_certificates (session_id, created_at, valid_to)',
    'drop index events_actor',
    'create index events_actor on events (actor_id, at, id) where actor_id is not null',
    'drop index events_fold',
    'create unique index events_fold on events (fold_key) where fold_key is not null',
  ],
}
