/** /console/expiry and /console/configuration: what ends when, and what the instance was started with. D-367, D-372. */

import { allExpiring } from '../../../domain/overview/expiry.ts'
import { EXPIRY_KINDS } from '../../../entities/expiring.ts'
import { CONFIGURATION_PATH, EXPIRY_PATH } from '../../../web/console/navigation.ts'
import { configurationPage } from '../../../web/console/operations/configuration-page.ts'
import { expiryPage } from '../../../web/console/operations/expiry-page.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import type { ConsoleRoutes } from '../console-route.ts'
import { queryText } from '../list-page.ts'
import type { ConsolePorts } from '../ports.ts'

/** A calendar with more is not read; the command line lists and filters all of it. */
const MOST_ROWS = 300

export function addOperationsScreens(
  routes: ConsoleRoutes,
  ports: ConsolePorts,
  { settings }: Pick<ListenerParts, 'settings'>,
): void {
  routes.show(EXPIRY_PATH, async (call) => {
    const asked = queryText(call, 'kind')
    const kind = EXPIRY_KINDS.find((one) => one === asked) ?? ''
    const all = await allExpiring(ports)
    const rows = all.filter((row) => kind === '' || row.kind === kind).slice(0, MOST_ROWS)
    return expiryPage(call.frame, { now: ports.clock.now(), kind, rows })
  })

  routes.show(CONFIGURATION_PATH, async ({ frame }) => configurationPage(frame, settings))
}
