/**
 * The events of the audit log. The caller of a failed login gets one generic message; the event has the exact reason
 * (API 4.8). Events never contain a secret, a code or an auth request id (R034).
 */

import type {
  ApiSessionId,
  AuthenticatorId,
  EventId,
  IdentityId,
  RequestId,
  SessionCertificateId,
} from '../../base/ids.ts'
import type { Instant } from '../../base/time/instant.ts'
import type { SecondFactorId } from '../../protocol/factors/second-factors.ts'
import type { Changes } from '../changes.ts'
import type { PrimaryMethod } from '../identities/primary-methods.ts'
import type { ClockOff } from './clock-off.ts'
import type {
  DeviceRefusalReason,
  EnrollmentRefusalReason,
  LoginFailureReason,
  SessionEndReason,
  TokenRefusalReason,
} from './reasons.ts'

/** Where a call came from, as far as the audit log needs it. */
export interface Caller {
  readonly address: string
  readonly requestId: RequestId
  readonly userAgent: string | undefined
  /** The caller, if an administrator acts on other identities (API 4.8). */
  readonly actorId?: IdentityId
}

/** What kept an administrator from logging in and was reset (D-140). The password is always reset. */
export type RecoveredPart =
  | SecondFactorId
  | 'password'
  | 'lock'
  | 'policy'
  | 'disablement'
  | 'administrator'

/** The kinds of entity that an administrator creates and deletes. */
type ManagedEntity =
  | 'identity'
  | 'authenticator'
  | 'enrollment'
  | 'policy'
  | 'external-jwt-signer'
  | 'ca'

