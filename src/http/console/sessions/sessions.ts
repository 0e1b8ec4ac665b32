/** /console/sessions: live sessions, and their end. API 3.3, 4.7. */
import type { ApiSessionId } from '../../../base/ids.ts'
import { findSessions } from '../../../domain/management/finding/find-sessions.ts'
import { endSessionById } from '../../../domain/management/manage-sessions.ts'
import { Failure } from '../../../errors/catalogue.ts'
import { SESSIONS_PATH, sessionPath, sessionsPath } from '../../../web/console/navigation.ts'
import {
  END_SESSIONS_PATH,
  SESSION_ORDERS,
  type SessionsPage,
  sessionsPage,
} from '../../../web/console/sessions/sessions-page.ts'
import { textList } from '../../reading/fields.ts'
import { backTo, type ConsoleCall, type ConsoleRoutes } from '../console-route.ts'
import { pageOf, queryText } from '../list-page.ts'
import type { ConsolePorts } from '../ports.ts'
import { shownSession } from './shown-session.ts'

export function addSessionScreens(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(SESSIONS_PATH, async (call) => {
    const filter = {
      identity: queryText(call, 'identity'),
      address: queryText(call, 'address'),
      program: queryText(call, 'program'),
    }
    const sort = sortOf(call)
    const page = pageOf(call)
    const { rows, totalCount } = await findSessions(ports, { ...filter, ...page, orders: [sort] })
    return sessionsPage(call.frame, {
      filter,
      sort,
      rows: rows.map((one) => shownSession(one, call.session)),
      pages: {
        ...page,
        total: totalCount,
        at: (offset) =>
          sessionsPath({ ...filter, sort: `${sort.field} ${sort.direction}`, offset }),
      },
    })
  })

  routes.act({ url: END_SESSIONS_PATH, page: SESSIONS_PATH }, async ({ caller }, fields) => {
    const ids = textList(fields, 'session')
    if (ids.length === 0) return backTo(SESSIONS_PATH, 'no-session-chosen')
    for (const id of ids) await endQuietly(id as ApiSessionId, caller)
    const [only = '', ...others] = ids
    // Its page shows who has confirmed the end (D-381).
    if (others.length === 0) return backTo(sessionPath(only), 'session-ended')
    return backTo(SESSIONS_PATH, 'sessions-ended')
  })

  /** Another administrator may have ended it first. */
  async function endQuietly(id: ApiSessionId, caller: ConsoleCall['caller']): Promise<void> {
    try {
      await endSessionById(ports, id, caller)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

function sortOf(call: ConsoleCall): SessionsPage['sort'] {
  const [field = '', direction] = queryText(call, 'sort').split(' ')
  const isKnown = Object.values<string>(SESSION_ORDERS).includes(field)
  if (!isKnown) return { field: SESSION_ORDERS.Began, direction: 'desc' }
  return { field, direction: direction === 'asc' ? 'asc' : 'desc' }
}

function isNotFound(error: unknown): boolean {
  return error instanceof Failure && error.code === 'NOT_FOUND'
}
