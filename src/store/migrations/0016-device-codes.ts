/** Devices that wait until a user approves their sign-in: RFC 8628, D-440. */
import type { Migration } from './migration.ts'

export const deviceCodes: Migration = {
  name: '0016-device-codes',
  statements: () => [
    `create table device_codes (
      hash text primary key,
      user_code_hash text not null unique,
      client_id text not null,
      issuer text not null,
      scopes text not null,
      network text not null,
      address text not null,
      user_agent text,
      requested_at bigint not null,
      expires_at bigint not null,
      poll_interval integer not null,
      polled_at bigint,
      answer text not null
    )`,
    'create index device_codes_expiry on device_codes (expires_at)',
  ],
}
