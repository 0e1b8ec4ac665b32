/**
 * One row for each running instance, with its report and its confirmations (D-368, D-381), in the place of two tables: their
 * rows are written anew at every start. And the number of live sessions over time (D-361). The index on the kind of a
 * session also has what was proven, so that the overview counts both in one pass over the index.
 */
import type { Migration } from './migration.ts'

export const instances: Migration = {
  name: '0013-instances',
  statements: ({ sortedText }) => [
    'drop table instance_runs',
    'drop table instances',
    `create table instances (
      id ${sortedText} primary key,
      place text not null,
      host text not null,
      version text not null,
      started_at bigint not null,
      seen_at bigint not null,
      report text not null,
      steps text not null
    )`,
    `create table session_samples (
      at bigint primary key,
      oidc bigint not null,
      legacy bigint not null
    )`,
    'create index api_sessions_proof on api_sessions (kind, amr, expires_at)',
    'drop index api_sessions_kind',
  ],
}
