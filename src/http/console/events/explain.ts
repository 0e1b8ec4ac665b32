/** /console/explain: `latchkey explain` as a page (D-359). */
import {
  type ExplainedEvent,
  explainRequest,
  type Fix,
  listRefusals,
} from '../../../domain/management/finding/explain-request.ts'
import { type ExplainedRequest, explainPage } from '../../../web/console/events/explain-page.ts'
import { CONSOLE_PATH, EXPLAIN_PATH, identityPath, MENU } from '../../../web/console/navigation.ts'
import type { ConsoleRoutes } from '../console-route.ts'
import { queryText } from '../list-page.ts'
import type { ConsolePorts } from '../ports.ts'
import { shownEvent } from './shown-event.ts'

/** Enough to find the one that a user has just called about. */
const LATEST = 15

export function addExplain(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(EXPLAIN_PATH, async ({ frame, ...call }) => {
    const requestId = queryText(call, 'request')
    const explained = requestId === '' ? [] : await explainRequest(ports, requestId)
    const latest = await listRefusals(ports, LATEST)
    return explainPage(frame, {
      requestId,
      explained: explained.map(shown),
      latest: latest.map(shownEvent),
    })
  })
}

function shown({ event, checks, fix }: ExplainedEvent): ExplainedRequest {
  const path = fix && pathOf(fix)
  return {
    event: shownEvent(event),
    checks,
    fix: fix === undefined || path === undefined ? undefined : { path, label: fix.label },
  }
}

/** Undefined for a screen that this console does not have. */
function pathOf(fix: Fix): string | undefined {
  if (fix.at === 'identity') return identityPath(fix.id)
  const path = `${CONSOLE_PATH}/${fix.at === 'policy' ? 'policies' : fix.at}`
  if (!MENU.some((entry) => entry.path === path)) return undefined
  return fix.at === 'policy' ? `${path}/${encodeURIComponent(fix.id)}` : path
}