export type Happening =
  | {
      readonly type: 'login.succeeded'
      readonly identityId: IdentityId
      /** An OIDC login has this session once its code is exchanged. */
      readonly sessionId: ApiSessionId
      readonly details: {
        readonly method: PrimaryMethod
        readonly authenticatorId: AuthenticatorId | undefined
        readonly amr: readonly string[]
        /** D-345: single sign-on; the session of the account page that proved it before, and who asked. */
        readonly reusedSession?: ApiSessionId
        readonly application?: string
      }
    }
  | {
      readonly type: 'login.failed'
      readonly identityId: IdentityId | undefined
      readonly reason: LoginFailureReason
      readonly details: {
        readonly method: PrimaryMethod | SecondFactorId
        readonly username?: string
        /** The exact cause, for the operator. Never a credential. */
        readonly why?: string
        /** Only if nothing but time is wrong. */
        readonly clock?: ClockOff
      }
    }
  | {
      readonly type: 'login.locked'
      readonly identityId: IdentityId
      readonly details: { readonly authenticatorId: AuthenticatorId; readonly until: string }
    }
  | {
      /** A user's answer to a device that waits for it (RFC 8628). */
      readonly type: 'device.approved' | 'device.denied'
      readonly identityId: IdentityId
      /** Of the device: where the request came from, and when. */
      readonly details: {
        readonly address: string
        readonly userAgent?: string
        readonly requestedAt: string
      }
    }
  | {
      readonly type: 'device.refused'
      readonly identityId: IdentityId
      readonly reason: DeviceRefusalReason
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
      readonly type: 'token.refused'
      readonly identityId: IdentityId | undefined
      /** Missing if a code was refused: its session never began. */
      readonly sessionId: ApiSessionId | undefined
      readonly reason: TokenRefusalReason
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
      readonly type: 'mfa.enrolled' | 'mfa.removed'
      readonly identityId: IdentityId
      readonly sessionId?: ApiSessionId
      readonly details: {
        /** Missing if all factors were removed at once. */
        readonly factor?: SecondFactorId
        /** Of a passkey that was removed. */
        readonly id?: AuthenticatorId
        readonly name?: string
      }
    }
  | {
      readonly type: 'mfa.recovery-codes-renewed'
      readonly identityId: IdentityId
      readonly sessionId?: ApiSessionId
    }
  | { readonly type: 'mfa.recovery-code-used'; readonly identityId: IdentityId }
  | {
      readonly type: 'authenticator.renewal-started' | 'authenticator.renewed'
      readonly identityId: IdentityId
      /** The fingerprint is the new certificate's. */
      readonly details: { readonly id: AuthenticatorId; readonly fingerprint: string }
    }
  | {
      readonly type: 'authority.created'
      readonly details: { readonly role: 'root' | 'issuing'; readonly generation: number }
    }
  | {
      readonly type: 'administrator.recovered'
      readonly identityId: IdentityId
      readonly details: { readonly reset: readonly RecoveredPart[] }
    }
  | { readonly type: 'secret.rotated'; readonly details: { readonly sealedAgain: number } }
  | {
      readonly type: 'installation.restored'
      readonly details: {
        /** When the backup was taken: later changes are not in the database. */
        readonly takenAt: string
        /** Identities whose authenticator apps no longer have recovery codes (D-159). */
        readonly withoutRecoveryCodes: number
      }
    }
  | {
      readonly type: 'installation.backed-up'
      readonly details: { readonly rows: number; readonly withSecret: boolean }
    }
  | {
      readonly type: 'installation.moved'
      /** The two databases, without user and password. */
      readonly details: { readonly from: string; readonly to: string }
    }
  | {
      readonly type: 'signing-key.created' | 'signing-key.revoked'
      readonly details: { readonly kid: string; readonly purpose: 'access' | 'id' | 'any' }
    }
  | {
      readonly type: 'identity.created' | 'identity.deleted' | 'identity.enabled'
      readonly identityId: IdentityId
    }
  | {
      readonly type: 'identity.disabled'
      readonly identityId: IdentityId
      /** Missing: until an administrator enables it. */
      readonly details?: { readonly until: string }
    }
  | {
      readonly type: Exclude<
        `${Exclude<ManagedEntity, 'identity'>}.${'created' | 'deleted'}`,
        'enrollment.created'
      >
      /** The identity that an authenticator or an enrollment belongs to. */
      readonly identityId?: IdentityId
      readonly details: { readonly id: string; readonly name?: string }
    }
  | {
      readonly type: 'notification.delivered'
      readonly identityId: IdentityId
      /** `id` is that of the enrollment. */
      readonly details: { readonly id: string; readonly attempts: number }
    }
  | {
      readonly type: 'notification.failed'
      readonly identityId: IdentityId
      readonly details: { readonly id: string; readonly attempts: number; readonly why: string }
    }
  | {
      readonly type: 'enrollment.created' | 'enrollment.used'
      readonly identityId: IdentityId
      readonly details: {
        readonly id: string
        /** Only of a reset (D-375). */
        readonly method?: string
      }
    }
  | {
      readonly type: 'identity.updated'
      readonly identityId: IdentityId
      readonly details: { readonly changed: readonly string[]; readonly changes: Changes }
    }
  | {
      // An enrollment is refreshed or deleted, never changed (API 3.3).
      readonly type: `${Exclude<ManagedEntity, 'identity' | 'enrollment'>}.updated`
      readonly identityId?: IdentityId
      readonly details: {
        readonly id: string
        readonly name?: string
        readonly changed?: readonly string[]
        /** Without secrets: a new password is only in `changed` (D-351). */
        readonly changes?: Changes
      }
    }
  | {
      readonly type: 'authenticator.unlocked' | 'enrollment.refreshed' | 'ca.verified'
      readonly identityId?: IdentityId
      readonly details: { readonly id: string }
    }
  | {
      readonly type: 'enrollment.refused'
      readonly identityId: IdentityId | undefined
      readonly reason: EnrollmentRefusalReason
      readonly details: {
        readonly method: string
        readonly why?: string
        readonly clock?: ClockOff
      }
    }

/** `key`: of the row that counts this event. `dropped`: the event gets no row. D-207. */
export type Fold = { readonly key: string } | 'dropped'

export type AuditEvent = Happening & {
  readonly id: EventId
  readonly at: Instant
  /** Missing if the service itself did it. */
  readonly caller: Caller | undefined
  /** Set if the event is a repeat: the row that counts it, or that it gets none (D-207). */
  readonly fold?: Fold
}

export type EventType = AuditEvent['type']
