/**
 * The first tables: installation, rules, identities and what proves them, logins, sessions, keys, authorities, events.
 *
 * Where several kinds or states share a table, the columns of one are empty in the others. Logins, sessions and
 * events outlive their identity, so they do not refer to it. Texts that lists are sorted by are sorted by code point,
 * and what refers to them is of the same type; docs/lists.md says which fields of a list have an index.
 */
import type { Database } from '../../dialects/database.ts'
import type { Migration } from '../migration.ts'

export const foundation: Migration = {
  name: '0001-foundation',
  statements: (database) => [
    `create table installation (
      id integer primary key check (id = 1),
      secret_fingerprint text not null,
      sealed_hashing_secret text not null,
      touches bigint not null default 0,
      moved_to text,
      created_at bigint not null
    )`,
    ...rules(database),
    ...identities(database),
    ...secondFactors(database),
    ...loginsAndSessions(database),
    ...keys(),
    `create table events (
      id ${database.sortedText} primary key,
      at bigint not null,
      type ${database.sortedText} not null,
      actor_id ${database.sortedText},
      identity_id ${database.sortedText},
      session_id ${database.sortedText},
      address ${database.sortedText},
      request_id ${database.sortedText},
      user_agent ${database.sortedText},
      reason ${database.sortedText},
      details text
    )`,
    // The fields that events are searched by, newest first (API 3.3).
    'create index events_time on events (at, id)',
    'create index events_type on events (type, at, id)',
    'create index events_identity on events (identity_id, at, id)',
    'create index events_actor on events (actor_id, at, id)',
    'create index events_session on events (session_id, at, id)',
    'create index events_request on events (request_id)',
  ],
}

type Facts = Pick<Database, 'sequenceKey' | 'sortedText'>

const rules = ({ sortedText }: Facts) => [
  `create table auth_policies (
    id ${sortedText} primary key,
    name ${sortedText} not null unique,
    body text not null,
    tags text not null,
    created_at bigint not null,
    updated_at bigint not null
  )`,

  `create table external_jwt_signers (
    id text primary key,
    name ${sortedText} not null unique,
    issuer text not null unique,
    body text not null,
    tags text not null,
    created_at bigint not null,
    updated_at bigint not null
  )`,

  `create table cas (
    id text primary key,
    name ${sortedText} not null unique,
    fingerprint text not null unique,
    is_verified integer not null check (is_verified in (0, 1)),
    verification_token text,
    body text not null,
    tags text not null,
    created_at bigint not null,
    updated_at bigint not null
  )`,

  `create table rule_versions (
    id integer primary key check (id = 1),
    version bigint not null
  )`,
  'insert into rule_versions (id, version) values (1, 0)',
]

