/**
 * Everything worth recording about who gets in. The caller of a failed login hears one dull sentence; the
 * event has the exact reason (API 4.8). Never a secret, never a code, never an auth request id (R034).
 */
import type {
  ApiSessionId,
  AuthenticatorId,
  EventId,
  IdentityId,
  RequestId,
  SessionCertificateId,
} from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'
import type { PrimaryMethod } from '../login/proven.ts'

/** Where a call came from, as far as the audit log cares. */
export interface Caller {
  readonly address: string
  readonly requestId: RequestId
  readonly userAgent: string | undefined
  /** Who is calling, where an administrator acts on others (API 4.8). */
  readonly actorId?: IdentityId
}

export const LOGIN_FAILURE_REASONS = [
  'identity-disabled',
  'identity-missing',
  'method-not-allowed',
  // Password.
  'unknown-username',
  'wrong-password',
  'password-locked',
  // Certificate: D-21.
  'no-certificate',
  'certificate-untrusted',
  'certificate-expired',
  'certificate-not-yet-valid',
  'certificate-wrong-usage',
  'certificate-is-ca',
  'certificate-of-session',
  'certificate-unknown',
  'ca-disabled',
  'ca-unverified',
  // External JWT, as primary factor: D-12.
  'jwt-missing',
  'jwt-expired',
  'jwt-invalid',
  'signer-unknown',
  'signer-disabled',
  'signer-not-allowed',
  'identity-unknown',
  // Second factors: D-14, D-18.
  'secondary-jwt-missing',
  'secondary-jwt-expired',
  'secondary-jwt-invalid',
  'wrong-code',
  'too-many-codes',
] as const
export type LoginFailureReason = (typeof LOGIN_FAILURE_REASONS)[number]

export const SESSION_END_REASONS = [
  'code-reused',
  'refresh-token-reused',
  'revoked',
  'expired',
  'logout',
  'administrator',
  'identity-disabled',
  'identity-deleted',
  'authenticator-removed',
] as const
export type SessionEndReason = (typeof SESSION_END_REASONS)[number]

/** What an administrator makes and removes. */
export const MANAGED_ENTITIES = [
  'identity',
  'authenticator',
  'enrollment',
  'policy',
  'external-jwt-signer',
  'ca',
] as const
export type ManagedEntity = (typeof MANAGED_ENTITIES)[number]

export type Happening =
  | {
      readonly type: 'login.succeeded'
      readonly identityId: IdentityId
      /** Of a legacy login; an OIDC login has no session before its code is exchanged. */
      readonly sessionId?: ApiSessionId
      readonly details: {
        readonly method: PrimaryMethod
        readonly authenticatorId: AuthenticatorId | undefined
        readonly amr: readonly string[]
      }
    }
  | {
      readonly type: 'login.failed'
      readonly identityId: IdentityId | undefined
      readonly reason: LoginFailureReason
      readonly details: {
        readonly method: PrimaryMethod | 'totp'
        readonly username?: string
        /** What exactly was wrong, for the operator. Never a credential. */
        readonly why?: string
      }
    }
  | {
      readonly type: 'login.locked'
      readonly identityId: IdentityId
      readonly details: { readonly authenticatorId: AuthenticatorId; readonly until: string }
    }
  | {
      readonly type: 'token.issued' | 'token.refreshed'
      readonly identityId: IdentityId
      readonly sessionId: ApiSessionId
      readonly details: { readonly scope: string }
    }
  | {
      readonly type: 'token.reused' | 'token.revoked'
      readonly identityId: IdentityId
      readonly sessionId: ApiSessionId
    }
  | {
      readonly type: 'session.ended'
      readonly identityId: IdentityId
      readonly sessionId: ApiSessionId
      readonly reason: SessionEndReason
    }
  | {
      readonly type: 'certificate.issued' | 'certificate.removed'
      readonly identityId: IdentityId
      readonly sessionId: ApiSessionId
      readonly details: { readonly id: SessionCertificateId; readonly fingerprint: string }
    }
  | {
      readonly type: 'mfa.enrolled' | 'mfa.removed' | 'mfa.recovery-codes-renewed'
      readonly identityId: IdentityId
      readonly sessionId?: ApiSessionId
    }
  | { readonly type: 'mfa.recovery-code-used'; readonly identityId: IdentityId }
  | { readonly type: 'signing-key.created'; readonly details: { readonly kid: string } }
  | {
      readonly type:
        | 'identity.created'
        | 'identity.updated'
        | 'identity.deleted'
        | 'identity.disabled'
        | 'identity.enabled'
      readonly identityId: IdentityId
    }
  | {
      readonly type: `${Exclude<ManagedEntity, 'identity'>}.${'created' | 'updated' | 'deleted'}`
      /** The identity that an authenticator or an enrollment belongs to. */
      readonly identityId?: IdentityId
      readonly details: { readonly id: string; readonly name?: string }
    }
  | {
      readonly type: 'authenticator.unlocked' | 'ca.verified'
      readonly identityId?: IdentityId
      readonly details: { readonly id: string }
    }

export type AuditEvent = Happening & {
  readonly id: EventId
  readonly at: Instant
  /** Absent when the service itself did it. */
  readonly caller: Caller | undefined
}

export type EventType = AuditEvent['type']
