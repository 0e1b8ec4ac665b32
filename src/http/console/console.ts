/** /console and everything below it: the web console for administrators. D-355. */
import { CONSOLE_PATH, IDENTITIES_PATH } from '../../web/console/navigation.ts'
import { redirect } from '../answer.ts'
import type { ListenerParts } from '../listener-parts.ts'
import type { Router } from '../router.ts'
import { addAssets } from './assets.ts'
import { consoleRoutes } from './console-route.ts'
import { addIdentityScreens } from './identities/identities.ts'
import type { ConsolePorts } from './ports.ts'

export function addConsole(router: Router, ports: ConsolePorts, listener: ListenerParts): void {
  addAssets(router)
  const routes = consoleRoutes(router, ports, listener)
  routes.answer(CONSOLE_PATH, async () => redirect(IDENTITIES_PATH))
  addIdentityScreens(routes, ports)
}