const identities = ({ sortedText }: Facts) => [
  `create table identities (
    id ${sortedText} primary key,
    name ${sortedText} not null unique,
    type ${sortedText} not null,
    is_admin integer not null check (is_admin in (0, 1)),
    external_id ${sortedText} unique,
    auth_policy_id ${sortedText} not null references auth_policies (id),
    role_attributes text not null,
    app_data text not null,
    tags text not null,
    disabled_at bigint,
    disabled_until bigint,
    env_info text,
    sdk_info text,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  'create index identities_auth_policy on identities (auth_policy_id)',
  'create index identities_type on identities (type)',
  'create index identities_admin on identities (is_admin)',
  'create index identities_creation on identities (created_at, id)',
  'create index identities_update on identities (updated_at, id)',
  // Partial, because few identities are disabled.
  'create index identities_disabled on identities (disabled_at) where disabled_at is not null',

  `create table authenticators (
    id ${sortedText} primary key,
    identity_id ${sortedText} not null references identities (id) on delete cascade,
    method ${sortedText} not null,
    username ${sortedText},
    username_key text unique,
    password_hash text,
    credential_version integer not null default 0,
    failed_attempts integer not null default 0,
    locked_until bigint,
    cert_pem text,
    fingerprint ${sortedText} unique,
    is_issued_by_network integer check (is_issued_by_network in (0, 1)),
    renewal_cert_pem text,
    renewal_fingerprint text unique,
    last_used_at bigint,
    tags text not null,
    created_at bigint not null,
    updated_at bigint not null,
    unique (identity_id, method)
  )`,
  'create index authenticators_creation on authenticators (created_at, id)',
  'create index authenticators_method on authenticators (method)',
  'create index authenticators_username on authenticators (username)',

  `create table enrollments (
    id ${sortedText} primary key,
    identity_id ${sortedText} not null references identities (id) on delete cascade,
    method ${sortedText} not null,
    token_hash text not null unique,
    username ${sortedText},
    username_key text,
    ca_id ${sortedText},
    expires_at bigint not null,
    used_at bigint,
    tags text not null,
    created_at bigint not null,
    updated_at bigint not null
  )`,
  // A used one stays for a while, so that its token can be told apart from one that was never issued.
  'create unique index enrollments_open on enrollments (identity_id, method) where used_at is null',
  'create unique index enrollments_username on enrollments (username_key) where used_at is null',
  'create index enrollments_identity on enrollments (identity_id)',
  'create index enrollments_creation on enrollments (created_at, id)',
  'create index enrollments_expiry on enrollments (expires_at)',
]

const secondFactors = ({ sortedText }: Facts) => [
  `create table totp_enrollments (
    identity_id ${sortedText} primary key references identities (id) on delete cascade,
    id text not null,
    sealed_secret text not null,
    verified_at bigint,
    last_step bigint not null default -1,
    created_at bigint not null
  )`,

  `create table recovery_codes (
    identity_id ${sortedText} not null references totp_enrollments (identity_id) on delete cascade,
    code_hash text not null,
    primary key (identity_id, code_hash)
  )`,

  `create table code_guesses (
    identity_id ${sortedText} primary key references identities (id) on delete cascade,
    guesses integer not null,
    blocked_until bigint
  )`,
]

const loginsAndSessions = ({ sequenceKey, sortedText }: Facts) => [
  `create table auth_requests (
    key text primary key,
    state text not null,
    revision integer not null,
    wrong_codes integer not null default 0,
    identity_id text not null,
    code_hash text unique,
    code_expires_at bigint,
    session_id text,
    redeemed_at bigint,
    expires_at bigint not null,
    body text not null
  )`,
  'create index auth_requests_expiry on auth_requests (expires_at)',

  `create table spent_states (
    hash text primary key,
    expires_at bigint not null
  )`,
  'create index spent_states_expiry on spent_states (expires_at)',

  `create table api_sessions (
    id ${sortedText} primary key,
    kind ${sortedText} not null,
    identity_id ${sortedText} not null,
    authenticator_id ${sortedText},
    proof text not null,
    amr text not null,
    config_types text not null,
    address ${sortedText} not null,
    user_agent ${sortedText},
    issuer text,
    client_id ${sortedText},
    scopes text,
    token_hash text unique,
    last_activity_at bigint,
    is_totp_proven integer not null check (is_totp_proven in (0, 1)),
    is_totp_demanded integer check (is_totp_demanded in (0, 1)),
    created_at bigint not null,
    ends_at bigint not null,
    expires_at bigint not null
  )`,
  'create index api_sessions_expiry on api_sessions (expires_at)',
  // Includes the expiry: lists show and count only sessions that have not expired.
  'create index api_sessions_beginning on api_sessions (created_at, id, expires_at)',
  'create index api_sessions_identity on api_sessions (identity_id, expires_at)',
  'create index api_sessions_kind on api_sessions (kind, expires_at)',
  'create index api_sessions_authenticator on api_sessions (authenticator_id)',

  `create table refresh_tokens (
    hash text primary key,
    session_id text not null,
    issued_at bigint not null,
    expires_at bigint not null,
    spent_at bigint,
    successor text
  )`,
  'create index refresh_tokens_session on refresh_tokens (session_id)',
  'create index refresh_tokens_expiry on refresh_tokens (expires_at)',

  `create table session_certificates (
    id text primary key,
    session_id text not null,
    identity_id text not null,
    subject text not null,
    fingerprint text not null unique,
    certificate_pem text not null,
    valid_from bigint not null,
    valid_to bigint not null,
    created_at bigint not null
  )`,
  'create index session_certificates_session on session_certificates (session_id, created_at)',
  'create index session_certificates_expiry on session_certificates (valid_to)',

  `create table session_endings (
    sequence ${sequenceKey},
    subject text not null unique,
    at bigint not null,
    keep_until bigint not null
  )`,
  'create index session_endings_expiry on session_endings (keep_until)',
]

const keys = () => [
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
]
