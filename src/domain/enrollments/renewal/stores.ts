import type { AuthenticatorId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { PendingRenewal } from '../../identities/authenticator.ts'

/** The pending certificate that will replace an authenticator's current one: D-130. */
export interface CertificateRenewals {
  /** Replaces an earlier pending one. Returns false if the certificate in use is no longer `current`. */
  replacePending(
    id: AuthenticatorId,
    current: string,
    pending: PendingRenewal,
    at: Instant,
  ): Promise<boolean>
  /**
   * Makes the pending certificate that of the authenticator, in one statement: of several concurrent calls, one returns
   * true. Returns false if another one is pending, or none.
   */
  takePending(id: AuthenticatorId, fingerprint: string, at: Instant): Promise<boolean>
  /** Sessions begun with the certificate `from` continue as if begun with `to`: their next tokens name it (D-24). */
  rebindSessions(
    id: AuthenticatorId,
    from: string,
    to: { readonly fingerprint: string; readonly notAfter: Instant },
  ): Promise<void>
}
