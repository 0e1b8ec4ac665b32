/** /console and everything below it: the web console for administrators. D-355. */
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { addAssets } from './assets.ts'
import { consoleRoutes } from './console-route.ts'
import { addAudit } from './events/audit.ts'
import { addExplain } from './events/explain.ts'
import { addLiveChanges } from './events/live-changes.ts'
import { addIdentityEdit } from './identities/edit.ts'
import { addIdentityScreens } from './identities/identities.ts'
import { addIdentityScreen } from './identities/identity.ts'
import { addInvite } from './identities/invite.ts'
import { addOperationsScreens } from './operations/operations.ts'
import { addOverviewScreen } from './overview/overview.ts'
import type { ConsolePorts } from './ports.ts'
import { addCaScreens } from './rules/cas.ts'
import { addPolicyScreens } from './rules/policies.ts'
import { addSignerScreens } from './rules/signers.ts'
import { addSearch } from './search.ts'
import { addSessionScreen } from './sessions/session.ts'
import { addSessionScreens } from './sessions/sessions.ts'

export function addConsole(router: Router, ports: ConsolePorts, listener: ListenerParts): void {
  addAssets(router)
  addLiveChanges(router, ports, listener)
  const routes = consoleRoutes(router, ports, listener)
  addOverviewScreen(routes, ports)
  addSearch(routes, ports)
  addIdentityScreens(routes, ports)
  addIdentityScreen(routes, ports)
  addIdentityEdit(routes, ports)
  addInvite(routes, ports)
  addSessionScreens(routes, ports)
  addSessionScreen(routes, ports)
  addExplain(routes, ports)
  addAudit(routes, ports)
  addPolicyScreens(routes, ports)
  addSignerScreens(routes, ports)
  addCaScreens(routes, ports)
  addOperationsScreens(routes, ports, listener)
}
