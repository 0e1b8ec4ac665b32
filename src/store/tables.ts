/**
 * The rows as the database holds them: the only place that knows column names as types.
 *
 * Times are epoch milliseconds. JSON is text on both databases. A truth is 0 or 1. What these types promise
 * about JSON, states and other words is checked when a row is read (`reading.ts`).
 */
import type { Generated } from 'kysely'
import type { Duration } from '../base/duration.ts'
import type {
  ApiSessionId,
  AuthenticatorId,
  AuthPolicyId,
  EventId,
  IdentityId,
  RequestId,
} from '../base/ids.ts'
import type { Instant } from '../base/instant.ts'
import type { SecretHash } from '../base/vault.ts'
import type { AuthRequestKey } from '../domain/login/auth-request.ts'
import type { ApiSession } from '../domain/sessions/api-session.ts'

export interface Tables {
  installation: InstallationRow
  auth_policies: AuthPolicyRow
  identities: IdentityRow
  authenticators: AuthenticatorRow
  auth_requests: AuthRequestRow
  api_sessions: ApiSessionRow
  session_endings: SessionEndingRow
  signing_keys: SigningKeyRow
  authorities: AuthorityRow
  events: EventRow
}

/** Text that holds JSON. */
type Json = string

interface InstallationRow {
  /** Always 1: there is one row. */
  id: number
  secret_fingerprint: SecretHash
  created_at: Instant
}

export interface AuthPolicyRow {
  id: AuthPolicyId
  name: string
  body: Json
  created_at: Instant
  updated_at: Instant
}

export interface IdentityRow {
  id: IdentityId
  name: string
  type: string
  is_admin: number
  external_id: string | null
  auth_policy_id: AuthPolicyId
  role_attributes: Json
  app_data: Json
  tags: Json
  disabled_at: Instant | null
  disabled_until: Instant | null
  created_at: Instant
  updated_at: Instant
}

export interface AuthenticatorRow {
  id: AuthenticatorId
  identity_id: IdentityId
  method: string
  username: string | null
  /** `usernameKey(username)`. */
  username_key: string | null
  password_hash: string | null
  created_at: Instant
  updated_at: Instant
}

export interface AuthRequestRow {
  key: AuthRequestKey
  state: string
  identity_id: IdentityId
  code_hash: SecretHash | null
  code_expires_at: Instant | null
  session_id: ApiSessionId | null
  redeemed_at: Instant | null
  expires_at: Instant
  body: Json
}

export interface ApiSessionRow {
  id: ApiSessionId
  kind: string
  identity_id: IdentityId
  authenticator_id: AuthenticatorId
  issuer: ApiSession['issuer']
  client_id: string
  amr: Json
  config_types: Json
  address: string
  user_agent: string | null
  created_at: Instant
  expires_at: Instant
}

export interface SessionEndingRow {
  sequence: Generated<number>
  session_id: ApiSessionId
  at: Instant
  keep_until: Instant
}

export interface SigningKeyRow {
  kid: string
  generation: number
  algorithm: string
  public_jwk: Json
  sealed_private_jwk: string
  created_at: Instant
  active_from: Instant
  token_life: Duration
}

export interface AuthorityRow {
  role: string
  generation: number
  certificate_pem: string
  sealed_key: string
  created_at: Instant
  not_after: Instant
}

interface EventRow {
  id: EventId
  at: Instant
  type: string
  identity_id: IdentityId | null
  session_id: ApiSessionId | null
  address: string | null
  request_id: RequestId | null
  user_agent: string | null
  reason: string | null
  details: Json | null
}
