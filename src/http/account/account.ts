/** /account and everything below it: a person's own page. D-161. On listeners that have the provider, where the login is. */
import type { Clock } from '../../base/time/clock.ts'
import type { OwnAuthenticators } from '../../domain/account/own-authenticators.ts'
import type { LogOut } from '../../domain/sessions/current-session.ts'
import type { OwnSessions } from '../../domain/sessions/own-sessions.ts'
import type { SessionMfa } from '../../domain/sessions/session-mfa.ts'
import { overviewPage } from '../../web/account/overview-page.ts'
import type { RequestHead } from '../reading/header-fields.ts'
import type { Router } from '../router.ts'
import { type AccountDependencies, accountRoutes } from './account-route.ts'
import { addCertificatesPage, certificatesOf } from './certificates.ts'
import { addDoors } from './doors.ts'
import { addPasswordPage, passwordOf } from './password.ts'
import { addSessionsPage } from './sessions.ts'
import { addTotpPage } from './totp.ts'

export function addAccount(
  router: Router,
  use: AccountDependencies & {
    readonly logOut: LogOut
    readonly ownSessions: OwnSessions
    readonly ownAuthenticators: OwnAuthenticators
    readonly sessionMfa: SessionMfa
    readonly totpHostname: (head: RequestHead) => string
    readonly clock: Pick<Clock, 'now'>
  },
): void {
  const routes = accountRoutes(router, use)
  addDoors(router, use)
  routes.show('overview', async ({ session, isMfaEnabled, frame }) => {
    const { totalCount } = await use.ownSessions.list(session, 1)
    const [certificate] = await certificatesOf(session, use)
    return overviewPage(frame, {
      sessions: totalCount,
      hasPassword: (await passwordOf(session, use)) !== undefined,
      recoveryCodesLeft: isMfaEnabled
        ? await use.sessionMfa.countRecoveryCodes(session)
        : undefined,
      certificate,
    })
  })
  addSessionsPage(routes, use)
  addPasswordPage(routes, use)
  addTotpPage(routes, use)
  addCertificatesPage(routes, use)
}
