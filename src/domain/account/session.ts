/**
 * The session behind the page of the own account, as the browser holds it: the access token, sealed, bound to the
 * address that it was made at (D-161). Not stored, so a stolen database opens nothing (R110); as a bearer token it is
 * worth nothing. Every request is judged like a call of the APIs, so that an end is felt at once.
 *
 * And what a form of it must show: that the page came from us, for this session and this form (D-162).
 */

import { fromUtf8, utf8 } from '../../base/encoding.ts'
import { Secret } from '../../base/secrets/secret.ts'
import { equalInConstantTime, type Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { type Duration, minutes } from '../../base/time/duration.ts'
import { plus } from '../../base/time/instant.ts'
import { Failure } from '../../errors/catalogue.ts'
import { bearerInvalid } from '../../protocol/challenge.ts'
import type { Issuer } from '../../protocol/oidc.ts'
import type { AuthenticateCall } from '../sessions/authenticate-call.ts'
import { type CallNeeds, type CallSession, sessionGone } from '../sessions/call-session.ts'
import type { ApiSessions } from '../sessions/stores.ts'

/** D-162: for so long a login counts as fresh. */
export const FRESH: Duration = minutes(5)

export interface AccountSessions {
  seal(accessToken: Secret, issuer: Issuer): string
  /** Thrown: UNAUTHORIZED, with the secondary challenge where that is what is missing; NOT_READY. */
  authenticate(
    shown: {
      readonly cookie: string | undefined
      readonly issuer: Issuer
      readonly certificate: () => string | undefined
    },
    needs: CallNeeds,
  ): Promise<CallSession>
  /** Whether the login behind it was just now. Thrown: UNAUTHORIZED when the session has ended meanwhile. */
  isFresh(call: CallSession): Promise<boolean>
  /** `form` names what the form does. */
  formToken(call: CallSession, form: string): string
  isFormToken(call: CallSession, form: string, given: string): boolean
}

export function createAccountSessions(deps: {
  readonly brand: string
  readonly vault: Vault
  readonly clock: Clock
  readonly authenticateCall: AuthenticateCall
  readonly apiSessions: Pick<ApiSessions, 'find'>
}): AccountSessions {
  const { brand, vault, clock, authenticateCall, apiSessions } = deps

  const formToken: AccountSessions['formToken'] = ({ sessionId }, form) =>
    vault.hash('account-form', `${sessionId} ${form}`)

  return {
    formToken,

    isFormToken: (call, form, given) => equalInConstantTime(formToken(call, form), given),

    seal: (accessToken, issuer) =>
      vault.seal('account-session', utf8(accessToken.reveal()), issuer),

    async authenticate({ cookie, issuer, certificate }, needs) {
      const bytes = cookie && vault.open('account-session', cookie, issuer)
      const token = bytes && fromUtf8(bytes)
      if (!token) {
        const challenges = [bearerInvalid(brand)]
        throw new Failure('UNAUTHORIZED', { challenges, detail: 'no session of the account page' })
      }
      const bearers = [new Secret(token)]
      return authenticateCall({ bearers, ztSession: undefined, certificate }, needs)
    },

    async isFresh(call) {
      const session = await apiSessions.find(call.sessionId)
      if (session === undefined) throw sessionGone(brand, call)
      return plus(session.primary.at, FRESH) > clock.now()
    },
  }
}
