/** /console/sessions/:id: the ledger of one session (D-384). */
import type { ApiSessionId } from '../../../base/ids.ts'
import {
  type LedgerEntry,
  type SessionLedger,
  sessionLedger,
} from '../../../domain/sessions/confirming/session-ledger.ts'
import { SESSIONS_PATH } from '../../../web/console/navigation.ts'
import { type SessionPage, sessionPage } from '../../../web/console/sessions/session-page.ts'
import type { ConsoleCall, ConsoleRoutes } from '../console-route.ts'
import { shownEvent } from '../events/shown-event.ts'
import type { ConsolePorts } from '../ports.ts'
import { liveFields } from './shown-session.ts'

export function addSessionScreen(routes: ConsoleRoutes, ports: ConsolePorts): void {
  routes.show(`${SESSIONS_PATH}/:id`, async (call) => {
    const id = (call.head.path['id'] ?? '') as ApiSessionId
    return sessionPage(call.frame, pageOf(call, await sessionLedger(ports, id)))
  })
}

function pageOf(call: ConsoleCall, ledger: SessionLedger): SessionPage {
  const { sessionId: id, identityId, identityName: name, session, entries, omitted, end } = ledger
  const newest = entries.toReversed()
  return {
    id,
    identity: identityId && { id: identityId, name },
    live: session && liveFields(session, call.session),
    events: newest.flatMap((entry) => (entry.kind === 'event' ? [shownEvent(entry.event)] : [])),
    omitted,
    contacts: newest.flatMap(contactOf),
    end: end && {
      ...end.confirmations,
      parties: [
        ...end.confirmations.routers.map(({ name: router, routerId, ...one }) => ({
          ...one,
          name: router ?? routerId,
          kind: 'Router' as const,
        })),
        ...end.confirmations.instances.map(({ host, ...one }) => ({
          ...one,
          name: host,
          kind: 'Instance' as const,
        })),
      ],
    },
  }
}

function contactOf(entry: LedgerEntry): SessionPage['contacts'] {
  if (entry.kind !== 'router-contact') return []
  const { at, lastAt, routerId: id, routerName: name } = entry
  return [{ router: { id, name }, firstAt: at, lastAt }]
}
