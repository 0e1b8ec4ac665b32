/** The page of the own account, wired: the login to it, its session, and what it changes. D-161 … D-163. */

import type { Random } from '../../base/secrets/random.ts'
import type { Vault } from '../../base/secrets/vault.ts'
import type { Clock } from '../../base/time/clock.ts'
import { createAccountLogin } from '../../domain/account/login.ts'
import { createAccountSessions } from '../../domain/account/session.ts'
import type { StartLogin } from '../../domain/login/start.ts'
import type { AuthenticateCall } from '../../domain/sessions/authenticate-call.ts'
import type { EndSessionsWithin } from '../../domain/sessions/ending/end-session.ts'
import { createOwnSessions } from '../../domain/sessions/own-sessions.ts'
import type { Store } from '../../domain/stores.ts'
import type { ExchangeCode } from '../../domain/tokens/exchange-code.ts'

export function composeAccount(
  parts: Pick<Store, 'apiSessions' | 'transaction'> & {
    readonly brand: string
    readonly clientId: string
    readonly vault: Vault
    readonly clock: Clock
    readonly random: Random
    readonly startLogin: StartLogin
    readonly exchangeCode: ExchangeCode
    readonly authenticateCall: AuthenticateCall
    readonly endSessionsWithin: EndSessionsWithin
  },
) {
  return {
    accountLogin: createAccountLogin(parts),
    accountSessions: createAccountSessions(parts),
    ownSessions: createOwnSessions(parts),
  }
}
