/** Edge routers, and when they were last heard: for administrators. D-381. */
import type { IdentityId } from '../../../base/ids.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { type Instant, minus } from '../../../base/time/instant.ts'
import { isDisabled } from '../../identities/identity.ts'
import { equals } from '../../lists/filters.ts'
import type { Page, PageOf } from '../../paging.ts'
import type { Stores } from '../../stores.ts'
import { doesNotConfirm, MOST_RUNS, ROUTER_SILENT } from './confirmations.ts'
import type { RouterRun } from './stores.ts'

export interface RouterDetail {
  readonly id: IdentityId
  readonly name: string
  readonly hosts: readonly string[]
  readonly isDisabled: boolean
  readonly isConnected: boolean
  /** Undefined if it has never connected. */
  readonly confirms: boolean | undefined
  readonly contactAt: Instant | undefined
  readonly connectedAt: Instant | undefined
  /** How many programs with this identity are connected. */
  readonly programs: number
}

interface RouterPorts extends Pick<Stores, 'identities' | 'routerRuns'> {
  readonly clock: Pick<Clock, 'now'>
}

const ROUTERS = equals('type', 'Router')

/** By name. A fixed number of queries. */
export async function listRouters(
  { identities, routerRuns, clock }: RouterPorts,
  page: Page,
): Promise<PageOf<RouterDetail>> {
  const orders = [{ field: 'name', direction: 'asc' }] as const
  const { rows, totalCount } = await identities.list({ ...page, filter: ROUTERS, orders })
  const runs = Map.groupBy(await routerRuns.list(MOST_RUNS), ({ routerId }) => routerId)
  const now = clock.now()
  return {
    totalCount,
    rows: rows.map((identity) => {
      const own = runs.get(identity.id) ?? []
      const open = own.filter((run) => isConnected(run, now))
      const newest = own.toSorted((a, b) => b.openedAt - a.openedAt)[0]
      const contacts = own.map(({ contactAt }) => contactAt)
      return {
        id: identity.id,
        name: identity.name,
        hosts: identity.hosts,
        isDisabled: isDisabled(identity, now),
        isConnected: open.length > 0,
        confirms: newest && !doesNotConfirm(newest),
        contactAt: contacts.toSorted((a, b) => b - a)[0],
        connectedAt: newest?.openedAt,
        programs: open.length,
      }
    }),
  }
}

function isConnected(run: RouterRun, now: Instant): boolean {
  if (run.closedAt !== undefined) return false
  return doesNotConfirm(run) || run.contactAt > minus(now, ROUTER_SILENT)
}
