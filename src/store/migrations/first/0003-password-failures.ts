/**
 * Consecutive wrong passwords for each network and each known device that they came from (D-22, D-216), in addition to
 * the total of the password. An existing lock applied to every network, and keeps doing so until it ends.
 */
import type { Migration } from '../migration.ts'

export const passwordFailures: Migration = {
  name: '0003-password-failures',
  statements: ({ sortedText }) => [
    'alter table authenticators add column closed_until bigint',
    'update authenticators set closed_until = locked_until',
    `create table password_failures (
      authenticator_id ${sortedText} not null references authenticators (id) on delete cascade,
      kind text not null,
      origin text not null,
      failures integer not null,
      locks integer not null,
      locked_until bigint,
      expires_at bigint not null,
      primary key (authenticator_id, kind, origin)
    )`,
    'create index password_failures_expiry on password_failures (expires_at)',
  ],
}
