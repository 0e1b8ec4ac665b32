import type { AuthenticatorId } from '../../../base/ids.ts'
import type { Instant } from '../../../base/time/instant.ts'
import type { PendingRenewal } from '../../identities/authenticator.ts'

/** The certificate that waits to take the place of an authenticator's own one: D-130. */
export interface CertificateRenewals {
  /** In the place of an earlier one. False when the certificate in use is no longer `current`. */
  replacePending(
    id: AuthenticatorId,
    current: string,
    pending: PendingRenewal,
    at: Instant,
  ): Promise<boolean>
  /**
   * The pending one becomes the certificate of the authenticator, in one statement: of several at once one answers
   * true. False when another one is pending, or none.
   */
  takePending(id: AuthenticatorId, fingerprint: string, at: Instant): Promise<boolean>
  /** Sessions that were begun with the certificate `from` go on as begun with `to`: their next tokens name it (D-24). */
  rebindSessions(
    id: AuthenticatorId,
    from: string,
    to: { readonly fingerprint: string; readonly notAfter: Instant },
  ): Promise<void>
}
