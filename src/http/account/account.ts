/** /account and everything below it: the user's own pages. D-161. Only on listeners with the provider and its login. */

import type { AccountPorts } from '../../domain/account/ports.ts'
import { enrolledFactors } from '../../domain/factors/second-factors.ts'
import { listOwnSessions } from '../../domain/sessions/own-sessions.ts'
import { countRecoveryCodes } from '../../domain/sessions/session-factors.ts'
import { listOwnPasskeys } from '../../domain/sessions/session-passkeys.ts'
import { overviewPage } from '../../web/account/overview-page.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { accountRoutes } from './account-route.ts'
import { addCertificatesPage, certificatesOf } from './certificates.ts'
import { addPasskeysPage } from './passkeys.ts'
import { addPasswordPage, passwordOf } from './password.ts'
import { addSessionsPage } from './sessions.ts'
import { addTotpPage } from './totp.ts'

export function addAccount(
  router: Router,
  ports: AccountPorts,
  listener: Pick<ListenerParts, 'addresses' | 'totpHostname' | 'relyingParty'> & {
    /** Of the same listener; undefined if it has no console. */
    readonly consolePath?: string | undefined
  },
): void {
  const routes = accountRoutes(router, ports, listener)
  routes.show('overview', async ({ session, frame }) => {
    const { rows, totalCount } = await listOwnSessions(ports, session, 1)
    const [newest] = rows
    const factors = await enrolledFactors(ports, session.identityId)
    const [certificate] = await certificatesOf(ports, session)
    return overviewPage(frame, {
      lastSignIn: newest && {
        at: newest.createdAt,
        address: newest.address,
        userAgent: newest.userAgent,
      },
      sessions: totalCount,
      hasPassword: (await passwordOf(ports, session)) !== undefined,
      recoveryCodesLeft: factors.has('totp') ? await countRecoveryCodes(ports, session) : undefined,
      passkeys: factors.has('passkey') ? (await listOwnPasskeys(ports, session)).length : 0,
      consolePath: session.isAdmin ? listener.consolePath : undefined,
      certificate,
    })
  })
  addSessionsPage(routes, ports)
  addPasswordPage(routes, ports)
  addTotpPage(routes, ports, listener)
  addPasskeysPage(routes, ports, listener)
  addCertificatesPage(routes, ports)
}
