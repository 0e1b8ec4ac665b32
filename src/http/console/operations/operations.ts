/**
 * /console/expiry, /console/routers and /console/configuration: what ends when, which routers are there, and what the
 * instance was started with. D-367, D-372, D-381.
 */

import { allExpiring } from '../../../domain/overview/expiry.ts'
import { listRouters } from '../../../domain/sessions/confirming/list-routers.ts'
import { EXPIRY_KINDS } from '../../../entities/expiring.ts'
import {
  CONFIGURATION_PATH,
  EXPIRY_PATH,
  ROUTERS_PATH,
  withQuery,
} from '../../../web/console/navigation.ts'
import { configurationPage } from '../../../web/console/operations/configuration-page.ts'
import { expiryPage } from '../../../web/console/operations/expiry-page.ts'
import { routersPage } from '../../../web/console/operations/routers-page.ts'
import type { ListenerParts } from '../../listener-parts.ts'
import type { ConsoleRoutes } from '../console-route.ts'
import { pageOf, queryText } from '../list-page.ts'
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

  routes.show(ROUTERS_PATH, async (call) => {
    const page = pageOf(call)
    const { rows, totalCount } = await listRouters(ports, page)
    const at = (offset: number) => withQuery(ROUTERS_PATH, { offset })
    return routersPage(call.frame, { rows, pages: { ...page, total: totalCount, at } })
  })

  routes.show(CONFIGURATION_PATH, async ({ frame }) => configurationPage(frame, settings))
}
