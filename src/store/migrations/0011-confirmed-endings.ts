/**
 * Who has confirmed that a session ended: running routers and instances, with their newest confirmations; and which
 * session was at which router (D-381, D-383). No foreign key: a router that was deleted may still be running, and a
 * session's contacts outlive it.
 */
import type { Migration } from './migration.ts'

export const confirmedEndings: Migration = {
  name: '0011-confirmed-endings',
  statements: () => [
    `create table router_runs (
      router_id text not null,
      run text not null,
      feed text not null,
      opened_at bigint not null,
      closed_at bigint,
      contact_at bigint not null,
      steps text not null,
      primary key (router_id, run)
    )`,
    'create index router_runs_expiry on router_runs (contact_at)',
    `create table instance_runs (
      id text primary key,
      place text not null,
      host text not null,
      started_at bigint not null,
      seen_at bigint not null,
      steps text not null
    )`,
    `create table session_contacts (
      session_id text not null,
      router_id text not null,
      first_at bigint not null,
      last_at bigint not null,
      primary key (session_id, router_id)
    )`,
    'create index session_contacts_expiry on session_contacts (last_at)',
  ],
}
