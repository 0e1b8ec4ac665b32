/**
 * Passkeys (D-430). Recovery codes now belong to the identity and no longer to its authenticator app, because they serve
 * whichever factor it has; those of a pending enrollment belong to it until it is verified (D-437). Those that exist
 * stay.
 */
import type { Migration } from './migration.ts'

export const passkeys: Migration = {
  name: '0015-passkeys',
  statements: ({ sortedText }) => [
    `create table passkeys (
      id ${sortedText} primary key,
      identity_id ${sortedText} not null references identities (id) on delete cascade,
      name text not null,
      credential_id text not null unique,
      rp_id text not null,
      public_key text not null,
      sign_count bigint not null,
      transports text not null,
      aaguid text not null,
      is_backup_eligible integer not null check (is_backup_eligible in (0, 1)),
      is_backed_up integer not null check (is_backed_up in (0, 1)),
      created_at bigint not null,
      last_used_at bigint
    )`,
    'create index passkeys_identity on passkeys (identity_id)',
    `create table untied_recovery_codes (
      identity_id ${sortedText} not null references identities (id) on delete cascade,
      code_hash text not null,
      enrollment_id text,
      primary key (identity_id, code_hash)
    )`,
    `insert into untied_recovery_codes
      select codes.identity_id, codes.code_hash, case when apps.verified_at is null then apps.id end
      from recovery_codes codes join totp_enrollments apps on apps.identity_id = codes.identity_id`,
    'drop table recovery_codes',
    'alter table untied_recovery_codes rename to recovery_codes',
  ],
}
