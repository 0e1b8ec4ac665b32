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
} from '../../base/ids.ts'
import type { Instant } from '../../base/instant.ts'

/** Where a call came from, as far as the audit log cares. */
export interface Caller {
  readonly address: string
  readonly requestId: RequestId
  readonly userAgent: string | undefined
}

export const LOGIN_FAILURE_REASONS = [
  'unknown-username',
  'wrong-password',
  'identity-disabled',
  'method-not-allowed',
  'identity-missing',
] as const
export type LoginFailureReason = (typeof LOGIN_FAILURE_REASONS)[number]

export const SESSION_END_REASONS = ['code-reused'] as const
export type SessionEndReason = (typeof SESSION_END_REASONS)[number]

export type Happening =
  | {
      readonly type: 'login.succeeded'
      readonly identityId: IdentityId
      readonly details: { readonly method: 'password'; readonly authenticatorId: AuthenticatorId }
    }
  | {
      readonly type: 'login.failed'
      readonly identityId: IdentityId | undefined
      readonly reason: LoginFailureReason
      readonly details: { readonly method: 'password'; readonly username: string }
    }
  | {
      readonly type: 'token.issued'
      readonly identityId: IdentityId
      readonly sessionId: ApiSessionId
      readonly details: { readonly scope: string }
    }
  | {
      readonly type: 'session.ended'
      readonly identityId: IdentityId
      readonly sessionId: ApiSessionId
      readonly reason: SessionEndReason
    }
  | { readonly type: 'signing-key.created'; readonly details: { readonly kid: string } }
  | { readonly type: 'identity.created'; readonly identityId: IdentityId }

export type AuditEvent = Happening & {
  readonly id: EventId
  readonly at: Instant
  /** Absent when the service itself did it. */
  readonly caller: Caller | undefined
}

export type EventType = AuditEvent['type']
