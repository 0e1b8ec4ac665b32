/**
 * The rows as stored in the database: the only place with the column names as types.
 *
 * Times are epoch milliseconds. JSON is text on both databases. A boolean is 0 or 1. The types of JSON, states and
 * other keywords are checked when a row is read (`reading.ts`).
 */
import type { Generated } from 'kysely'
import type {
  ApiSessionId,
  AuthenticatorId,
  AuthPolicyId,
  CaId,
  ExternalJwtSignerId,
  IdentityId,
  TotpEnrollmentId,
} from '../base/ids.ts'
import type { SecretHash } from '../base/secrets/vault.ts'
import type { Duration } from '../base/time/duration.ts'
import type { Instant } from '../base/time/instant.ts'
import type { FactorOwner } from '../domain/factors/factor-owner.ts'
import type { AuthRequestKey } from '../domain/login/request/auth-request.ts'
import type { EndedSubject, OidcSession } from '../domain/sessions/api-session.ts'
import type { ENROLLMENT_OF_ANY_METHOD } from '../entities/enrollment.ts'
import type { EVENT } from '../entities/event.ts'
import type { RowOf } from '../entities/field.ts'
import type { IDENTITY } from '../entities/identity.ts'
import type { PASSKEY } from '../entities/passkey.ts'
import type { SESSION_CERTIFICATE } from '../entities/session-certificate.ts'

export interface Tables {
  installation: InstallationRow
  auth_policies: AuthPolicyRow
  external_jwt_signers: ExternalJwtSignerRow
  cas: CaRow
  rule_versions: RuleVersionRow
  identities: RowOf<typeof IDENTITY>
  authenticators: AuthenticatorRow
  enrollments: EnrollmentRow
  totp_enrollments: TotpEnrollmentRow
  passkeys: RowOf<typeof PASSKEY>
  recovery_codes: RecoveryCodeRow
  code_guesses: CodeGuessesRow
  password_failures: PasswordFailuresRow
  auth_requests: AuthRequestRow
  spent_states: SpentStateRow
  device_codes: DeviceCodeRow
  used_proofs: UsedProofRow
  api_sessions: ApiSessionRow
  refresh_tokens: RefreshTokenRow
  session_certificates: RowOf<typeof SESSION_CERTIFICATE>
  session_endings: SessionEndingRow
  router_runs: RouterRunRow
  session_contacts: SessionContactRow
  signing_keys: SigningKeyRow
  authorities: AuthorityRow
  events: EventRow
  instances: InstanceRow
  session_samples: SessionSampleRow
}

/** Text that holds JSON. */
type Json = string

interface InstallationRow {
  /** Always 1: there is one row. */
  id: number
  secret_fingerprint: SecretHash
  sealed_hashing_secret: string
  /** Incremented to check whether the database commits. */
  touches: Generated<number>
  /** Where the data was moved to, if this database is no longer in use (D-160). */
  moved_to: string | null
  created_at: Instant
}

interface RuleRow<Id> {
  id: Id
  name: string
  body: Json
  tags: Json
  created_at: Instant
  updated_at: Instant
}

type AuthPolicyRow = RuleRow<AuthPolicyId>

interface ExternalJwtSignerRow extends RuleRow<ExternalJwtSignerId> {
  issuer: string
}

interface CaRow extends RuleRow<CaId> {
  fingerprint: string
  is_verified: number
  verification_token: string | null
}

interface RuleVersionRow {
  /** Always 1: there is one row, created by the migration. */
  id: number
  version: number
}

export interface AuthenticatorRow {
  id: AuthenticatorId
  identity_id: IdentityId
  method: string
  username: string | null
  /** `usernameKey(username)`. */
  username_key: string | null
  password_hash: string | null
  /** Incremented when the password or the certificate is replaced. */
  credential_version: Generated<number>
  failed_attempts: Generated<number>
  /** The latest end of all network locks: the value that is shown. */
  locked_until: Instant | null
  /** The end of the lock for everything except known devices (D-22). */
  closed_until: Generated<Instant | null>
  cert_pem: string | null
  fingerprint: string | null
  is_issued_by_network: number | null
  /** The certificate that replaces this one once its holder has confirmed it; until then both work (API 3.1). */
  renewal_cert_pem: string | null
  renewal_fingerprint: string | null
  /** When each of the two certificates expires (D-367). */
  not_after: Generated<Instant | null>
  renewal_not_after: Generated<Instant | null>
  last_used_at: Instant | null
  tags: Json
  created_at: Instant
  updated_at: Instant
}

