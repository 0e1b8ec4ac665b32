/**
 * The first tables: installation, policies, identities, logins, sessions, keys, authorities, events.
 *
 * Columns that a later state or method leaves empty are nullable, although today's rows fill them: SQLite
 * cannot loosen a column. Logins, sessions and events outlive their identity, so they do not refer to it.
 */
import type { Migration } from './migration.ts'

export const foundation: Migration = {
  name: '0001-foundation',
  statements: ({ sequenceKey }) => [
    `create table installation (
      id integer primary key check (id = 1),
      secret_fingerprint text not null,
      created_at bigint not null
    )`,

    `create table auth_policies (
      id text primary key,
      name text not null unique,
      body text not null,
      created_at bigint not null,
      updated_at bigint not null
    )`,

    `create table identities (
      id text primary key,
      name text not null unique,
      type text not null,
      is_admin integer not null check (is_admin in (0, 1)),
      external_id text unique,
      auth_policy_id text not null references auth_policies (id),
      role_attributes text not null,
      app_data text not null,
      tags text not null,
      disabled_at bigint,
      disabled_until bigint,
      created_at bigint not null,
      updated_at bigint not null
    )`,
    'create index identities_auth_policy on identities (auth_policy_id)',

    `create table authenticators (
      id text primary key,
      identity_id text not null references identities (id) on delete cascade,
      method text not null,
      username text,
      username_key text unique,
      password_hash text,
      created_at bigint not null,
      updated_at bigint not null
    )`,
    'create index authenticators_identity on authenticators (identity_id)',

    `create table auth_requests (
      key text primary key,
      state text not null,
      identity_id text not null,
      code_hash text unique,
      code_expires_at bigint,
      session_id text,
      redeemed_at bigint,
      expires_at bigint not null,
      body text not null
    )`,
    'create index auth_requests_expiry on auth_requests (expires_at)',

    `create table api_sessions (
      id text primary key,
      kind text not null,
      identity_id text not null,
      authenticator_id text not null,
      issuer text not null,
      client_id text not null,
      amr text not null,
      config_types text not null,
      address text not null,
      user_agent text,
      created_at bigint not null,
      expires_at bigint not null
    )`,
    'create index api_sessions_expiry on api_sessions (expires_at)',
    'create index api_sessions_identity on api_sessions (identity_id)',

    `create table session_endings (
      sequence ${sequenceKey},
      session_id text not null unique,
      at bigint not null,
      keep_until bigint not null
    )`,
    'create index session_endings_expiry on session_endings (keep_until)',

    `create table signing_keys (
      kid text primary key,
      generation integer not null unique,
      algorithm text not null,
      public_jwk text not null,
      sealed_private_jwk text not null,
      created_at bigint not null,
      active_from bigint not null,
      token_life bigint not null
    )`,

    `create table authorities (
      role text not null,
      generation integer not null,
      certificate_pem text not null,
      sealed_key text not null,
      created_at bigint not null,
      not_after bigint not null,
      primary key (role, generation)
    )`,

    `create table events (
      id text primary key,
      at bigint not null,
      type text not null,
      identity_id text,
      session_id text,
      address text,
      request_id text,
      user_agent text,
      reason text,
      details text
    )`,
    'create index events_time on events (at)',
  ],
}
