/** /console and everything below it: the web console for administrators. D-355. */
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { addAssets } from './assets.ts'
import { consoleRoutes } from './console-route.ts'
import { addIdentityScreens } from './identities/identities.ts'
import { addOperationsScreens } from './operations/operations.ts'
import { addOverviewScreen } from './overview/overview.ts'
import type { ConsolePorts } from './ports.ts'
import { addCaScreens } from './rules/cas.ts'
import { addPolicyScreens } from './rules/policies.ts'
import { addSignerScreens } from './rules/signers.ts'

export function addConsole(router: Router, ports: ConsolePorts, listener: ListenerParts): void {
  addAssets(router)
  const routes = consoleRoutes(router, ports, listener)
  addOverviewScreen(routes, ports)
  addIdentityScreens(routes, ports)
  addPolicyScreens(routes, ports)
  addSignerScreens(routes, ports)
  addCaScreens(routes, ports)
  addOperationsScreens(routes, ports, listener)
}
