/** /console/identities: who can sign in. API 3.3, 4.1. */
import { contains } from '../../../domain/lists/filters.ts'
import { listIdentities } from '../../../domain/management/read-identities.ts'
import { identitiesPage } from '../../../web/console/identities/identities-page.ts'
import { IDENTITIES_PATH, withQuery } from '../../../web/console/navigation.ts'
import type { ConsoleRoutes } from '../console-route.ts'
import { pageOf, queryText } from '../list-page.ts'
import type { ConsolePorts } from '../ports.ts'
import { shownIdentity } from './shown-identity.ts'

export function addIdentityScreens(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(IDENTITIES_PATH, async (call) => {
    const name = queryText(call, 'name')
    const page = pageOf(call)
    const orders = [{ field: 'name', direction: 'asc' }] as const
    const { rows, totalCount } = await listIdentities(ports, {
      ...page,
      orders,
      ...(name === '' ? {} : { filter: contains('name', name) }),
    })
    return identitiesPage(call.frame, {
      name,
      rows: rows.map((detail) => shownIdentity(detail, ports.clock.now())),
      pages: {
        ...page,
        total: totalCount,
        at: (offset) => withQuery(IDENTITIES_PATH, { name, offset }),
      },
    })
  })
}
