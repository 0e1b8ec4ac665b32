/** /console and everything below it: the web console for administrators. D-355. */
import { CONSOLE_PATH, IDENTITIES_PATH } from '../../web/console/navigation.ts'
import { redirect } from '../answer.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { addAssets } from './assets.ts'
import { consoleRoutes } from './console-route.ts'
import { addAudit } from './events/audit.ts'
import { addExplain } from './events/explain.ts'
import { addLiveChanges } from './events/live-changes.ts'
import { addIdentityScreens } from './identities/identities.ts'
import { addIdentityScreen } from './identities/identity.ts'
import { addInvite } from './identities/invite.ts'
import type { ConsolePorts } from './ports.ts'
import { addSearch } from './search.ts'
import { addSessionScreen } from './sessions/session.ts'
import { addSessionScreens } from './sessions/sessions.ts'

export function addConsole(router: Router, ports: ConsolePorts, listener: ListenerParts): void {
  addAssets(router)
  addLiveChanges(router, ports, listener)
  const routes = consoleRoutes(router, ports, listener)
  routes.answer(CONSOLE_PATH, async () => redirect(IDENTITIES_PATH))
  addSearch(routes, ports)
  addIdentityScreens(routes, ports)
  addIdentityScreen(routes, ports)
  addInvite(routes, ports)
  addSessionScreens(routes, ports)
  addSessionScreen(routes, ports)
  addExplain(routes, ports)
  addAudit(routes, ports)
}