export interface EnrollmentRow extends RowOf<typeof ENROLLMENT_OF_ANY_METHOD> {
  method: string
  username: string | null
  /** `usernameKey(username)`. */
  username_key: string | null
  ca_id: CaId | null
}

export interface TotpEnrollmentRow {
  identity_id: IdentityId
  id: TotpEnrollmentId
  /** Empty once the enrollment is verified, and in a pending row from before 0006, which is void (D-240). */
  owner: FactorOwner | null
  sealed_secret: string
  /** Empty while it is pending. */
  verified_at: Instant | null
  /** The latest time step that was accepted; -1 before the first. */
  last_step: Generated<number>
  created_at: Instant
}

interface RecoveryCodeRow {
  identity_id: IdentityId
  code_hash: SecretHash
  /** The pending TOTP enrollment that it was shown with; null once it is good (D-437). */
  enrollment_id: TotpEnrollmentId | null
}

interface CodeGuessesRow {
  identity_id: IdentityId
  guesses: number
  blocked_until: Instant | null
}

export interface PasswordFailuresRow {
  authenticator_id: AuthenticatorId
  kind: string
  /** The network, or the known device. */
  origin: string
  /** Failures since the last correct password or the last lock. */
  failures: number
  /** Locks since the last correct password. */
  locks: number
  locked_until: Instant | null
  expires_at: Instant
}

export interface AuthRequestRow {
  key: AuthRequestKey
  state: string
  revision: number
  wrong_codes: Generated<number>
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
  /** What `proof` refers to, for searching. */
  authenticator_id: AuthenticatorId | null
  proof: Json
  amr: Json
  config_types: Json
  address: string
  user_agent: string | null
  issuer: OidcSession['issuer'] | null
  client_id: string | null
  scopes: Json | null
  token_hash: SecretHash | null
  last_activity_at: Instant | null
  is_totp_proven: number
  is_totp_demanded: number | null
  created_at: Instant
  ends_at: Instant
  expires_at: Instant
  tokens_end_at: Instant | null
}

export interface RefreshTokenRow {
  hash: SecretHash
  session_id: ApiSessionId
  issued_at: Instant
  expires_at: Instant
  spent_at: Instant | null
  successor: SecretHash | null
}

export interface SpentStateRow {
  hash: SecretHash
  expires_at: Instant
}

interface UsedProofRow {
  hash: string
  expires_at: Instant
}

export interface DeviceCodeRow {
  hash: SecretHash
  user_code_hash: SecretHash
  client_id: string
  issuer: OidcSession['issuer']
  scopes: Json
  /** Of the address, for counting. */
  network: string
  address: string
  user_agent: string | null
  requested_at: Instant
  expires_at: Instant
  poll_interval: Duration
  polled_at: Instant | null
  answer: string
}

export interface SessionEndingRow {
  sequence: Generated<number>
  subject: EndedSubject
  at: Instant
  keep_until: Instant
}

interface RouterRunRow {
  router_id: IdentityId
  run: string
  feed: string
  opened_at: Instant
  closed_at: Instant | null
  contact_at: Instant
  steps: Json
}

interface SessionContactRow {
  session_id: ApiSessionId
  router_id: IdentityId
  first_at: Instant
  last_at: Instant
}

interface SigningKeyRow {
  kid: string
  generation: number
  purpose: string
  algorithm: string
  public_jwk: Json
  sealed_private_jwk: string
  created_at: Instant
  active_from: Instant
  token_life: Duration
}

interface AuthorityRow {
  role: string
  generation: number
  certificate_pem: string
  sealed_key: string
  created_at: Instant
  not_after: Instant
}

export interface EventRow extends Omit<RowOf<typeof EVENT>, 'count'> {
  count: Generated<number>
  fold_key: Generated<string | null>
}

/** A process, or a group of workers, that serves this database (D-368). */
export interface InstanceRow {
  id: string
  place: string
  host: string
  version: string
  started_at: Instant
  seen_at: Instant
  report: Json
  steps: Json
}

interface SessionSampleRow {
  at: Instant
  oidc: number
  legacy: number
}
